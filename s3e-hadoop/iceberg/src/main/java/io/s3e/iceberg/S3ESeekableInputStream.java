// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.RequestFailure;
import io.s3e.jvm.Background;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.S3EInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.apache.iceberg.exceptions.NotFoundException;
import org.apache.iceberg.io.FileIOMetricsContext;
import org.apache.iceberg.io.FileRange;
import org.apache.iceberg.io.RangeReadable;
import org.apache.iceberg.io.SeekableInputStream;
import org.apache.iceberg.metrics.Counter;
import org.apache.iceberg.metrics.MetricsContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Iceberg's interfaces over a stream of S3E's. A position behind the end is taken, as {@code
 * S3FileIO} takes it, and reads there find the end of the file. For one thread at a time, but that
 * reads of ranges may come from any, and {@link #close} too.
 *
 * <p>The length that was told is no end: an object that is longer, as manifests are in tables that
 * {@code rewrite_table_path} has copied, is read on behind it. An answer tells of that, or a HEAD
 * where a read goes behind what was told before anything has been answered.
 */
final class S3ESeekableInputStream extends SeekableInputStream implements RangeReadable {
  private static final Logger LOG = LoggerFactory.getLogger(S3ESeekableInputStream.class);

  /** Ends what is left by streams that nobody closes. */
  private static final Cleaner FORGOTTEN = Cleaner.create();

  /** Forgotten streams that the log does not know of; not 0 while a thread tells. */
  private static final AtomicInteger UNTOLD = new AtomicInteger();

  /** The core's streams of one file. Refers to no reader of it, so that one can be collected. */
  private static final class Opened {
    /** Of the length that was told. */
    private final S3EInputStream asTold;

    /** Of the length that the object has, where that is more; null until it is read there. */
    private volatile @Nullable S3EInputStream whole;

    Opened(S3EInputStream asTold) {
      this.asTold = asTold;
    }

    /** False if others were quicker, or have closed meanwhile, for which they need not wait. */
    synchronized boolean offer(S3EInputStream all) {
      if (whole != null || !asTold.isOpen()) {
        return false;
      }
      whole = all;
      return true;
    }

    synchronized void close() {
      asTold.close();
      S3EInputStream all = whole;
      if (all != null) {
        all.close();
      }
    }

    /** Not on the thread that ends all: a log may hang. What comes meanwhile is counted. */
    private static void tell(String location) {
      if (UNTOLD.getAndIncrement() == 0) {
        Background.logApart(
            () -> {
              try {
                LOG.warn("Stream not closed while reading {}", location);
              } finally {
                int others = UNTOLD.getAndSet(0) - 1;
                if (others > 0) {
                  LOG.warn("{} more streams were not closed", others);
                }
              }
            });
      }
    }

    /** The end of all, which finds them open where the reader was forgotten. */
    Runnable end(String location, Runnable share) {
      return () -> {
        boolean isForgotten = asTold.isOpen();
        try {
          close();
        } finally {
          share.run();
        }
        if (isForgotten) {
          tell(location);
        }
      };
    }
  }

  /**
   * Manifests, their lists and files of metadata are mostly shorter (manifests have 8 MiB as a
   * rule); of longer files of Avro, which are data, a task may read its split alone.
   */
  private static final long MOST_METADATA_BYTES = 16 << 20;

  /** Held so that the {@link S3EFileIO} is not finalized, which closes it, under its readers. */
  private final S3EInputFile file;

  final S3E tenant;
  private final ObjectRef object;
  private final S3EInputStream asTold;
  private final Opened opened;

  /** Whether the store has answered, be it without an ETag. */
  private volatile boolean hasGiven;

  private final Counter readBytes;
  private final Counter readOperations;
  private long next;

  /** What ends with the stream; null until it is told. */
  private volatile Cleaner.@Nullable Cleanable share;

  /**
   * @param length of the object as it was told, in bytes
   */
  S3ESeekableInputStream(
      S3EInputFile file, S3E tenant, ObjectRef object, long length, MetricsContext metrics)
      throws IOException {
    this.file = file;
    this.tenant = tenant;
    this.object = object;
    OpenOptions options = OpenOptions.DEFAULTS.withSize(length);
    if (isMetadata(file.location(), length)) {
      options = options.withPolicy(ReadPolicy.WHOLE_FILE);
    }
    asTold = tenant.open(object, options);
    opened = new Opened(asTold);
    this.readBytes = metrics.counter(FileIOMetricsContext.READ_BYTES, MetricsContext.Unit.BYTES);
    this.readOperations = metrics.counter(FileIOMetricsContext.READ_OPERATIONS);
  }

  /** Whether Iceberg reads the file from front to end, which its API has no word for. */
  private static boolean isMetadata(String location, long length) {
    return length <= MOST_METADATA_BYTES
        && (location.endsWith(".avro") || location.endsWith(".metadata.json"));
  }

  /** Tells what ends with the stream, closed or forgotten. Must not refer to it. */
  void endsWith(Runnable share) {
    this.share = FORGOTTEN.register(this, opened.end(file.location(), share));
  }

  @Override
  public long getPos() {
    return next;
  }

  @Override
  public void seek(long newPos) {
    requireOpen();
    if (newPos < 0) {
      throw new IllegalArgumentException("position is negative: " + newPos);
    }
    next = newPos;
  }

  @Override
  public int read() throws IOException {
    if (!isInside()) {
      return -1;
    }
    S3EInputStream in = in();
    try {
      in.seek(next);
      int value = in.read();
      given(value < 0 ? 0 : 1);
      next += value < 0 ? 0 : 1;
      return value;
    } catch (IOException e) {
      throw told(e);
    }
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    if (length > 0 && !isInside()) {
      return -1;
    }
    S3EInputStream in = in();
    try {
      in.seek(Math.min(next, in.size()));
      int count = in.read(target, offset, length);
      given(count);
      next += Math.max(0, count);
      return count;
    } catch (IOException e) {
      throw told(e);
    }
  }

  @Override
  public long skip(long count) {
    requireOpen();
    long skipped = Math.max(0, Math.min(count, in().size() - next));
    next += skipped;
    return skipped;
  }

  @Override
  public void readFully(long position, byte[] target, int offset, int length) throws IOException {
    requireOpen();
    reach(position + length);
    try {
      in().readFullyAt(position, target, offset, length);
      given(length);
    } catch (IOException e) {
      throw told(e);
    }
  }

  @Override
  public int readTail(byte[] target, int offset, int length) throws IOException {
    requireOpen();
    long size;
    int count;
    do {
      size = in().size();
      count = (int) Math.min(length, size);
      readFully(size - count, target, offset, count);
      reach(Long.MAX_VALUE);
    } while (size < in().size());
    return count;
  }

  /** Reads all ranges at once; none waits for another. A reader's cancel reaches the arrival. */
  @Override
  public void readVectored(List<FileRange> ranges, IntFunction<ByteBuffer> allocate)
      throws IOException {
    requireOpen();
    for (FileRange range : ranges) {
      reach(range.offset() + range.length());
    }
    S3EInputStream in = in();
    for (FileRange range : ranges) {
      if (range.offset() + range.length() > in.size()) {
        throw new EOFException(
            "Range of " + range.length() + " bytes at " + range.offset() + " of " + this);
      }
    }
    List<CompletableFuture<ByteBuffer>> arrivals =
        in.readVectored(
            ranges.stream()
                .map(range -> new ByteRange(range.offset(), range.offset() + range.length()))
                .toList(),
            allocate,
            buffer -> {});
    for (int i = 0; i < arrivals.size(); i++) {
      // On the caller's thread, of which Spark takes what its task has read.
      count(ranges.get(i).length());
      CompletableFuture<ByteBuffer> arrival = arrivals.get(i);
      CompletableFuture<ByteBuffer> told = ranges.get(i).byteBuffer();
      var unusedToo = told.whenComplete((buffer, failure) -> arrival.cancel(false));
      CompletableFuture<ByteBuffer> unused =
          arrival.whenComplete(
              (buffer, failure) -> {
                if (failure == null) {
                  // For an empty range nobody has asked.
                  if (buffer.hasRemaining()) {
                    hasGiven = true;
                  }
                  told.complete(buffer);
                } else {
                  told.completeExceptionally(icebergs(failure));
                }
              });
    }
  }

  @Override
  public int available() throws IOException {
    requireOpen();
    if (!isInside()) {
      return 0;
    }
    S3EInputStream in = in();
    in.seek(next);
    return in.available();
  }

  @Override
  public void close() {
    opened.close();
    Cleaner.Cleanable held = share;
    if (held != null) {
      held.clean();
    }
  }

  private S3EInputStream in() {
    S3EInputStream all = opened.whole;
    return all == null ? asTold : all;
  }

  /** Has what is read up to {@code end} read behind what was told, if there is more, or may be. */
  private void reach(long end) throws IOException {
    boolean isAnswered = hasGiven || asTold.etag() != null;
    if (end > asTold.size() && (!isAnswered || asTold.storedSize() > asTold.size())) {
      readWhole(
          isAnswered
              ? OpenOptions.DEFAULTS.withSize(asTold.storedSize()).withVersion(asTold.etag(), null)
              : OpenOptions.DEFAULTS);
    }
  }

  private void readWhole(OpenOptions options) throws IOException {
    if (opened.whole != null) {
      return;
    }
    S3EInputStream all;
    try {
      all = tenant.open(object, options);
    } catch (IOException e) {
      throw told(e);
    }
    if (!opened.offer(all)) {
      all.close();
    }
  }

  private boolean isInside() throws IOException {
    requireOpen();
    reach(next + 1);
    return next < in().size();
  }

  private void requireOpen() {
    if (!asTold.isOpen()) {
      throw new IllegalStateException("Cannot read: already closed");
    }
  }

  private void given(int bytes) {
    if (bytes > 0) {
      hasGiven = true;
      count(bytes);
    }
  }

  private void count(int bytes) {
    if (bytes > 0) {
      readBytes.increment(bytes);
      readOperations.increment();
    }
  }

  /**
   * @throws NotFoundException if there is no such object, as {@code S3FileIO} says it
   */
  private IOException told(IOException failure) {
    if (icebergs(failure) instanceof NotFoundException missing) {
      throw missing;
    }
    return failure;
  }

  private Throwable icebergs(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof RequestFailure refused
          && refused.kind() == RequestFailure.Kind.NOT_FOUND
          && (refused.refusal() == null || !"NoSuchBucket".equals(refused.refusal().code()))) {
        return new NotFoundException(failure, "Location does not exist: %s", file.location());
      }
    }
    return failure;
  }

  @Override
  public String toString() {
    return file.location();
  }
}
