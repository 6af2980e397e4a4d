// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.s3e.hadoop.open.NextFiles;
import io.s3e.hadoop.open.NextFiles.NextFile;
import io.s3e.testing.Slow;
import java.io.FileNotFoundException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.MultipartUploader;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Opening a file that was announced: HEADs and GETs counted at the server, and what is read where
 * the file has been replaced since. The writer is another file system, as another process would be.
 */
@Timeout(180)
@Slow
class AnnouncedFilesTest {
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

  private FSDataInputStream openForRandomReads(Path path) throws Exception {
    return fs.openFile(path).opt("fs.option.openfile.read.policy", "random").build().get();
  }

  @Test
  void whereNothingHoldsOnToAnEtagNothingIsFetched() throws Exception {
    reopen("fs.s3a.change.detection.mode", "none");
    Path path = write("none", S3AReads.random(SMALL));
    fs.announce(path, SMALL);
    assertThat(gets(path)).isZero();
    read(path);
    assertThat(gets(path)).isEqualTo(1);
  }

  @Test
  void switchedOffItIsS3As() throws Exception {
    reopen("fs.s3a.s3e.enabled", "false");
    Path path = write("off", S3AReads.random(SMALL));
    fs.announce(path, SMALL);
    read(path);
    assertThat(heads(path)).isEqualTo(1);
    assertThat(gets(path)).isEqualTo(1);
  }

  @Test
  void anAnnouncedFileNeedsNoGetAnyMore() throws Exception {
    byte[] bytes = S3AReads.random(SMALL);
    Path path = write("announced", bytes);
    announce(path, SMALL);
    assertArrayEquals(bytes, read(path));
    assertArrayEquals(bytes, read(path));
    assertThat(heads(path)).isEqualTo(2);
    assertThat(gets(path)).isEqualTo(1);
  }

  /** A task's next file is announced while it reads one. */
  @Test
  void sixSmallFilesCostSixGetsAndTheHeadsOfTheirOpenings() throws Exception {
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
      assertArrayEquals(contents.get(i), read(files.get(i)));
    }
    assertThat(files.stream().mapToInt(this::gets).sum()).isEqualTo(6);
    assertThat(files.stream().mapToLong(this::heads).sum()).isEqualTo(6);
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
    assertThat(files.stream().mapToLong(this::heads).sum()).isEqualTo(6);
  }

  @Test
  void theFooterOfALongFileIsThere() throws Exception {
    byte[] bytes = S3AReads.random(LARGE);
    Path path = write("footer", bytes);
    announce(path, LARGE);
    try (FSDataInputStream in = openForRandomReads(path)) {
      byte[] footer = new byte[8];
      in.readFully(LARGE - 8, footer);
      assertArrayEquals(Arrays.copyOfRange(bytes, LARGE - 8, LARGE), footer);
      assertThat(gets(path)).isEqualTo(1);
      in.readFully(0, footer);
      assertArrayEquals(Arrays.copyOf(bytes, 8), footer);
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
      assertArrayEquals(bytes, in.readAllBytes());
    }
    assertThat(heads(path)).isZero();
    assertThat(gets(path)).isEqualTo(1);
  }

  /** Every opening by name asks S3, so the announcement hides nothing. */
  @ParameterizedTest
  @ValueSource(ints = {SMALL, SMALL + 99, SMALL - 99, 1, 0})
  void anAnnouncedFileThatWasReplacedIsOpenedAsItIsNow(int newLength) throws Exception {
    Path path = write("replaced", S3AReads.random(SMALL));
    announce(path, SMALL);
    byte[] now = new byte[newLength];
    Arrays.fill(now, (byte) 5);
    write("replaced", now);
    assertThat(read(path)).isEqualTo(now);
    try (FSDataInputStream in = openForRandomReads(path)) {
      assertThat(in.readAllBytes()).isEqualTo(now);
    }
  }

  @Test
  void anAnnouncedFileThatWasDeletedIsMissingWhenItIsOpened() throws Exception {
    Path path = write("deleted", S3AReads.random(SMALL));
    announce(path, SMALL);
    writer.delete(path, false);
    assertThatThrownBy(() -> fs.open(path)).isInstanceOf(FileNotFoundException.class);
    assertThatThrownBy(() -> fs.openFile(path).build().get())
        .hasCauseInstanceOf(FileNotFoundException.class);
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
      assertArrayEquals(bytes, read(path));
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
  void whatThisFileSystemWritesOrDeletesIsForgotten(@TempDir java.nio.file.Path local)
      throws Exception {
    Path path = write("rewritten", S3AReads.random(SMALL));
    announce(path, SMALL);
    byte[] now = new byte[SMALL];
    try (FSDataOutputStream out = fs.create(path, true)) {
      out.write(now);
    }
    assertThat(read(path)).isEqualTo(now);

    Path copied = write("copied", S3AReads.random(SMALL));
    announce(copied, SMALL);
    Path source = new Path(Files.write(local.resolve("source"), now).toUri());
    fs.copyFromLocalFile(false, true, source, copied);
    FileStatus listed = new FileStatus(SMALL, false, 1, 1, 1, copied);
    try (FSDataInputStream in = fs.openFile(copied).withFileStatus(listed).build().get()) {
      assertThat(in.readAllBytes()).isEqualTo(now);
    }

    Path below = write("below", S3AReads.random(SMALL));
    announce(below, SMALL);
    fs.delete(folder, true);
    assertThatThrownBy(() -> fs.open(below)).isInstanceOf(FileNotFoundException.class);
  }

  /** What is written is there once the stream is closed, and can be announced before. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsAnnouncedWhileItIsWrittenIsForgottenWhenItIsThere(boolean recursive) throws Exception {
    Path path = write("being-written", S3AReads.random(SMALL));
    byte[] now = new byte[SMALL];
    FSDataOutputStream out =
        recursive
            ? fs.create(path, true)
            : fs.createNonRecursive(path, true, 4096, (short) 1, 1 << 20, null);
    try (out) {
      out.write(now);
      announce(path, SMALL);
    }
    FileStatus listed = new FileStatus(SMALL, false, 1, 1, 1, path);
    try (FSDataInputStream in = fs.openFile(path).withFileStatus(listed).build().get()) {
      assertThat(in.readAllBytes()).isEqualTo(now);
    }
    assertThat(gets(path)).isEqualTo(2);
  }

  /** Nobody tells when it completes what it has uploaded. */
  @Test
  void whereAnUploaderWritesNothingIsAnnounced() throws Exception {
    Path path = write("uploaded", S3AReads.random(SMALL));
    announce(path, SMALL);
    try (MultipartUploader unused = fs.createMultipartUploader(folder).build()) {
      fs.announce(path, SMALL);
    }
    byte[] now = new byte[SMALL];
    write("uploaded", now);
    FileStatus listed = new FileStatus(SMALL, false, 1, 1, 1, path);
    try (FSDataInputStream in = fs.openFile(path).withFileStatus(listed).build().get()) {
      assertThat(in.readAllBytes()).isEqualTo(now);
    }
    assertThat(gets(path)).isEqualTo(2);
  }

  @Test
  void theGetIsCountedOnceAndForItsReader() throws Exception {
    byte[] bytes = S3AReads.random(SMALL);
    Path path = write("counted", bytes);
    // Hadoop itself holds it weakly.
    IOStatisticsContext context = IOStatisticsContext.getCurrentIOStatisticsContext();
    context.reset();
    announce(path, SMALL);
    assertArrayEquals(bytes, read(path));
    assertArrayEquals(bytes, read(path));
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
        assertArrayEquals(bytes, in.readAllBytes());
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
