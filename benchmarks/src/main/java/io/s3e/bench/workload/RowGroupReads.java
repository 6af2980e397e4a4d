// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.parquet.HadoopReadOptions;
import org.apache.parquet.bytes.ByteBufferAllocator;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.hadoop.metadata.ParquetMetadata;
import org.apache.parquet.io.ParquetFileRange;
import org.apache.parquet.io.SeekableInputStream;

/**
 * The reads of a Parquet scan without its processing, file after file: the footer, which
 * parquet-java reads and parses, and of each row group the wanted column chunks, into heap buffers.
 * The streams are opened and called through parquet-java's own classes, so that the calls are those
 * of a real scan.
 *
 * <p>Adjacent chunks are joined, as parquet-java joins them, and a row group is one vectored read
 * of these runs, or a seek and readFully calls of up to 8 MiB for each.
 */
final class RowGroupReads implements Workload {

  /** How column chunks are asked for. */
  enum Calls {
    /** All of a row group by one readVectored. */
    VECTORED,
    /** One run of chunks after the other. */
    SEEKS
  }

  /** Default of parquet.read.allocation.size. */
  private static final int MOST_BUFFER_BYTES = 8 << 20;

  private final Calls calls;
  private final Opening opening;
  private final Statuses statuses;
  private final Pace pace;

  /**
   * @param pace of the consumer; where it is bound, the row groups after the first are measured by
   *     themselves
   */
  RowGroupReads(Calls calls, Opening opening, Statuses statuses, Pace pace) {
    this.calls = calls;
    this.opening = opening;
    this.statuses = statuses;
    this.pace = pace;
  }

  /** Buffers of the application's own, on the heap as parquet-java's are by default. */
  private record HeapBuffers(RunContext context) implements ByteBufferAllocator {
    @Override
    public ByteBuffer allocate(int size) {
      return ByteBuffer.wrap(context.buffer(size));
    }

    @Override
    public void release(ByteBuffer buffer) {
      // The garbage collector does.
    }

    @Override
    public boolean isDirect() {
      return false;
    }
  }

  /** Wanted column chunks side by side. */
  private record Run(long position, int length) {}

  /** Bytes of the object, at a position. */
  private record Piece(long position, ByteBuffer bytes) {}

  @Override
  public void prepare(RunContext context) throws IOException {
    statuses.prepare(context);
  }

  @Override
  public long run(RunContext context) throws Exception {
    for (int i = 0; i < context.objects().size(); i++) {
      readFile(context.of(context.objects().get(i)));
    }
    return 0;
  }

  private void readFile(RunContext context) throws Exception {
    ReadMonitor monitor = context.monitor();
    FileSystem fileSystem = context.timedFileSystem();
    monitor.begin("open of " + context.path() + " and its footer");
    long before = context.clock().bytes();
    FileStatus status = statuses.of(fileSystem, context.path());
    ParquetObject file = new ParquetObject(fileSystem, status, opening);
    try (SeekableInputStream in = file.newStream()) {
      Configuration conf = fileSystem.getConf();
      ParquetMetadata footer =
          ParquetFileReader.readFooter(
              file, HadoopReadOptions.builder(conf, context.path()).build(), in);
      monitor.end();
      context.usedBeside(context.clock().bytes() - before);
      readGroups(context, in, footer.getBlocks());
    } finally {
      monitor.end();
    }
  }

  private void readGroups(RunContext context, SeekableInputStream in, List<BlockMetaData> groups)
      throws Exception {
    if (pace.isBound()) {
      readAtPace(context, in, groups);
    } else {
      for (BlockMetaData group : groups) {
        readGroup(context, in, group);
      }
    }
  }

  /** The whole is the last part: its rate is the run's. */
  private void readAtPace(RunContext context, SeekableInputStream in, List<BlockMetaData> groups)
      throws Exception {
    List<BlockMetaData> rest = groups.subList(1, groups.size());
    context.part(
        Part.Kind.WHOLE,
        () -> {
          readGroup(context, in, groups.get(0));
          return context.part(
              Part.Kind.AFTER_FIRST_GROUP,
              () -> {
                for (BlockMetaData group : rest) {
                  readGroup(context, in, group);
                }
                return rest;
              });
        });
  }

  private void readGroup(RunContext context, SeekableInputStream in, BlockMetaData group)
      throws Exception {
    List<Run> runs = wanted(group, context.spec().columns());
    ReadMonitor monitor = context.monitor();
    long bytes = runs.stream().mapToLong(Run::length).sum();
    List<Piece> pieces;
    ByteBufferAllocator buffers = new HeapBuffers(context);
    monitor.begin("column chunks of a row group", runs.get(0).position(), bytes);
    try {
      pieces =
          switch (calls) {
            case VECTORED -> readVectored(in, runs, buffers);
            case SEEKS -> readBySeeks(in, runs, buffers);
          };
      monitor.endRead(bytes);
      context.clock().groupEnded();
    } finally {
      monitor.end();
    }
    long arrived = System.nanoTime();
    checkAll(context, bytes, pieces);
    pace.consume(bytes, arrived);
  }

  private static List<Run> wanted(BlockMetaData group, List<String> columns) throws IOException {
    List<Run> runs = new ArrayList<>();
    for (ColumnChunkMetaData chunk : group.getColumns()) {
      if (columns.contains(chunk.getPath().toArray()[0])) {
        add(runs, chunk.getStartingPos(), Math.toIntExact(chunk.getTotalSize()));
      }
    }
    if (runs.isEmpty()) {
      throw new IOException("There are no columns " + columns + " in " + group.getColumns());
    }
    return runs;
  }

  private static void add(List<Run> runs, long position, int length) {
    Run last = runs.isEmpty() ? null : runs.get(runs.size() - 1);
    if (last != null && last.position() + last.length() == position) {
      runs.set(runs.size() - 1, new Run(last.position(), last.length() + length));
    } else {
      runs.add(new Run(position, length));
    }
  }

  private static List<Piece> readVectored(
      SeekableInputStream in, List<Run> runs, ByteBufferAllocator buffers) throws Exception {
    if (!in.readVectoredAvailable(buffers)) {
      throw new IOException("No vectored reads by " + in);
    }
    List<ParquetFileRange> ranges =
        runs.stream().map(run -> new ParquetFileRange(run.position(), run.length())).toList();
    in.readVectored(ranges, buffers);
    List<Piece> pieces = new ArrayList<>();
    for (ParquetFileRange range : ranges) {
      pieces.add(new Piece(range.getOffset(), await(range)));
    }
    return pieces;
  }

  private static ByteBuffer await(ParquetFileRange range) throws Exception {
    try {
      return range.getDataReadFuture().get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  private static List<Piece> readBySeeks(
      SeekableInputStream in, List<Run> runs, ByteBufferAllocator buffers) throws IOException {
    List<Piece> pieces = new ArrayList<>();
    for (Run run : runs) {
      in.seek(run.position());
      for (int done = 0; done < run.length(); done += MOST_BUFFER_BYTES) {
        ByteBuffer buffer = buffers.allocate(Math.min(run.length() - done, MOST_BUFFER_BYTES));
        in.readFully(buffer);
        buffer.flip();
        pieces.add(new Piece(run.position() + done, buffer));
      }
    }
    return pieces;
  }

  private static void checkAll(RunContext context, long wanted, List<Piece> pieces)
      throws WrongBytesException {
    long got = 0;
    for (Piece piece : pieces) {
      got += piece.bytes().remaining();
      context.check(context.object(), piece.position(), piece.bytes());
    }
    if (got != wanted) {
      throw new WrongBytesException("%d bytes came instead of %d".formatted(got, wanted));
    }
  }
}
