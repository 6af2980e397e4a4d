// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectSlice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.mapreduce.lib.input.LineRecordReader;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.jspecify.annotations.Nullable;

/**
 * The lines of a text by Hadoop's own line reader, over splits, by 4 threads that take one split
 * after the other. Every line's bytes are compared at the position that the reader tells, and the
 * lines of all splits together must leave nothing out. A read, in the figures, is 1 MiB of lines.
 */
final class LineSplits implements Workload {

  private static final int THREADS = 4;

  /** Split of Spark's file sources, and of HDFS. */
  private static final long MOST_SPLIT_BYTES = 128L << 20;

  @Override
  public long run(RunContext context) throws Exception {
    ObjectSlice object = context.object();
    long bytes = context.bytesFromFront();
    long splitBytes = Math.min(MOST_SPLIT_BYTES, Math.max(1, (bytes + THREADS - 1) / THREADS));
    int splits = Math.toIntExact((bytes + splitBytes - 1) / splitBytes);
    @Nullable Span[] spans = new Span[splits];
    AtomicInteger next = new AtomicInteger();
    ParallelTasks.run(
        THREADS,
        (thread, stopped) -> {
          for (int i = next.getAndIncrement();
              i < splits && !stopped.getAsBoolean();
              i = next.getAndIncrement()) {
            long start = object.position() + i * splitBytes;
            long length = Math.min(splitBytes, object.position() + bytes - start);
            spans[i] = read(context, start, length);
          }
        });
    checkNothingLeftOut(spans, object.position(), object.position() + bytes);
    return 0;
  }

  /** From the first byte of a split's first line to behind the delimiter of its last. */
  private record Span(long start, long end) {}

  private static @Nullable Span read(RunContext context, long start, long length)
      throws IOException {
    ReadMonitor monitor = context.monitor();
    Configuration conf = context.fileSystem().getConf();
    TaskAttemptContext task = new TaskAttemptContextImpl(conf, new TaskAttemptID());
    try (LineRecordReader reader = new LineRecordReader()) {
      monitor.begin("open of a split of " + context.path(), start, length);
      reader.initialize(new FileSplit(context.path(), start, length, new String[0]), task);
      return new Lines(context, reader).readAll();
    } finally {
      monitor.end();
    }
  }

  private static void checkNothingLeftOut(@Nullable Span[] spans, long start, long end)
      throws WrongBytesException {
    long reached = start;
    for (Span span : spans) {
      if (span != null) {
        if (span.start() != reached) {
          throw new WrongBytesException(
              "a split begins at %d, the one before ended at %d".formatted(span.start(), reached));
        }
        reached = span.end();
      }
    }
    if (reached < end) {
      throw new WrongBytesException("lines end at %d instead of %d".formatted(reached, end));
    }
  }

  /** The lines of one split, put together again as they stand in the object. One thread. */
  private static final class Lines {
    private static final int BATCH_BYTES = 1 << 20;

    private final RunContext context;
    private final LineRecordReader reader;
    private final long objectEnd;
    private byte[] delimiter = {'\n'};
    private ByteBuffer batch;

    /** Where the batch begins in the object. */
    private long batchStart;

    Lines(RunContext context, LineRecordReader reader) {
      this.context = context;
      this.reader = reader;
      this.batch = ByteBuffer.wrap(context.buffer(BATCH_BYTES));
      this.batch = ByteBuffer.wrap(context.buffer(BATCH_BYTES));
      this.objectEnd = context.object().position() + context.object().length();
    }

    /** Reads and compares all of them; null when no line begins in the split. */
    @Nullable Span readAll() throws IOException {
      beginRead();
      if (!reader.nextKeyValue()) {
        return null;
      }
      long first = reader.getCurrentKey().get();
      long end = first;
      batchStart = first;
      do {
        long start = reader.getCurrentKey().get();
        Text line = reader.getCurrentValue();
        if (start + line.getLength() > objectEnd) {
          // Only the front of the object is compared, and this line reaches beyond.
          flush();
          return new Span(first, objectEnd);
        }
        if (start > first) {
          delimiter = delimiter(end, start);
          add(delimiter, delimiter.length);
        }
        add(line.getBytes(), line.getLength());
        end = start + line.getLength();
      } while (reader.nextKeyValue());
      if (end + delimiter.length <= objectEnd) {
        add(delimiter, delimiter.length);
        end += delimiter.length;
      }
      flush();
      return new Span(first, end);
    }

    /** The one delimiter, of those that the reader knows, that stands between two lines. */
    private static byte[] delimiter(long end, long nextStart) throws WrongBytesException {
      if (nextStart - end == 1) {
        return new byte[] {'\n'};
      }
      if (nextStart - end == 2) {
        return new byte[] {'\r', '\n'};
      }
      throw new WrongBytesException(
          "a line ends at %d and the next begins at %d".formatted(end, nextStart));
    }

    private void add(byte[] bytes, int count) throws IOException {
      if (batch.remaining() < count) {
        flush();
        beginRead();
      }
      if (batch.remaining() < count) {
        batch = ByteBuffer.wrap(context.buffer(count));
      }
      batch.put(bytes, 0, count);
    }

    private void beginRead() {
      context.monitor().begin("read of lines,", batchStart, batch.capacity());
    }

    private void flush() throws WrongBytesException {
      int count = batch.position();
      context.monitor().endRead(count);
      context.check(context.object(), batchStart, batch.flip());
      batchStart += count;
      batch.clear();
    }
  }
}
