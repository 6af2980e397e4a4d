package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectSlice;
import io.s3e.bench.workload.RowGroups.Chunk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.parquet.bytes.ByteBufferAllocator;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.parquet.io.ParquetFileRange;
import org.apache.parquet.io.SeekableInputStream;

/**
 * The reads of a Parquet scan without its processing: the last 8 bytes, the footer, and of each row
 * group the wanted column chunks, into heap buffers. The stream is opened and called through
 * parquet-java's own classes, so that read policy and file status are those of a real scan.
 *
 * <p>Either all chunks of a row group by one vectored read, each a range of its own; or, as
 * parquet-java does without vectored reads, adjacent chunks joined, and each such run by one seek
 * and readFully calls of up to 8 MiB.
 */
final class RowGroupReads implements Workload {

  /** Default of parquet.read.allocation.size. */
  private static final int MOST_BUFFER_BYTES = 8 << 20;

  private final boolean vectored;

  RowGroupReads(boolean vectored) {
    this.vectored = vectored;
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

  /** Bytes of the object, at a position. */
  private record Piece(long position, ByteBuffer bytes) {}

  @Override
  public long run(RunContext context) throws Exception {
    ReadMonitor monitor = context.monitor();
    RowGroups layout = new RowGroups(context.object().length());
    monitor.begin("open of " + context.path());
    HadoopInputFile file = HadoopInputFile.fromPath(context.path(), context.fileSystem().getConf());
    try (SeekableInputStream in = file.newStream()) {
      monitor.end();
      readFooter(context, in, layout);
      for (int group = 0; group < layout.groups(); group++) {
        readGroup(context, in, layout.wanted(group));
      }
    } finally {
      monitor.end();
    }
    return 0;
  }

  private static void readFooter(RunContext context, SeekableInputStream in, RowGroups layout)
      throws IOException {
    ObjectSlice object = context.object();
    long tail = object.position() + object.length() - RowGroups.TAIL_BYTES;
    readBySeek(context, in, tail, RowGroups.TAIL_BYTES);
    readBySeek(context, in, tail - layout.footerBytes(), layout.footerBytes());
  }

  private static void readBySeek(
      RunContext context, SeekableInputStream in, long position, int length) throws IOException {
    byte[] bytes = context.buffer(length);
    context.monitor().begin("seek and readFully of the footer", position, length);
    try {
      in.seek(position);
      in.readFully(bytes);
      context.monitor().endRead(length);
    } finally {
      context.monitor().end();
    }
    context.check(context.object(), position, bytes, length);
  }

  private void readGroup(RunContext context, SeekableInputStream in, List<Chunk> chunks)
      throws Exception {
    ReadMonitor monitor = context.monitor();
    long bytes = chunks.stream().mapToLong(Chunk::length).sum();
    List<Piece> pieces;
    ByteBufferAllocator buffers = new HeapBuffers(context);
    monitor.begin("column chunks of a row group", chunks.get(0).position(), bytes);
    try {
      pieces = vectored ? readVectored(in, chunks, buffers) : readBySeeks(in, chunks, buffers);
      monitor.endRead(bytes);
    } finally {
      monitor.end();
    }
    checkAll(context, chunks, pieces);
  }

  private static List<Piece> readVectored(
      SeekableInputStream in, List<Chunk> chunks, ByteBufferAllocator buffers) throws Exception {
    if (!in.readVectoredAvailable(buffers)) {
      throw new IOException("No vectored reads by " + in);
    }
    List<ParquetFileRange> ranges =
        chunks.stream().map(c -> new ParquetFileRange(c.position(), c.length())).toList();
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
      SeekableInputStream in, List<Chunk> chunks, ByteBufferAllocator buffers) throws IOException {
    List<Piece> pieces = new ArrayList<>();
    for (Chunk run : joined(chunks)) {
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

  private static List<Chunk> joined(List<Chunk> chunks) {
    List<Chunk> runs = new ArrayList<>();
    for (Chunk chunk : chunks) {
      Chunk last = runs.isEmpty() ? null : runs.get(runs.size() - 1);
      if (last != null && last.position() + last.length() == chunk.position()) {
        runs.set(runs.size() - 1, new Chunk(last.position(), last.length() + chunk.length()));
      } else {
        runs.add(chunk);
      }
    }
    return runs;
  }

  private static void checkAll(RunContext context, List<Chunk> chunks, List<Piece> pieces)
      throws WrongBytesException {
    long wanted = chunks.stream().mapToLong(Chunk::length).sum();
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
