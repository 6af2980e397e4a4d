// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.RemoteFileChangedException;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsContext;
import org.apache.hadoop.fs.statistics.IOStatisticsSupport;
import org.apache.hadoop.io.ElasticByteBufferPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The promises that users of S3A rely on when they read, on every version of Hadoop and for each
 * way of plugging S3E in. Blocks and requests are small, so that a file of a few MiB has many of
 * both.
 */
public abstract class S3AReads {
  static final int SIZE = (3 << 20) + 12345;
  private static final long DEADLINE_SECONDS = 60;
  private static final AtomicInteger NAMES = new AtomicInteger();

  RecordingProxy proxy;
  FileSystem fs;
  Path file;
  byte[] data;

  /** The way of plugging in. */
  abstract Configuration configuration(URI endpoint);

  @BeforeEach
  void startFileSystem() throws Exception {
    proxy = new RecordingProxy(S3AServer.endpoint());
    fs = open(small(configuration(proxy.endpoint())));
    data = random(SIZE);
    file = new Path("/reads/file-" + NAMES.incrementAndGet());
    write(file, data);
    proxy.clear();
  }

  @AfterEach
  void stopFileSystem() throws Exception {
    fs.close();
    proxy.close();
  }

  public static Configuration small(Configuration conf) {
    conf.set("fs.s3a.s3e.block.size", "64K");
    conf.set("fs.s3a.s3e.request.size", "512K");
    return conf;
  }

  public static FileSystem open(Configuration conf) throws IOException {
    return FileSystem.newInstance(URI.create("s3a://" + S3AServer.BUCKET), conf);
  }

  static byte[] random(int size) {
    byte[] bytes = new byte[size];
    new Random(size).nextBytes(bytes);
    return bytes;
  }

  void write(Path path, byte[] bytes) throws IOException {
    try (FSDataOutputStream out = fs.create(path, true)) {
      out.write(bytes);
    }
  }

  byte[] slice(int from, int length) {
    return Arrays.copyOfRange(data, from, from + length);
  }

  FSDataInputStream openWithStatus() throws Exception {
    return fs.openFile(file).withFileStatus(fs.getFileStatus(file)).build().get();
  }

  /** Fetches what is read and nothing else. */
  FSDataInputStream openForRandomReads() throws Exception {
    return fs.openFile(file)
        .withFileStatus(fs.getFileStatus(file))
        .opt("fs.option.openfile.read.policy", "random")
        .build()
        .get();
  }

  @Test
  void aScanGivesTheBytes() throws Exception {
    try (FSDataInputStream in = fs.open(file)) {
      byte[] read = new byte[SIZE];
      int at = 0;
      int count;
      while ((count = in.read(read, at, Math.min(10_000, SIZE - at))) > 0) {
        at += count;
      }
      assertThat(at).isEqualTo(SIZE);
      assertArrayEquals(data, read);
      assertThat(in.getPos()).isEqualTo(SIZE);
      assertThat(in.read()).isEqualTo(-1);
      assertThat(in.read(read, 0, 1)).isEqualTo(-1);
    }
  }

  @Test
  void seeksAndSkipsGiveTheBytes() throws Exception {
    long seed = Seed.draw();
    Random random = new Random(seed);
    try (FSDataInputStream in = fs.open(file)) {
      for (int i = 0; i < 200; i++) {
        int at = random.nextInt(SIZE);
        in.seek(at);
        assertThat(in.read()).as("byte at %s, seed %s", at, seed).isEqualTo(data[at] & 0xff);
        long skipped = in.skip(1000);
        assertThat(skipped).isEqualTo(Math.min(1000, SIZE - at - 1));
        byte[] some = new byte[(int) Math.min(500, SIZE - in.getPos())];
        int from = (int) in.getPos();
        in.readFully(some);
        assertThat(some).as("bytes at %s, seed %s", from, seed).isEqualTo(slice(from, some.length));
      }
    }
  }

  @Test
  void positionedReadsLeaveThePositionAlone() throws Exception {
    try (FSDataInputStream in = openWithStatus()) {
      in.seek(77);
      byte[] some = new byte[300_000];
      in.readFully(1_000_000, some);
      assertArrayEquals(slice(1_000_000, some.length), some);
      assertThat(in.read(SIZE - 10, some, 5, 100)).isEqualTo(10);
      assertArrayEquals(slice(SIZE - 10, 10), Arrays.copyOfRange(some, 5, 15));
      assertThat(in.read(SIZE, some, 0, 1)).isEqualTo(-1);
      assertThat(in.getPos()).isEqualTo(77);
      assertThatThrownBy(() -> in.readFully(SIZE - 10, some)).isInstanceOf(EOFException.class);
      assertThatThrownBy(() -> in.read(-1, some, 0, 1)).isInstanceOf(EOFException.class);
    }
  }

  @Test
  void byteBuffersOfBothKindsAreFilled() throws Exception {
    try (FSDataInputStream in = fs.open(file)) {
      for (ByteBuffer buffer :
          List.of(ByteBuffer.allocate(4000), ByteBuffer.allocateDirect(4000))) {
        in.seek(500_000);
        while (buffer.hasRemaining() && in.read(buffer) > 0) {
          assertThat(in.getPos()).isEqualTo(500_000 + buffer.position());
        }
        assertArrayEquals(slice(500_000, 4000), content(buffer));
        buffer.clear();
        in.readFully(1_500_000, buffer);
        assertArrayEquals(slice(1_500_000, 4000), content(buffer));
        buffer.clear();
        assertThat(in.read(SIZE - 3, buffer)).isEqualTo(3);
      }
    }
  }

  private static byte[] content(ByteBuffer filled) {
    byte[] bytes = new byte[filled.position()];
    filled.duplicate().flip().get(bytes);
    return bytes;
  }

  @Test
  void vectoredReadsFillPooledBuffers() throws Exception {
    ElasticByteBufferPool pool = new ElasticByteBufferPool();
    pool.putBuffer(ByteBuffer.allocateDirect(1 << 20));
    List<FileRange> ranges = new ArrayList<>();
    for (int start : new int[] {2_000_000, 0, 100, 700_000, SIZE - 1000}) {
      ranges.add(FileRange.createFileRange(start, start == 100 ? 60_000 : 100));
    }
    try (FSDataInputStream in = openWithStatus()) {
      in.readVectored(ranges, length -> pool.getBuffer(true, length));
      for (FileRange range : ranges) {
        ByteBuffer buffer = range.getData().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        assertArrayEquals(slice((int) range.getOffset(), range.getLength()), bytes);
        pool.putBuffer(buffer);
      }
    }
  }

  @Test
  @Slow
  void readsOfManyThreadsDoNotMixUp() throws Exception {
    int threads = 8;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try (FSDataInputStream in = openWithStatus()) {
      List<Future<?>> readers = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        long seed = t;
        readers.add(
            pool.submit(
                () -> {
                  Random random = new Random(seed);
                  byte[] some = new byte[70_000];
                  for (int i = 0; i < 40; i++) {
                    int at = random.nextInt(SIZE - some.length);
                    in.readFully(at, some);
                    assertThat(some).as("at %s, seed %s", at, seed).isEqualTo(slice(at, 70_000));
                  }
                  return null;
                }));
      }
      byte[] whole = new byte[SIZE];
      in.readFully(whole);
      assertArrayEquals(data, whole);
      for (Future<?> reader : readers) {
        reader.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      }
    } finally {
      pool.shutdownNow();
    }
  }

  /**
   * S3 tells a Content-Encoding that was stored with the object; S3A reads the bytes as they are.
   */
  @Test
  void anObjectWithAnEncodingOfItsOwnIsReadAsStored() throws Exception {
    proxy.rewriteResponseHeads(
        head ->
            head.contains("Content-Range") || head.contains("Last-Modified")
                ? head.replaceFirst("\r\n\r\n$", "\r\nContent-Encoding: gzip\r\n\r\n")
                : head);
    try (FSDataInputStream in = openForRandomReads()) {
      byte[] some = new byte[1000];
      in.readFully(500_000, some);
      assertArrayEquals(slice(500_000, 1000), some);
    }
  }

  @Test
  void aKnownStatusOrLengthSavesTheHead() throws Exception {
    FileStatus status = fs.getFileStatus(file);
    proxy.clear();
    try (FSDataInputStream in = fs.openFile(file).withFileStatus(status).build().get()) {
      assertThat(in.read()).isEqualTo(data[0] & 0xff);
    }
    try (FSDataInputStream in =
        fs.openFile(file).opt("fs.option.openfile.length", Integer.toString(SIZE)).build().get()) {
      assertThat(in.read()).isEqualTo(data[0] & 0xff);
    }
    assertThat(proxy.heads(file.getName())).isZero();
    assertThat(proxy.reads(file.getName())).isNotEmpty();
  }

  @Test
  void nothingIsSentBeforeTheFirstRead() throws Exception {
    FileStatus status = fs.getFileStatus(file);
    proxy.clear();
    try (FSDataInputStream in = fs.openFile(file).withFileStatus(status).build().get()) {
      in.seek(1000);
      in.setReadahead(100_000L);
      in.unbuffer();
    }
    assertThat(proxy.requests()).isEmpty();
  }

  @Test
  void splitAndPolicyBoundWhatIsFetched() throws Exception {
    FileStatus status = fs.getFileStatus(file);
    proxy.clear();
    try (FSDataInputStream in =
        fs.openFile(file)
            .withFileStatus(status)
            .opt("fs.option.openfile.read.policy", "random")
            .build()
            .get()) {
      in.readFully(1_000_000, new byte[1000]);
    }
    long bytes = proxy.reads(file.getName()).stream().mapToLong(S3AReads::rangeLength).sum();
    assertThat(bytes).isLessThanOrEqualTo(2 * 64 << 10);
  }

  private static long rangeLength(RecordingProxy.Request request) {
    String[] range = request.headers().get("Range").substring("bytes=".length()).split("-");
    return Long.parseLong(range[1]) - Long.parseLong(range[0]) + 1;
  }

  @Test
  void aLengthThatIsTooLongEndsAtTheObject() throws Exception {
    String longer = Integer.toString(SIZE + 100_000);
    try (FSDataInputStream in =
        fs.openFile(file).opt("fs.option.openfile.length", longer).build().get()) {
      byte[] some = new byte[1000];
      in.seek(SIZE - 10);
      int first = in.read(some, 0, some.length);
      assertThat(first).isEqualTo(10);
      assertThat(in.read(some, 0, some.length)).isEqualTo(-1);
      assertThat(in.read(SIZE + 50_000, some, 0, 10)).isEqualTo(-1);
      assertThatThrownBy(() -> in.readFully(SIZE - 10, some)).isInstanceOf(EOFException.class);
    }
  }

  @Test
  void aLengthThatIsTooShortEndsThere() throws Exception {
    try (FSDataInputStream in =
        fs.openFile(file).opt("fs.option.openfile.length", "100000").build().get()) {
      byte[] read = new byte[200_000];
      int at = 0;
      int count;
      while ((count = in.read(read, at, read.length - at)) > 0) {
        at += count;
      }
      assertThat(at).isEqualTo(100_000);
      assertArrayEquals(slice(0, at), Arrays.copyOf(read, at));
    }
  }

  @Test
  void aSeekPastTheEndReadsNothing() throws Exception {
    try (FSDataInputStream in = fs.open(file)) {
      in.seek(SIZE + 5L);
      assertThat(in.getPos()).isEqualTo(SIZE + 5L);
      assertThat(in.read()).isEqualTo(-1);
      in.seek(0);
      assertThat(in.read()).isEqualTo(data[0] & 0xff);
      assertThatThrownBy(() -> in.seek(-1)).isInstanceOf(EOFException.class);
    }
  }

  @Test
  void anOverwrittenFileIsNotMixed() throws Exception {
    try (FSDataInputStream in = openForRandomReads()) {
      assertThat(in.read()).isEqualTo(data[0] & 0xff);
      in.unbuffer();
      byte[] other = data.clone();
      other[SIZE / 2] ^= 1;
      write(file, other);
      assertThatThrownBy(() -> in.readFully(SIZE / 2, new byte[100]))
          .isInstanceOf(RemoteFileChangedException.class)
          .hasMessageContaining(file.getName());
    }
  }

  @Test
  void aDeletedFileIsNotFound() throws Exception {
    try (FSDataInputStream in = openWithStatus()) {
      fs.delete(file, false);
      assertThatThrownBy(in::read).isInstanceOf(FileNotFoundException.class);
    }
    assertThatThrownBy(() -> fs.open(file)).isInstanceOf(FileNotFoundException.class);
    assertThatThrownBy(() -> fs.open(file.getParent())).isInstanceOf(FileNotFoundException.class);
  }

  @Test
  void capabilitiesAreThoseOfS3A() throws Exception {
    try (FSDataInputStream in = fs.open(file)) {
      for (String capability :
          List.of(
              "in:readahead",
              "in:unbuffer",
              "in:readvectored",
              "in:readbytebuffer",
              "in:preadbytebuffer",
              "iostatistics",
              "fs.capability.iocontext.supported",
              "stream_leaks")) {
        assertThat(in.hasCapability(capability)).as(capability).isTrue();
      }
      assertThat(in.hasCapability("in:teleport")).isFalse();
      assertThat(in.minSeekForVectorReads()).isPositive();
      assertThat(in.maxReadSizeForVectorReads()).isPositive();
      assertThat(in.getWrappedStream().toString()).contains(file.getName());
    }
  }

  @Test
  void readsGoOnAfterUnbuffer() throws Exception {
    try (FSDataInputStream in = fs.open(file)) {
      byte[] some = new byte[1000];
      in.readFully(some);
      in.unbuffer();
      in.readFully(some);
      assertArrayEquals(slice(1000, 1000), some);
      assertThatThrownBy(() -> in.setReadahead(-1L)).isInstanceOf(IllegalArgumentException.class);
      in.setReadahead(null);
    }
  }

  @Test
  void aClosedStreamSaysSo() throws Exception {
    FSDataInputStream in = fs.open(file);
    assertThat(in.read()).isEqualTo(data[0] & 0xff);
    in.close();
    in.close();
    in.unbuffer();
    assertThatThrownBy(in::read)
        .isInstanceOf(IOException.class)
        .hasMessageContaining(FSExceptionMessages.STREAM_IS_CLOSED);
    assertThatThrownBy(() -> in.readFully(0, new byte[1]))
        .hasMessageContaining(FSExceptionMessages.STREAM_IS_CLOSED);
  }

  @Test
  void aClosedFileSystemEndsItsStreams() throws Exception {
    FSDataInputStream in = fs.open(file);
    assertThat(in.read()).isEqualTo(data[0] & 0xff);
    fs.close();
    assertThatThrownBy(() -> in.readFully(SIZE - 100, new byte[100]))
        .isInstanceOf(IOException.class);
    in.close();
  }

  @Test
  void everyCounterCounts() throws Exception {
    FileSystem.Statistics statistics = FileSystem.getStatistics("s3a", fs.getClass());
    long before = statistics.getThreadStatistics().getBytesRead();
    IOStatistics stream;
    try (FSDataInputStream in = openForRandomReads()) {
      in.readFully(new byte[10_000]);
      in.seek(1_000_000);
      in.readFully(new byte[10_000]);
      in.readFully(2_000_000, new byte[5_000]);
      List<FileRange> ranges = List.of(FileRange.createFileRange(2_500_000, 1_000));
      in.readVectored(ranges, ByteBuffer::allocate);
      ranges.get(0).getData().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      stream = IOStatisticsSupport.retrieveIOStatistics(in);
    }
    assertThat(stream.counters().get("stream_read_bytes")).isEqualTo(26_000);
    assertThat(stream.counters().get("stream_read_operations")).isPositive();
    assertThat(stream.counters().get("stream_read_fully_operations")).isEqualTo(1);
    assertThat(stream.counters().get("stream_read_vectored_operations")).isEqualTo(1);
    assertThat(stream.counters().get("stream_read_seek_forward_operations")).isEqualTo(1);
    long opened = stream.counters().get("stream_read_opened");
    assertThat(opened).isEqualTo(proxy.reads(file.getName()).size());
    assertThat(stream.counters().get("action_http_get_request")).isEqualTo(opened);
    assertThat(statistics.getThreadStatistics().getBytesRead() - before).isEqualTo(26_000);
    assertThat(((S3AFileSystem) fs).getInstrumentation().getCounterValue("stream_read_bytes"))
        .isEqualTo(26_000);
  }

  @Test
  void theOpeningThreadsContextCounts() throws Exception {
    IOStatisticsContext context = IOStatisticsContext.getCurrentIOStatisticsContext();
    context.reset();
    try (FSDataInputStream in = fs.open(file)) {
      Thread reader = new Thread(() -> readQuietly(in, 5_000));
      reader.start();
      reader.join();
    }
    if (opensByOpenFileOnTheCallersContext()) {
      try (FSDataInputStream in = openForRandomReads()) {
        in.readFully(new byte[2_000]);
      }
    } else {
      try (FSDataInputStream in = fs.open(file)) {
        in.readFully(new byte[2_000]);
      }
    }
    assertThat(context.getIOStatistics().counters().get("stream_read_bytes")).isEqualTo(7_000);
  }

  /** S3A itself opens on another thread and then counts for that. */
  boolean opensByOpenFileOnTheCallersContext() {
    return true;
  }

  private static void readQuietly(FSDataInputStream in, int count) {
    try {
      in.readFully(new byte[count]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void everyGetCarriesTheAuditSpan() throws Exception {
    try (FSDataInputStream in = openWithStatus()) {
      in.readFully(1_000_000, new byte[1_000]);
    }
    assertThat(proxy.reads(file.getName()))
        .isNotEmpty()
        .allSatisfy(
            get -> {
              assertThat(get.headers().get("Referer"))
                  .contains("op=op_open")
                  .contains("rg=" + get.headers().get("Range").substring("bytes=".length()));
              assertThat(get.headers().get("User-Agent")).contains("Hadoop");
            });
  }
}
