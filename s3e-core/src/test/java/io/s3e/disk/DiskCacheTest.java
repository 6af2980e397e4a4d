package io.s3e.disk;

import static io.s3e.disk.StoreRig.MIB;
import static io.s3e.disk.StoreRig.PATIENCE;
import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.disk.DiskRead.End;
import io.s3e.disk.FaultyDiskIo.Failure;
import io.s3e.disk.FaultyDiskIo.Operation;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A private cache over its directories: what is written is read back, or S3 is asked. */
@Timeout(120)
class DiskCacheTest {
  /** Chunks of an object that stand in one directory. */
  private static final int STRIPE = 1024;

  @TempDir Path directory;

  private final WatchedFiles files = new WatchedFiles();
  private final FaultyDiskIo disk = new FaultyDiskIo(new NioDiskIo(), files);
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

  private static StoredObject object(DiskCache cache, String key, long size) {
    StoredObject object = cache.object("store", StoredBytes.version(key, size));
    assertThat(object).isNotNull();
    return object;
  }

  /** Writes chunks, to each directory its own. */
  private void write(DiskCache cache, StoredObject object, int first, int end) throws Exception {
    ChunkRange left = new ChunkRange(object, first, end);
    while (true) {
      ChunkRange part = cache.inStripe(left);
      cache.offer(TestWriteBack.of(object, part.first(), part.end(), 16), part);
      if (part.end() == end) {
        break;
      }
      left = new ChunkRange(object, part.end(), end);
    }
    assertThat(cache.awaitWritten(PATIENCE)).isTrue();
  }

  /** Takes chunks and verifies them. */
  private static class Received implements DiskRead.Receiver {
    private final ChunkRange wanted;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final AtomicInteger ends = new AtomicInteger();
    private volatile int next;
    private volatile @Nullable AssertionError wrong;
    private volatile @Nullable End end;

    Received(ChunkRange wanted) {
      this.wanted = wanted;
      this.next = wanted.first();
    }

    @Override
    public boolean onBytes(ByteBuffer bytes) {
      try {
        StoredBytes.require(wanted.object(), next, bytes);
      } catch (AssertionError e) {
        wrong = e;
      }
      next++;
      return true;
    }

    @Override
    public void onBusy() {
      wrong = new AssertionError("busy in a private cache");
    }

    @Override
    public void onEnd(End how) {
      end = how;
      ends.incrementAndGet();
      ended.countDown();
    }

    End await() throws InterruptedException {
      assertThat(ended.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)).as("ended").isTrue();
      if (wrong != null) {
        throw wrong;
      }
      assertThat(ends).hasValue(1);
      return end;
    }
  }

  private static Received start(DiskCache cache, StoredObject object, int first, int end) {
    Received received = new Received(new ChunkRange(object, first, end));
    DiskRead read = cache.read(received.wanted, received);
    assertThat(read).isNotNull();
    return received;
  }

  /** Reads chunks of one directory. */
  private static End read(DiskCache cache, StoredObject object, int first, int end)
      throws InterruptedException {
    Received received = start(cache, object, first, end);
    End how = received.await();
    assertThat(how == End.HIT).isEqualTo(received.next == end);
    return how;
  }

  /** Takes chunks as a reader does by itself; the chunk after the last one that came. */
  private static int stream(DiskCache cache, StoredObject object, int first, int end) {
    ChunkStream stream = cache.stream(new ChunkRange(object, first, end));
    if (stream == null) {
      return first;
    }
    try (stream) {
      int chunk = first;
      for (ByteBuffer bytes = stream.next(); bytes != null; bytes = stream.next()) {
        while (bytes.hasRemaining()) {
          int length = object.chunkLength(chunk);
          StoredBytes.require(object, chunk, bytes.slice(bytes.position(), length));
          bytes.position(bytes.position() + length);
          chunk++;
        }
      }
      return chunk;
    }
  }

  @ParameterizedTest(name = "{0} directories, encrypted {1}")
  @CsvSource({"1, false", "1, true", "3, false", "3, true"})
  void whatIsWrittenIsReadBack(int directories, boolean encrypted) throws Exception {
    DiskCacheConfig.Builder config = config(directories).key(encrypted ? CacheKey.random() : null);
    try (DiskCache cache = open(config)) {
      for (long size : new long[] {1, 70_000, 3 * MIB + 5}) {
        StoredObject object = object(cache, "key " + size, size);
        write(cache, object, 0, object.chunks());

        assertThat(cache.presentFrom(new ChunkRange(object, 0, object.chunks())))
            .isEqualTo(object.chunks());
        assertThat(read(cache, object, 0, object.chunks())).isEqualTo(End.HIT);
        assertThat(stream(cache, object, 0, object.chunks())).isEqualTo(object.chunks());
      }
      assertThat(names()).as("names of files in use").isEmpty();
      StoreRig.requireSums(metrics);
      assertThat(metrics.get(Counter.WRITTEN_BYTES)).isEqualTo(1 + 70_000 + 3 * MIB + 5);
    }
  }

  @ParameterizedTest
  @CsvSource({"1", "3"})
  void objectsAreSpreadOverTheDirectoriesInStripes(int directories) throws Exception {
    // A region of each is enough for all.
    try (DiskCache cache = open(config(directories).capacityBytes(1024 * MIB))) {
      StoredObject object = object(cache, "key", 1L << 40);
      for (int stripe = 1; stripe < 20; stripe++) {
        int first = stripe * STRIPE - 4;
        int end = stripe * STRIPE + 6;
        write(cache, object, first, end);

        if (directories == 1) {
          assertThat(read(cache, object, first, end)).isEqualTo(End.HIT);
          continue;
        }
        ChunkRange all = new ChunkRange(object, first, end);
        assertThat(cache.inStripe(all)).isEqualTo(new ChunkRange(object, first, stripe * STRIPE));
        assertThat(cache.presentFrom(all)).as("in one directory").isEqualTo(4);
        assertThat(read(cache, object, first, stripe * STRIPE)).isEqualTo(End.HIT);
        assertThat(read(cache, object, stripe * STRIPE, end)).isEqualTo(End.HIT);
      }
      assertThat(files.opened()).as("directories with a region").isEqualTo(directories);
      assertThat(cache.capacityBytes()).isEqualTo(directories * 1024 * MIB);
      assertThat(cache.bytes()).isEqualTo(files.bytes());
    }
  }

  @Test
  void whatIsNotThereIsAMissBehindWhatIs() throws Exception {
    try (DiskCache cache = open(config(1))) {
      StoredObject object = object(cache, "key", 10 * MIB);
      write(cache, object, 0, 10);

      Received received = start(cache, object, 0, 12);
      assertThat(received.await()).isEqualTo(End.MISS);
      assertThat(received.next).as("chunks that came").isEqualTo(10);
      assertThat(read(cache, object, 20, 22)).isEqualTo(End.MISS);
      assertThat(stream(cache, object, 0, 12)).isEqualTo(10);
      assertThat(metrics.get(Counter.CORRUPTIONS)).isZero();
    }
  }

  @Test
  void aReaderThatWantsNoMoreEndsTheRead() throws Exception {
    try (DiskCache cache = open(config(1))) {
      StoredObject object = object(cache, "key", 10 * MIB);
      write(cache, object, 0, 100);
      Received received =
          new Received(new ChunkRange(object, 0, 100)) {
            @Override
            public boolean onBytes(ByteBuffer bytes) {
              return super.onBytes(bytes) && super.next < 7;
            }
          };
      cache.read(received.wanted, received);

      assertThat(received.await()).isEqualTo(End.MISS);
      assertThat(received.next).isEqualTo(7);
    }
  }

  @Test
  void aFileThatIsTooShortIsAMiss() throws Exception {
    try (DiskCache cache = open(config(1))) {
      StoredObject object = object(cache, "key", MIB);
      write(cache, object, 0, 16);
      files.file(0).truncate(10L * StoredObject.CHUNK_BYTES + 5);

      assertThat(read(cache, object, 0, 16)).isEqualTo(End.MISS);
      assertThat(metrics.get(Counter.CORRUPTIONS)).isPositive();
      assertThat(read(cache, object, 0, 8)).isEqualTo(End.HIT);
      assertThat(stream(cache, object, 12, 16)).isEqualTo(12);

      write(cache, object, 0, 16);
      assertThat(read(cache, object, 0, 16)).as("written again").isEqualTo(End.HIT);
    }
  }

  @Test
  void readsThatFailLeaveTheDirectoryAloneUntilAProbeComesThrough() throws Exception {
    try (DiskCache cache = open(config(1))) {
      StoredObject object = object(cache, "key", 40 * MIB);
      write(cache, object, 0, 600);
      disk.failEvery(Operation.READ, Failure.EIO);
      for (int i = 0; i < 3; i++) {
        assertThat(read(cache, object, 10 * i, 10 * i + 10)).isEqualTo(End.MISS);
      }
      assertThat(metrics.get(Counter.READ_ERRORS)).isEqualTo(3);
      assertThat(metrics.get(Counter.BREAKERS_OPEN)).isOne();
      assertThat(stream(cache, object, 100, 110)).as("while it is left alone").isEqualTo(100);
      long reads = disk.count(Operation.READ);
      assertThat(metrics.get(Counter.BREAKER_OPENED)).isOne();
      assertThat(cache.presentFrom(new ChunkRange(object, 0, 1)))
          .as("what failed is not asked for again")
          .isZero();

      disk.heal();
      int[] next = {100};
      awaitTrue(
          "read again",
          () -> {
            next[0] += 4;
            return read(cache, object, next[0], next[0] + 4) == End.HIT;
          });
      assertThat(disk.count(Operation.READ)).isGreaterThan(reads);
      assertThat(metrics.get(Counter.BREAKERS_OPEN)).isZero();
      assertThat(stream(cache, object, 590, 600)).isEqualTo(600);
    }
  }

  @Test
  void aReadThatIsGivenUpSaysNothingMoreAndCountsAgainstTheDirectory() throws Exception {
    try (DiskCache cache = open(config(1))) {
      StoredObject object = object(cache, "key", 40 * MIB);
      write(cache, object, 0, 600);
      disk.hangEvery(Operation.READ);
      List<Received> given = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        Received received = new Received(new ChunkRange(object, 10 * i, 10 * i + 10));
        DiskRead read = cache.read(received.wanted, received);
        disk.awaitHanging(i + 1, PATIENCE);
        read.giveUp();
        read.giveUp();
        given.add(received);
      }
      assertThat(metrics.get(Counter.TIMEOUTS)).isEqualTo(3);
      assertThat(metrics.get(Counter.BREAKERS_OPEN)).isOne();

      disk.heal();
      awaitTrue(
          "read again",
          () ->
              cache.presentFrom(new ChunkRange(object, 100, 104)) == 4
                  && read(cache, object, 100, 104) == End.HIT);
      for (Received each : given) {
        assertThat(each.ends).as("ends of a read that was given up").hasValue(0);
        assertThat(each.next).as("bytes of one").isEqualTo(each.wanted.first());
      }
      assertThat(cache.presentFrom(new ChunkRange(object, 0, 30)))
          .as("what was slow is still there")
          .isEqualTo(30);
    }
  }

  @Test
  void aReadThatIsCancelledSaysNothingMoreAndCountsForNothing() throws Exception {
    try (DiskCache cache = open(config(1))) {
      StoredObject object = object(cache, "key", 4 * MIB);
      write(cache, object, 0, 64);
      disk.hangEvery(Operation.READ);
      Received received = new Received(new ChunkRange(object, 0, 64));
      DiskRead read = cache.read(received.wanted, received);
      disk.awaitHanging(1, PATIENCE);
      read.cancel();
      read.giveUp();
      disk.heal();

      assertThat(read(cache, object, 0, 64)).isEqualTo(End.HIT);
      assertThat(received.ends).hasValue(0);
      assertThat(metrics.get(Counter.TIMEOUTS)).isZero();
    }
  }

  @Test
  void aReaderDoesNotWaitForAStreamThatHangs() throws Exception {
    Duration deadline = Duration.ofMillis(50);
    try (DiskCache cache = open(config(1).readDeadline(deadline))) {
      StoredObject object = object(cache, "key", 40 * MIB);
      write(cache, object, 0, 600);
      disk.hangEvery(Operation.READ);
      for (int i = 0; i < 10; i++) {
        long start = System.nanoTime();
        assertThat(stream(cache, object, 20 * i, 20 * i + 20)).isEqualTo(20 * i);
        assertThat(System.nanoTime() - start).isLessThan(PATIENCE.toNanos());
      }
      assertThat(metrics.get(Counter.TIMEOUTS)).isPositive();
      assertThat(metrics.get(Counter.BREAKERS_OPEN)).isOne();

      disk.heal();
      awaitTrue("a probe came through", () -> read(cache, object, 300, 304) == End.HIT);
      // The memory of all that hung is there again.
      for (int i = 0; i < 20; i++) {
        int first = 320 + 4 * i;
        awaitTrue("streamed again", () -> stream(cache, object, first, 448) == 448);
      }
    }
  }

  @Test
  @Slow
  void aStreamHasOnePatienceForAMiB() throws Exception {
    try (DiskCache cache = open(config(1).readDeadline(Duration.ofMillis(900)))) {
      StoredObject object = object(cache, "key", 10 * MIB);
      write(cache, object, 0, 160);
      // Two pieces of four chunks are read at once.
      disk.slow(Operation.READ, Duration.ofMillis(600));
      assertThat(stream(cache, object, 0, 160)).as("in 900 ms").isEqualTo(8);
      assertThat(metrics.get(Counter.TIMEOUTS)).isOne();

      disk.slow(Operation.READ, Duration.ofMillis(200));
      assertThat(stream(cache, object, 0, 48)).as("3 MiB in 3 times 400 ms").isEqualTo(48);
      assertThat(metrics.get(Counter.TIMEOUTS)).isOne();
    }
  }

  @Test
  void aStreamGoesOnWhereChunksAreNotAdjacent() throws Exception {
    try (DiskCache cache = open(config(1))) {
      StoredObject object = object(cache, "key", 10 * MIB);
      StoredObject between = object(cache, "between", MIB);
      int[] ends = {5, 6, 9, 20, 160};
      int first = 0;
      for (int i = 0; i < ends.length; i++) {
        write(cache, object, first, ends[i]);
        write(cache, between, i, i + 1);
        first = ends[i];
      }
      // More often than there is memory, if any were lost.
      for (int i = 0; i < 20; i++) {
        assertThat(stream(cache, object, i, 160)).isEqualTo(160);
      }
    }
  }

  @Test
  void streamsThatAreClosedEarlyKeepNoMemory() throws Exception {
    try (DiskCache cache = open(config(1))) {
      StoredObject object = object(cache, "key", 10 * MIB);
      write(cache, object, 0, 160);
      for (int i = 0; i < 200; i++) {
        ChunkStream stream = cache.stream(new ChunkRange(object, 0, 160));
        if (stream != null) {
          for (int piece = 0; piece < i % 4; piece++) {
            assertThat(stream.next()).as("piece %d", piece).isNotNull();
          }
          stream.close();
        }
      }
      awaitTrue("all of it once more", () -> stream(cache, object, 0, 160) == 160);
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

  @Test
  void objectsWithoutAnETagHaveNoPlace() throws Exception {
    try (DiskCache cache = open(config(1))) {
      ObjectRef ref = new ObjectRef("bucket", "key");
      assertThat(cache.object("store", ObjectVersion.unidentified(ref, 10, null))).isNull();
      assertThat(cache.object("store", ObjectVersion.identified(ref, 0, "\"e\"", null))).isNull();
      assertThat(object(cache, "key", 10)).isSameAs(object(cache, "key", 10));
      assertThat(object(cache, "key", 10)).isNotEqualTo(object(cache, "key", 11));
    }
  }

  @Test
  void closeWaitsABoundedTimeForWhatHangs() throws Exception {
    DiskCache cache = open(config(2));
    StoredObject object = object(cache, "key", 40 * MIB);
    write(cache, object, 0, 100);
    disk.hangEvery(Operation.READ);
    disk.hangEvery(Operation.WRITE);
    Received hanging = start(cache, object, 0, 10);
    cache.offer(TestWriteBack.of(object, 100, 116, 1), new ChunkRange(object, 100, 116));
    disk.awaitHanging(2, PATIENCE);

    Thread closing = Background.start("closing", cache::close);
    assertThat(Background.await(closing, PATIENCE.toMillis())).as("closed").isTrue();

    assertThat(read(cache, object, 20, 30)).as("a read after the end").isEqualTo(End.MISS);
    assertThat(stream(cache, object, 20, 30)).isEqualTo(20);
    disk.heal();
    assertThat(hanging.await()).isNotNull();
    awaitTrue("written or dropped", () -> cache.awaitWritten(Duration.ZERO));
    StoreRig.requireSums(metrics);
  }

  @Test
  @Slow
  void closeDoesNotWaitForFilesThatCannotBeClosed() throws Exception {
    DiskCache cache = open(config(1));
    write(cache, object(cache, "key", MIB), 0, 16);
    disk.hangEvery(Operation.CLOSE);

    Thread closing = Background.start("closing", cache::close);
    assertThat(Background.await(closing, PATIENCE.toMillis())).as("closed").isTrue();
  }
}
