package io.s3e.hadoop;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.hadoop.open.NextFiles;
import io.s3e.hadoop.open.NextFiles.NextFile;
import java.io.FileNotFoundException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.RemoteFileChangedException;
import org.apache.hadoop.fs.statistics.IOStatisticsContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Opening a file that something is known of: HEADs and GETs counted at the server, and what is read
 * where that is not true any more. The writer is another file system, as another process would be.
 */
@Timeout(180)
class KnownFilesTest {
  private static final AtomicInteger NAMES = new AtomicInteger();
  private static final int SMALL = 200 << 10;
  private static final int LARGE = (3 << 20) + 777;

  private RecordingProxy proxy;
  private S3EFileSystem fs;
  private FileSystem writer;
  private Path folder;

  @BeforeEach
  void start() throws Exception {
    proxy = new RecordingProxy(S3AServer.endpoint());
    Configuration s3e = S3AReads.small(S3AServer.s3e(proxy.endpoint()));
    fs = (S3EFileSystem) S3AReads.open(s3e);
    writer = S3AReads.open(S3AServer.s3a(S3AServer.endpoint()));
    folder = new Path("s3a://" + S3AServer.BUCKET + "/known/" + NAMES.incrementAndGet());
    // The first read of a file system makes its engine.
    read(write("first", S3AReads.random(1)));
    proxy.clear();
  }

  @AfterEach
  void stop() throws Exception {
    fs.close();
    writer.close();
    proxy.close();
  }

  private Path write(String name, byte[] bytes) throws Exception {
    Path path = new Path(folder, name);
    try (FSDataOutputStream out = writer.create(path, true)) {
      out.write(bytes);
    }
    return path;
  }

  private byte[] read(Path path) throws Exception {
    try (FSDataInputStream in = fs.open(path)) {
      return in.readAllBytes();
    }
  }

  private void reopen(String key, String value) throws Exception {
    fs.close();
    Configuration changed = S3AReads.small(S3AServer.s3e(proxy.endpoint()));
    changed.set(key, value);
    fs = (S3EFileSystem) S3AReads.open(changed);
    read(write("first", S3AReads.random(1)));
    proxy.clear();
  }

  private long heads(Path path) {
    return proxy.heads(path.getName());
  }

  private int gets(Path path) {
    return proxy.reads(path.getName()).size();
  }

  private void announce(Path path, long length) throws Exception {
    fs.announce(path, length);
    awaitTrue(() -> gets(path) > 0);
  }

  // A status that was just told.

  /** As Spark 3.5 opens each Parquet file: for its footer, then for its rows. */
  @Test
  void aStatusThatWasJustToldIsTheHeadOfTheOpenThatFollows() throws Exception {
    byte[] bytes = S3AReads.random(SMALL);
    Path path = write("status", bytes);
    for (int i = 0; i < 2; i++) {
      try (FSDataInputStream in = openByStatus(path, () -> fs.open(path))) {
        assertThat(in.readAllBytes()).isEqualTo(bytes);
      }
    }
    assertThat(gets(path)).isEqualTo(1);
  }

  /** A way of opening. */
  private interface Opener {
    FSDataInputStream open() throws Exception;
  }

  /**
   * Asks for the status and opens, by one HEAD: again and again, since a busy machine may take
   * longer than a status holds.
   */
  private FSDataInputStream openByStatus(Path path, Opener opener) throws Exception {
    for (; ; ) {
      long before = heads(path);
      fs.getFileStatus(path);
      FSDataInputStream in = opener.open();
      if (heads(path) == before + 1) {
        return in;
      }
      in.close();
    }
  }

  @Test
  void openFileTakesItToo() throws Exception {
    byte[] bytes = S3AReads.random(SMALL);
    Path path = write("aside", bytes);
    try (FSDataInputStream in = openByStatus(path, () -> fs.openFile(path).build().get())) {
      assertThat(in.readAllBytes()).isEqualTo(bytes);
    }
  }

  @Test
  void itServesOneOpen() throws Exception {
    byte[] bytes = S3AReads.random(SMALL);
    Path path = write("once", bytes);
    openByStatus(path, () -> fs.open(path)).close();
    long before = heads(path);
    assertThat(read(path)).isEqualTo(bytes);
    assertThat(heads(path)).isEqualTo(before + 1);
  }

  @Test
  void itServesItsThreadAlone() throws Exception {
    byte[] bytes = S3AReads.random(SMALL);
    Path path = write("threads", bytes);
    fs.getFileStatus(path);
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      assertThat(other.submit(() -> read(path)).get(60, TimeUnit.SECONDS)).isEqualTo(bytes);
    } finally {
      other.shutdownNow();
    }
    assertThat(heads(path)).isEqualTo(2);
  }

  @Test
  void itServesItsPathAlone() throws Exception {
    byte[] bytes = S3AReads.random(SMALL);
    Path path = write("path", bytes);
    Path another = write("another", S3AReads.random(1));
    fs.getFileStatus(another);
    assertThat(read(path)).isEqualTo(bytes);
    assertThat(heads(path)).isEqualTo(1);
  }

  @Test
  void itIsForgottenAfterAWhile() throws Exception {
    Path path = write("late", S3AReads.random(SMALL));
    fs.getFileStatus(path);
    Thread.sleep(300);
    read(path);
    assertThat(heads(path)).isEqualTo(2);
  }

  /** A longer one too: all of the new file is read, to its end. */
  @ParameterizedTest
  @ValueSource(ints = {SMALL, SMALL + 99, SMALL - 99, 1, 0})
  void aFileReplacedAfterItsStatusIsReadAsItIsNow(int newLength) throws Exception {
    Path path = write("replaced", S3AReads.random(SMALL));
    byte[] now = new byte[newLength];
    Arrays.fill(now, (byte) 5);
    try (FSDataInputStream in = openByStatus(path, () -> fs.open(path))) {
      write("replaced", now);
      long before = heads(path);
      assertThat(in.readAllBytes()).isEqualTo(now);
      assertThat(heads(path)).isEqualTo(before + 1);
    }
  }

  @Test
  void theVersionStaysOnceAByteWasRead() throws Exception {
    Path path = write("changing", S3AReads.random(LARGE));
    try (FSDataInputStream in = openByStatus(path, () -> openForRandomReads(path))) {
      byte[] piece = new byte[10];
      in.readFully(0, piece);
      write("changing", new byte[LARGE]);
      assertThatThrownBy(() -> in.readFully(2 << 20, piece))
          .isInstanceOf(RemoteFileChangedException.class);
    }
  }

  @Test
  void firstReadsOfManyThreadsAllSeeTheNewFile() throws Exception {
    Path path = write("crowd", S3AReads.random(LARGE));
    byte[] now = new byte[LARGE];
    Arrays.fill(now, (byte) 7);
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try (FSDataInputStream in = openByStatus(path, () -> openForRandomReads(path))) {
      write("crowd", now);
      long before = heads(path);
      List<Future<byte[]>> reads = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        int at = i * (LARGE / 16);
        reads.add(
            threads.submit(
                () -> {
                  byte[] piece = new byte[1000];
                  in.readFully(at, piece);
                  return piece;
                }));
      }
      for (Future<byte[]> read : reads) {
        assertThat(read.get(60, TimeUnit.SECONDS)).containsOnly(7);
      }
      assertThat(heads(path)).isEqualTo(before + 1);
    } finally {
      threads.shutdownNow();
    }
  }

  /** Its first part is in memory, of the old version: what was copied of it is read anew. */
  @Test
  void aFirstReadThatFailsHalfwayIsDoneAgainFromItsBeginning() throws Exception {
    Path path = write("halfway", S3AReads.random(LARGE));
    try (FSDataInputStream in = openForRandomReads(path)) {
      in.readFully(0, new byte[64 << 10]);
    }
    byte[] now = new byte[LARGE];
    Arrays.fill(now, (byte) 9);
    try (FSDataInputStream in = openByStatus(path, () -> openForRandomReads(path))) {
      write("halfway", now);
      ByteBuffer buffer = ByteBuffer.allocate((256 << 10) + 3);
      buffer.position(3);
      in.readFully(0, buffer);
      assertThat(buffer.hasRemaining()).isFalse();
      assertThat(Arrays.copyOfRange(buffer.array(), 3, buffer.capacity())).containsOnly(9);
    }
  }

  /** Ranges cannot be read again, so they settle the version: none of another one follows. */
  @Test
  void aVectoredReadSettlesTheVersion() throws Exception {
    byte[] before = S3AReads.random(LARGE);
    Path path = write("vectored", before);
    try (FSDataInputStream in = openForRandomReads(path)) {
      in.readFully(0, new byte[64 << 10]);
    }
    try (FSDataInputStream in = openByStatus(path, () -> openForRandomReads(path))) {
      write("vectored", new byte[LARGE]);
      FileRange range = FileRange.createFileRange(0, 1000);
      in.readVectored(List.of(range), ByteBuffer::allocate);
      byte[] got = new byte[1000];
      range.getData().get(60, TimeUnit.SECONDS).get(got);
      assertThat(got).isEqualTo(Arrays.copyOf(before, 1000));
      assertThatThrownBy(() -> in.readFully(2 << 20, new byte[10]))
          .isInstanceOf(RemoteFileChangedException.class);
    }
  }

  private FSDataInputStream openForRandomReads(Path path) throws Exception {
    return fs.openFile(path).opt("fs.option.openfile.read.policy", "random").build().get();
  }

  @Test
  void aFileDeletedAfterItsStatusIsMissingWhenItIsRead() throws Exception {
    Path path = write("deleted", S3AReads.random(SMALL));
    try (FSDataInputStream in = openByStatus(path, () -> fs.open(path))) {
      writer.delete(path, false);
      assertThatThrownBy(in::readAllBytes).isInstanceOf(FileNotFoundException.class);
    }
  }

  @Test
  void whatThisFileSystemChangesIsAskedForAgain() throws Exception {
    Path path = write("own", S3AReads.random(SMALL));
    Path other = write("other", S3AReads.random(SMALL));
    fs.getFileStatus(path);
    fs.delete(path, false);
    assertThatThrownBy(() -> fs.open(path)).isInstanceOf(FileNotFoundException.class);

    fs.getFileStatus(other);
    fs.rename(other, new Path(folder, "third"));
    assertThatThrownBy(() -> fs.open(other)).isInstanceOf(FileNotFoundException.class);
  }

  /** The writer closes between the status and the open: S3 has the new bytes, memory the old. */
  @Test
  void aThreadReadsWhatItHasWritten() throws Exception {
    byte[] before = S3AReads.random(SMALL);
    Path path = write("written", before);
    assertThat(read(path)).isEqualTo(before);
    byte[] now = new byte[SMALL];
    try (FSDataOutputStream out = fs.create(path, true)) {
      out.write(now);
      fs.getFileStatus(path);
    }
    assertThat(read(path)).isEqualTo(now);
  }

  @Test
  void directoriesMissingAndEmptyFilesAreAsBefore() throws Exception {
    Path empty = write("empty", new byte[0]);
    fs.getFileStatus(empty);
    try (FSDataInputStream in = fs.open(empty)) {
      assertThat(in.read()).isEqualTo(-1);
    }
    assertThat(fs.getFileStatus(folder).isDirectory()).isTrue();
    assertThatThrownBy(() -> fs.open(folder)).isInstanceOf(FileNotFoundException.class);
    Path missing = new Path(folder, "missing");
    assertThatThrownBy(() -> fs.getFileStatus(missing)).isInstanceOf(FileNotFoundException.class);
    assertThatThrownBy(() -> fs.open(missing)).isInstanceOf(FileNotFoundException.class);
  }

  @Test
  void whereNothingHoldsOnToAnEtagEachOpenAsks() throws Exception {
    reopen("fs.s3a.change.detection.mode", "none");
    Path path = write("none", S3AReads.random(SMALL));
    fs.getFileStatus(path);
    read(path);
    fs.announce(path, SMALL);
    read(path);
    assertThat(heads(path)).isEqualTo(3);
  }

  @Test
  void switchedOffItIsS3As() throws Exception {
    reopen("fs.s3a.s3e.enabled", "false");
    Path path = write("off", S3AReads.random(SMALL));
    fs.getFileStatus(path);
    fs.announce(path, SMALL);
    read(path);
    assertThat(heads(path)).isEqualTo(2);
  }

  // Files that were announced.

  @Test
  void anAnnouncedFileNeedsNoRequestAnyMore() throws Exception {
    byte[] bytes = S3AReads.random(SMALL);
    Path path = write("announced", bytes);
    announce(path, SMALL);
    assertThat(read(path)).isEqualTo(bytes);
    assertThat(read(path)).isEqualTo(bytes);
    assertThat(heads(path)).isZero();
    assertThat(gets(path)).isEqualTo(1);
  }

  /** A task's next file is announced while it reads one: only the first makes it wait. */
  @Test
  void sixSmallFilesCostSixGetsAndOneHead() throws Exception {
    List<Path> files = new ArrayList<>();
    List<byte[]> contents = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      contents.add(S3AReads.random(SMALL + i));
      files.add(write("six-" + i, contents.get(i)));
    }
    for (int i = 0; i < 6; i++) {
      if (i < 5) {
        fs.announce(files.get(i + 1), SMALL + i + 1);
      }
      assertThat(read(files.get(i))).isEqualTo(contents.get(i));
    }
    assertThat(files.stream().mapToInt(this::gets).sum()).isEqualTo(6);
    assertThat(files.stream().mapToLong(this::heads).sum()).isEqualTo(1);
  }

  /** As an engine does it that knows the files of a task. */
  @Test
  void theOrderOfAnEngineAnnouncesWhatFollowsInTheBucket() throws Exception {
    List<Path> files = new ArrayList<>();
    Map<Path, NextFile> order = new HashMap<>();
    for (int i = 0; i < 6; i++) {
      files.add(write("order-" + i, S3AReads.random(SMALL + i)));
      if (i > 0) {
        order.put(files.get(i - 1), new NextFile(files.get(i), SMALL + i));
      }
    }
    order.put(files.get(5), new NextFile(new Path("s3a://another-bucket/key"), SMALL));
    NextFiles.tellBy(order::remove);
    try {
      for (Path file : files) {
        read(file);
      }
    } finally {
      NextFiles.tellBy(opened -> null);
    }
    assertThat(order).isEmpty();
    assertThat(files.stream().mapToInt(this::gets).sum()).isEqualTo(6);
    assertThat(files.stream().mapToLong(this::heads).sum()).isEqualTo(1);
  }

  @Test
  void theFooterOfALongFileIsThere() throws Exception {
    byte[] bytes = S3AReads.random(LARGE);
    Path path = write("footer", bytes);
    announce(path, LARGE);
    try (FSDataInputStream in = openForRandomReads(path)) {
      byte[] footer = new byte[8];
      in.readFully(LARGE - 8, footer);
      assertThat(footer).isEqualTo(Arrays.copyOfRange(bytes, LARGE - 8, LARGE));
      assertThat(gets(path)).isEqualTo(1);
      in.readFully(0, footer);
      assertThat(footer).isEqualTo(Arrays.copyOf(bytes, 8));
      assertThat(gets(path)).isEqualTo(2);
    }
  }

  /** As Spark 4.1 opens: with the listing's status, which knows no ETag. */
  @Test
  void aStatusWithoutAnEtagFindsTheAnnouncement() throws Exception {
    byte[] bytes = S3AReads.random(SMALL);
    Path path = write("listed", bytes);
    announce(path, SMALL);
    FileStatus listed = new FileStatus(SMALL, false, 1, 1, 1, path);
    try (FSDataInputStream in = fs.openFile(path).withFileStatus(listed).build().get()) {
      assertThat(in.readAllBytes()).isEqualTo(bytes);
    }
    assertThat(heads(path)).isZero();
    assertThat(gets(path)).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {SMALL, SMALL + 99, SMALL - 99})
  void anAnnouncedFileThatWasReplacedIsReadAsItIsNowIfTheOpenerKnows(int newLength)
      throws Exception {
    Path path = write("stale", S3AReads.random(SMALL));
    announce(path, SMALL);
    byte[] now = new byte[newLength];
    write("stale", now);
    FileStatus status = fs.getFileStatus(path);
    try (FSDataInputStream in = fs.openFile(path).withFileStatus(status).build().get()) {
      assertThat(in.readAllBytes()).isEqualTo(now);
    }
  }

  @Test
  void aWrongLengthIsOfNoConsequence() throws Exception {
    byte[] bytes = S3AReads.random(SMALL);
    for (long told : new long[] {1, SMALL - 1, SMALL + 1, 10L * SMALL}) {
      Path path = write("wrong-" + told, bytes);
      fs.announce(path, told);
      assertThat(read(path)).isEqualTo(bytes);
    }
  }

  @Test
  void whatIsMissingOrDeniedFailsAtTheOpen() throws Exception {
    Path missing = new Path(folder, "not-there");
    announce(missing, SMALL);
    assertThatThrownBy(() -> fs.open(missing)).isInstanceOf(FileNotFoundException.class);
    announce(folder, SMALL);
    assertThatThrownBy(() -> fs.open(folder)).isInstanceOf(FileNotFoundException.class);
  }

  @Test
  void whatThisFileSystemWritesOrDeletesIsForgotten() throws Exception {
    Path path = write("rewritten", S3AReads.random(SMALL));
    announce(path, SMALL);
    byte[] now = new byte[SMALL];
    try (FSDataOutputStream out = fs.create(path, true)) {
      out.write(now);
    }
    assertThat(read(path)).isEqualTo(now);

    Path below = write("below", S3AReads.random(SMALL));
    announce(below, SMALL);
    fs.delete(folder, true);
    assertThatThrownBy(() -> fs.open(below)).isInstanceOf(FileNotFoundException.class);
  }

  @Test
  void theGetIsCountedOnceAndForItsReader() throws Exception {
    byte[] bytes = S3AReads.random(SMALL);
    Path path = write("counted", bytes);
    // Hadoop itself holds it weakly.
    IOStatisticsContext context = IOStatisticsContext.getCurrentIOStatisticsContext();
    context.reset();
    announce(path, SMALL);
    assertThat(read(path)).isEqualTo(bytes);
    assertThat(read(path)).isEqualTo(bytes);
    assertThat(context.getIOStatistics().counters())
        .containsEntry("s3e_gets", 1L)
        .containsEntry("s3e_prefetch_used_bytes", (long) SMALL)
        .containsEntry("stream_read_bytes", 2L * SMALL);
  }

  @Test
  void aLengthBelowNothingIsRefused() {
    assertThatThrownBy(() -> fs.announce(new Path(folder, "negative"), -1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-1 bytes");
    fs.announce(new Path(folder, "empty"), 0);
  }

  @Test
  void anAnnouncementBeforeTheFirstReadWaitsForTheEngine() throws Exception {
    byte[] bytes = S3AReads.random(SMALL);
    Path path = write("early", bytes);
    try (S3EFileSystem fresh =
        (S3EFileSystem) S3AReads.open(S3AReads.small(S3AServer.s3e(proxy.endpoint())))) {
      fresh.announce(path, SMALL);
      awaitTrue(() -> gets(path) > 0);
      try (FSDataInputStream in = fresh.open(path)) {
        assertThat(in.readAllBytes()).isEqualTo(bytes);
      }
    }
    assertThat(gets(path)).isEqualTo(1);
  }

  @Test
  void aClosedFileSystemAnnouncesNothing() throws Exception {
    Path path = write("closed", S3AReads.random(SMALL));
    fs.close();
    fs.announce(path, SMALL);
    assertThat(gets(path)).isZero();
  }
}
