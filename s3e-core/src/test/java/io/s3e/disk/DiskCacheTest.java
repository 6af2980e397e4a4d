// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static io.s3e.disk.StoreRig.MIB;
import static io.s3e.disk.StoreRig.PATIENCE;
import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.disk.FaultyDiskIo.Failure;
import io.s3e.disk.FaultyDiskIo.Operation;
import io.s3e.jvm.Background;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import io.s3e.testing.DiskWrites;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A private cache over its directories: what is written is read back, or S3 is asked. */
@Timeout(120)
class DiskCacheTest {
  @TempDir Path directory;

  private final WatchedFiles files = new WatchedFiles();
  private final FaultyDiskIo disk = new FaultyDiskIo(new DiskIo(), files);
  private final DiskMetrics metrics = new DiskMetrics();

  @AfterEach
  void everyDescriptorIsClosedAndNothingIsLeft() throws Exception {
    disk.heal();
    awaitTrue("all files closed", () -> files.open() == 0);
    assertThat(files.closedTwice()).isZero();
    assertThat(names()).isEmpty();
  }

  private List<Path> names() throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.filter(path -> !Files.isDirectory(path)).toList();
    }
  }

  private DiskCacheConfig.Builder config(int directories) {
    List<Path> all = new ArrayList<>();
    for (int i = 0; i < directories; i++) {
      all.add(directory.resolve("disk" + i));
    }
    return DiskCacheConfig.DEFAULTS.toBuilder()
        .mode(Mode.DISK)
        .directories(all)
        .capacityBytes(64 * MIB);
  }

  private DiskCache open(DiskCacheConfig.Builder config) throws IOException {
    return DiskCache.open(config.build(), metrics, 64 * MIB, disk, Duration.ofMillis(20));
  }

  private void write(DiskCache cache, StoredObject object, int first, int end) throws Exception {
    cache.offer(TestWriteBack.of(object, first, end, 2).offered());
    DiskWrites.await(metrics, PATIENCE);
  }

  /** A read of chunks of one directory into memory that is full of {@value #UNTOUCHED}. */
  private record Reading(ChunkRange wanted, byte[] target, DiskRead read) {
    private static final byte UNTOUCHED = 77;

    static Reading begin(DiskCache cache, StoredObject object, int first, int end) {
      ChunkRange wanted = new ChunkRange(object, first, end);
      long start = (long) first * StoredObject.CHUNK_BYTES;
      byte[] target = new byte[Math.toIntExact(wanted.endOffset() - start)];
      Arrays.fill(target, UNTOUCHED);
      return new Reading(wanted, target, cache.read(wanted, start, ByteBuffer.wrap(target)));
    }

    /** Ends the read; the chunk after the last one that came, all of them verified. */
    int end() {
      int bytes = read.end();
      int chunk = wanted.first();
      for (int at = 0; at < bytes; chunk++) {
        int length = wanted.object().chunkLength(chunk);
        StoredBytes.require(wanted.object(), chunk, ByteBuffer.wrap(target, at, length).slice());
        at += length;
      }
      return chunk;
    }

    void requireUntouched() {
      for (byte each : target) {
        assertThat(each).isEqualTo(UNTOUCHED);
      }
    }
  }

  /** Reads chunks of one directory as a reader does that waits; the chunk after the last one. */
  private static int read(DiskCache cache, StoredObject object, int first, int end) {
    Reading reading = Reading.begin(cache, object, first, end);
    long unused = reading.read().await();
    return reading.end();
  }

  /** As {@link #read}, as a reader does that no thread waits for. */
  private static int readUnawaited(DiskCache cache, StoredObject object, int first, int end)
      throws Exception {
    Reading reading = Reading.begin(cache, object, first, end);
    CountDownLatch over = new CountDownLatch(1);
    reading.read().whenOver(over::countDown);
    assertThat(over.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)).as("over").isTrue();
    return reading.end();
  }

  @ParameterizedTest(name = "{0} directories, encrypted {1}")
  @CsvSource({"1, false", "1, true", "3, false", "3, true"})
  void whatIsWrittenIsReadBack(int directories, boolean encrypted) throws Exception {
    DiskCacheConfig.Builder config =
        config(directories).readDeadline(PATIENCE).key(encrypted ? CacheKey.random() : null);
    try (DiskCache cache = open(config)) {
      for (long size : new long[] {1, 70_000, 3 * MIB + 5}) {
        StoredObject object = StoredBytes.object("key " + size, size);
        write(cache, object, 0, object.chunks());

        assertThat(cache.look(new ChunkRange(object, 0, object.chunks())))
            .isEqualTo(object.chunks());
        assertThat(read(cache, object, 0, object.chunks())).isEqualTo(object.chunks());
        assertThat(readUnawaited(cache, object, 0, object.chunks())).isEqualTo(object.chunks());
      }
      assertThat(names()).as("names of files in use").isEmpty();
      StoreRig.requireSums(metrics);
      assertThat(metrics.get(Counter.WRITTEN_BYTES)).isEqualTo(1 + 70_000 + 3 * MIB + 5);
    }
  }

  @ParameterizedTest
  @CsvSource({"1", "3"})
  void objectsAreSpreadOverTheDirectories(int directories) throws Exception {
    // A region of each is enough for all.
    try (DiskCache cache = open(config(directories).capacityBytes(1024 * MIB))) {
      for (int i = 0; i < 20; i++) {
        StoredObject object = StoredBytes.object("key " + i, 1L << 40);
        write(cache, object, 1020, 1030);

        assertThat(cache.look(new ChunkRange(object, 1020, 1030))).isEqualTo(10);
        assertThat(read(cache, object, 1020, 1030)).isEqualTo(1030);
      }
      assertThat(files.opened()).as("directories with a region").isEqualTo(directories);
      assertThat(cache.capacityBytes()).isEqualTo(directories * 1024 * MIB);
      assertThat(cache.bytes()).isEqualTo(files.bytes());
    }
  }

  /** String.hashCode is the same of both names. */
  @Test
  void directoriesOfLikeNamesShareTheObjects() throws Exception {
    List<Path> both = List.of(directory.resolve("Aa"), directory.resolve("BB"));
    try (DiskCache cache = open(config(2).directories(both))) {
      for (int i = 0; i < 20; i++) {
        write(cache, StoredBytes.object("key " + i, MIB), 0, 1);
      }
      assertThat(files.opened()).as("directories with a region").isEqualTo(2);
    }
  }

  @Test
  void whatIsNotThereIsAMissBehindWhatIs() throws Exception {
    try (DiskCache cache = open(config(1))) {
      StoredObject object = StoredBytes.object("key", 10 * MIB);
      write(cache, object, 0, 10);

      assertThat(read(cache, object, 0, 12)).isEqualTo(10);
      assertThat(readUnawaited(cache, object, 0, 12)).isEqualTo(10);
      assertThat(read(cache, object, 20, 22)).isEqualTo(20);
      assertThat(metrics.get(Counter.CORRUPTIONS)).isZero();
    }
  }

  @Test
  void aFileThatIsTooShortIsAMiss() throws Exception {
    try (DiskCache cache = open(config(1))) {
      StoredObject object = StoredBytes.object("key", MIB);
      write(cache, object, 0, 16);
      WatchedFiles.truncate(files.file(0), 10L * StoredObject.CHUNK_BYTES + 5);

      assertThat(read(cache, object, 0, 16)).isEqualTo(8);
      assertThat(metrics.get(Counter.CORRUPTIONS)).isPositive();
      assertThat(read(cache, object, 0, 8)).isEqualTo(8);
      assertThat(read(cache, object, 12, 16)).isEqualTo(12);

      // Each read finds what is not right by the time; what is known to be there is not written.
      awaitTrue(
          "written again",
          () -> {
            write(cache, object, 0, 16);
            return read(cache, object, 0, 16) == 16;
          });
    }
  }

  @Test
  void readsThatFailLeaveTheDirectoryAloneUntilAProbeComesThrough() throws Exception {
    try (DiskCache cache = open(config(1))) {
      StoredObject object = StoredBytes.object("key", 40 * MIB);
      write(cache, object, 0, 600);
      disk.failEvery(Operation.READ, Failure.EIO);
      for (int i = 0; i < 3; i++) {
        assertThat(read(cache, object, 4 * i, 4 * i + 4)).isEqualTo(4 * i);
      }
      assertThat(metrics.get(Counter.READ_ERRORS)).isEqualTo(3);
      assertThat(metrics.get(Counter.BREAKERS_OPEN)).isOne();
      assertThat(read(cache, object, 100, 110)).as("while it is left alone").isEqualTo(100);
      long reads = disk.count(Operation.READ);
      assertThat(metrics.get(Counter.BREAKER_OPENED)).isOne();
      assertThat(cache.look(new ChunkRange(object, 0, 1)))
          .as("what failed is not asked for again")
          .isZero();

      disk.heal();
      int[] next = {100};
      awaitTrue(
          "read again",
          () -> {
            next[0] += 4;
            return read(cache, object, next[0], next[0] + 4) == next[0] + 4;
          });
      assertThat(disk.count(Operation.READ)).isGreaterThan(reads);
      awaitTrue("used again", () -> metrics.get(Counter.BREAKERS_OPEN) == 0);
      assertThat(read(cache, object, 590, 600)).isEqualTo(600);
      for (int i = 0; i < 3; i++) {
        assertThat(cache.look(new ChunkRange(object, 4 * i, 4 * i + 4)))
            .as("what failed is not asked for again, in a directory that is used")
            .isZero();
      }
    }
  }

  @Test
  void aReadThatIsGivenUpTouchesNothingMoreAndCountsAgainstTheDirectory() throws Exception {
    Duration deadline = Duration.ofMillis(50);
    try (DiskCache cache = open(config(1).readDeadline(deadline))) {
      StoredObject object = StoredBytes.object("key", 40 * MIB);
      write(cache, object, 0, 600);
      disk.hangEvery(Operation.READ);
      List<Reading> given = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        Reading reading = Reading.begin(cache, object, 10 * i, 10 * i + 4);
        AtomicInteger told = new AtomicInteger();
        reading.read().whenOver(told::incrementAndGet);
        disk.awaitHanging(i + 1, PATIENCE);
        reading.read().checkDeadline(System.nanoTime());
        awaitTrue(
            "given up",
            () -> {
              reading.read().checkDeadline(System.nanoTime());
              return told.get() == 1;
            });
        reading.read().checkDeadline(System.nanoTime());
        assertThat(told).hasValue(1);
        given.add(reading);
      }
      assertThat(metrics.get(Counter.TIMEOUTS)).isEqualTo(3);
      assertThat(metrics.get(Counter.BREAKERS_OPEN)).isOne();

      disk.heal();
      awaitTrue(
          "read again",
          () ->
              cache.look(new ChunkRange(object, 100, 104)) == 4
                  && read(cache, object, 100, 104) == 104);
      for (Reading each : given) {
        assertThat(each.end()).isEqualTo(each.wanted().first());
        each.requireUntouched();
      }
      assertThat(cache.look(new ChunkRange(object, 0, 30)))
          .as("what was slow is still there")
          .isEqualTo(30);
    }
  }

  /** Reads of 4 chunks that hang, one for each thread of the directory. */
  private List<Reading> hangAllThreads(DiskCache cache, StoredObject object) throws Exception {
    disk.hangEvery(Operation.READ);
    List<Reading> hanging = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      hanging.add(Reading.begin(cache, object, 10 * i, 10 * i + 4));
    }
    disk.awaitHanging(4, PATIENCE);
    return hanging;
  }

  @Test
  void readsInTheQueueEndWhenTheirDirectoryIsLeftAlone() throws Exception {
    try (DiskCache cache = open(config(1).readDeadline(PATIENCE))) {
      StoredObject object = StoredBytes.object("key", 40 * MIB);
      write(cache, object, 0, 600);
      List<Reading> hanging = hangAllThreads(cache, object);
      AtomicInteger ofHanging = new AtomicInteger();
      hanging.get(3).read().whenOver(ofHanging::incrementAndGet);
      AtomicInteger told = new AtomicInteger();
      Reading waiting = Reading.begin(cache, object, 100, 160);
      waiting.read().whenOver(told::incrementAndGet);
      for (Reading each : hanging.subList(0, 3)) {
        assertThat(told).as("the directory is in use").hasValue(0);
        each.read().checkDeadline(System.nanoTime() + PATIENCE.toNanos());
      }

      assertThat(metrics.get(Counter.BREAKERS_OPEN)).isOne();
      assertThat(told).hasValue(1);
      assertThat(waiting.end()).isEqualTo(100);
      assertThat(metrics.get(Counter.TIMEOUTS)).as("those that hang").isEqualTo(3);
      assertThat(ofHanging).as("it may come").hasValue(0);
      disk.heal();
      awaitTrue("what hung has come", () -> ofHanging.get() == 1);
      assertThat(hanging.get(3).end()).isEqualTo(34);
      waiting.requireUntouched();
    }
  }

  @Test
  void aReaderThatCannotBeToldKeepsNobodyElseWaiting() throws Exception {
    try (DiskCache cache = open(config(1).readDeadline(PATIENCE))) {
      StoredObject object = StoredBytes.object("key", 40 * MIB);
      write(cache, object, 0, 600);
      List<Reading> hanging = hangAllThreads(cache, object);
      Runnable failing =
          () -> {
            throw new IllegalStateException("as if");
          };
      hanging.get(0).read().whenOver(failing);
      Reading failed = Reading.begin(cache, object, 100, 160);
      failed.read().whenOver(failing);
      AtomicInteger told = new AtomicInteger();
      Reading waiting = Reading.begin(cache, object, 200, 260);
      waiting.read().whenOver(told::incrementAndGet);
      for (Reading each : hanging.subList(0, 3)) {
        each.read().checkDeadline(System.nanoTime() + PATIENCE.toNanos());
      }

      assertThat(told).hasValue(1);
      assertThat(metrics.get(Counter.TIMEOUTS)).as("those that hang").isEqualTo(3);
      assertThat(waiting.end()).isEqualTo(200);
      disk.heal();
    }
  }

  @Test
  void readsInTheQueueEndWithTheCache() throws Exception {
    DiskCache cache = open(config(1).readDeadline(PATIENCE));
    StoredObject object = StoredBytes.object("key", 40 * MIB);
    write(cache, object, 0, 600);
    hangAllThreads(cache, object);
    AtomicInteger told = new AtomicInteger();
    Reading waiting = Reading.begin(cache, object, 100, 160);
    waiting.read().whenOver(told::incrementAndGet);
    cache.close();

    assertThat(told).hasValue(1);
    assertThat(waiting.end()).isEqualTo(100);
    disk.heal();
  }

  @Test
  void aReadThatItsReaderEndsTouchesNothingMoreAndCountsForNothing() throws Exception {
    try (DiskCache cache = open(config(1))) {
      StoredObject object = StoredBytes.object("key", 4 * MIB);
      write(cache, object, 0, 64);
      disk.hangEvery(Operation.READ);
      AtomicInteger told = new AtomicInteger();
      Reading reading = Reading.begin(cache, object, 0, 64);
      reading.read().whenOver(told::incrementAndGet);
      disk.awaitHanging(2, PATIENCE);
      assertThat(reading.end()).isZero();
      reading.read().checkDeadline(System.nanoTime() + PATIENCE.toNanos());
      disk.heal();

      assertThat(read(cache, object, 0, 64)).isEqualTo(64);
      reading.requireUntouched();
      assertThat(told).as("told of its own end").hasValue(0);
      assertThat(metrics.get(Counter.TIMEOUTS)).isZero();
    }
  }

  @Test
  void anInterruptedReaderLeaves() throws Exception {
    try (DiskCache cache = open(config(1).readDeadline(PATIENCE))) {
      StoredObject object = StoredBytes.object("key", MIB);
      write(cache, object, 0, 16);
      disk.hangEvery(Operation.READ);
      Thread.currentThread().interrupt();
      assertThat(read(cache, object, 0, 16)).isZero();
      assertThat(Thread.interrupted()).isTrue();
      disk.heal();
      assertThat(read(cache, object, 0, 16)).isEqualTo(16);
    }
  }

  /** Reads of a few bytes go on in the same chunk as a rule. */
  @Slow
  @ParameterizedTest
  @CsvSource({"false", "true"})
  void aSecondShortReadOfAChunkDoesNotTouchTheDisk(boolean encrypted) throws Exception {
    try (DiskCache cache = open(config(1).key(encrypted ? CacheKey.random() : null))) {
      StoredObject object = StoredBytes.object("key", 40 * MIB + 5);
      write(cache, object, 0, 10);
      write(cache, object, 100, 141);
      write(cache, object, 639, 641);
      long reads = disk.count(Operation.READ);
      for (int at = 70_000; at < 120_000; at += 3_000) {
        requireRightBytes(cache, object, at, 3_000, 1, 2);
      }
      assertThat(disk.count(Operation.READ)).as("one chunk").isEqualTo(reads + 1);

      requireRightBytes(cache, object, 130_000, 10_000, 1, 3);
      assertThat(disk.count(Operation.READ)).as("the next one").isEqualTo(reads + 2);

      // With the chunks that its reader will want next.
      requireRightBytes(cache, object, 4 * 65_536, 1_000, 4, 8);
      awaitTrue("a batch", () -> disk.count(Operation.READ) == reads + 3);
      for (int at = 4 * 65_536; at < 8 * 65_536; at += 16_384) {
        requireRightBytes(cache, object, at, 16_384, at / 65_536, 8);
      }
      requireRightBytes(cache, object, 40 * (int) MIB - 5, 10, 639, 641);
      for (int chunk = 100; chunk < 140; chunk++) {
        requireRightBytes(cache, object, chunk * 65_536 + 7, 9, chunk, chunk + 1);
      }
      long before = disk.count(Operation.READ);
      requireRightBytes(cache, object, 139 * 65_536, 65_536, 139, 140);
      assertThat(disk.count(Operation.READ)).as("kept").isEqualTo(before);
      requireRightBytes(cache, object, 100 * 65_536 + 70, 9, 100, 101);
      assertThat(disk.count(Operation.READ)).as("others have its place").isEqualTo(before + 1);
    }
  }

  private static void requireRightBytes(
      DiskCache cache, StoredObject object, int at, int length, int first, int end) {
    ByteBuffer target = ByteBuffer.allocate(length + 2).position(1).limit(1 + length);
    DiskRead read = cache.read(new ChunkRange(object, first, end), at, target);
    long unused = read.await();
    assertThat(read.end()).isEqualTo(length);
    ByteBuffer expected = StoredBytes.of(object, first, end).slice(at - first * 65_536, length);
    assertThat(target.duplicate().mismatch(expected)).as("first wrong byte").isEqualTo(-1);
    assertThat(target.get(0)).isZero();
    assertThat(target.clear().get(length + 1)).isZero();
  }

  @Test
  void aReaderDoesNotWaitForAReadThatHangs() throws Exception {
    Duration deadline = Duration.ofMillis(50);
    try (DiskCache cache = open(config(1).readDeadline(deadline))) {
      StoredObject object = StoredBytes.object("key", 40 * MIB);
      write(cache, object, 0, 600);
      disk.hangEvery(Operation.READ);
      for (int i = 0; i < 10; i++) {
        long start = System.nanoTime();
        assertThat(read(cache, object, 20 * i, 20 * i + 20)).isEqualTo(20 * i);
        assertThat(System.nanoTime() - start).isLessThan(PATIENCE.toNanos());
      }
      assertThat(metrics.get(Counter.TIMEOUTS)).isPositive();
      assertThat(metrics.get(Counter.BREAKERS_OPEN)).isOne();

      disk.heal();
      awaitTrue("a probe came through", () -> read(cache, object, 300, 304) == 304);
      // The memory of all that hung is there again.
      for (int i = 0; i < 20; i++) {
        int first = 320 + 4 * i;
        awaitTrue("read again", () -> read(cache, object, first, 448) == 448);
      }
    }
  }

  @Test
  @Slow
  void aReadHasOnePatienceForAMiB() throws Exception {
    try (DiskCache cache = open(config(1).readDeadline(Duration.ofMillis(900)))) {
      StoredObject object = StoredBytes.object("key", 10 * MIB);
      write(cache, object, 0, 160);
      // Two pieces of four chunks are read at once.
      disk.slow(Operation.READ, Duration.ofMillis(600));
      assertThat(read(cache, object, 0, 160)).as("in 900 ms").isEqualTo(8);
      assertThat(metrics.get(Counter.TIMEOUTS)).isOne();

      disk.slow(Operation.READ, Duration.ofMillis(200));
      assertThat(read(cache, object, 0, 48)).as("3 MiB in 3 times 400 ms").isEqualTo(48);
      assertThat(metrics.get(Counter.TIMEOUTS)).isOne();
    }
  }

  @Test
  void aReadGoesOnWhereChunksAreNotAdjacent() throws Exception {
    try (DiskCache cache = open(config(1))) {
      StoredObject object = StoredBytes.object("key", 10 * MIB);
      StoredObject between = StoredBytes.object("between", MIB);
      int[] ends = {5, 6, 9, 20, 160};
      int first = 0;
      for (int i = 0; i < ends.length; i++) {
        write(cache, object, first, ends[i]);
        write(cache, between, i, i + 1);
        first = ends[i];
      }
      // More often than there is memory, if any were lost.
      for (int i = 0; i < 20; i++) {
        assertThat(read(cache, object, i, 160)).isEqualTo(160);
      }
    }
  }

  @Slow
  @Test
  void readsThatAreEndedEarlyKeepNoMemory() throws Exception {
    try (DiskCache cache = open(config(1))) {
      StoredObject object = StoredBytes.object("key", 10 * MIB);
      write(cache, object, 0, 160);
      for (int i = 0; i < 200; i++) {
        Reading reading = Reading.begin(cache, object, 0, 160);
        assertThat(reading.end()).isBetween(0, 160);
      }
      assertThat(read(cache, object, 0, 160)).as("all of it once more").isEqualTo(160);
    }
  }

  @Test
  void aCapThatIsTooSmallIsRefusedWithAReason() throws Exception {
    assertThatThrownBy(() -> open(config(1).capacityBytes(16 * MIB - 1)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(directory.toRealPath().resolve("disk0") + ": refused")
        .hasMessageContaining("it would hold 16777215 bytes, its capacity as set")
        .hasMessageContaining("expected 16777216 or more");

    open(config(1).capacityBytes(16 * MIB)).close();
  }

  @Test
  void directoriesThatCannotBeAskedForTheirSpaceAreLeftOut() throws Exception {
    disk.failNth(Operation.USABLE_BYTES, 1, Failure.EIO);
    try (DiskCache cache = open(config(2).capacityBytes(0))) {
      assertThat(cache.capacityBytes()).as("of one of two").isBetween(16 * MIB, 10_240 * MIB);
    }

    disk.failEvery(Operation.USABLE_BYTES, Failure.EIO);
    assertThatThrownBy(() -> open(config(2).capacityBytes(0)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("disk0")
        .hasMessageContaining("disk1")
        .hasMessageContaining("Input/output error");
  }

  @Test
  void aFileInPlaceOfADirectoryIsLeftOut() throws Exception {
    Path file = Files.createFile(directory.resolve("disk0"));

    assertThatThrownBy(() -> open(config(1)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(file + ": refused as a cache directory: it is not a directory");
    try (DiskCache cache = open(config(2))) {
      assertThat(cache.capacityBytes()).isEqualTo(64 * MIB);
    }
    Files.delete(file);
  }

  @Slow
  @Test
  void closeWaitsABoundedTimeForWhatHangs() throws Exception {
    DiskCache cache = open(config(2));
    StoredObject object = StoredBytes.object("key", 40 * MIB);
    write(cache, object, 0, 100);
    disk.hangEvery(Operation.READ);
    disk.hangEvery(Operation.WRITE);
    Reading hanging = Reading.begin(cache, object, 0, 4);
    CountDownLatch over = new CountDownLatch(1);
    hanging.read().whenOver(over::countDown);
    cache.offer(TestWriteBack.of(object, 100, 116, 1).offered());
    disk.awaitHanging(2, PATIENCE);

    Thread closing = Background.start("closing", cache::close);
    assertThat(Background.await(closing, PATIENCE.toMillis())).as("closed").isTrue();

    assertThat(read(cache, object, 20, 30)).as("a read after the end").isEqualTo(20);
    disk.heal();
    assertThat(over.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)).as("over").isTrue();
    DiskWrites.await(metrics, PATIENCE);
    StoreRig.requireSums(metrics);
  }

  @Test
  @Slow
  void closeDoesNotWaitForFilesThatCannotBeClosed() throws Exception {
    DiskCache cache = open(config(1));
    write(cache, StoredBytes.object("key", MIB), 0, 16);
    disk.hangEvery(Operation.CLOSE);

    Thread closing = Background.start("closing", cache::close);
    assertThat(Background.await(closing, PATIENCE.toMillis())).as("closed").isTrue();
  }
}
