// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static io.s3e.disk.StoreRig.MIB;
import static io.s3e.testing.Eventually.awaitTrue;
import static java.util.function.UnaryOperator.identity;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.disk.FaultyDiskIo.Failure;
import io.s3e.disk.FaultyDiskIo.Operation;
import io.s3e.disk.WriteBack.Piece;
import io.s3e.jvm.Background;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import io.s3e.testing.DiskWrites;
import io.s3e.testing.Pause;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every byte that is offered is written or dropped for a reason, and every piece ends once. */
@Timeout(120)
class AppenderTest {
  private static final int CHUNK = StoredObject.CHUNK_BYTES;
  private static final long CAPACITY = 16 * MIB;

  /** A write that takes longer is taken to hang. */
  private static final Duration HANGS = Duration.ofMillis(2_200);

  /** So long after an offer has found that, a later one takes it for true. */
  private static final Duration SEEN = Duration.ofMillis(150);

  @TempDir Path directory;

  private static @Nullable CacheKey key(boolean encrypted) {
    return encrypted ? CacheKey.random() : null;
  }

  private StoreRig rig() {
    return new StoreRig(directory, CAPACITY, null);
  }

  private static StoredObject mib(String key) {
    return StoredBytes.object(key, MIB);
  }

  @Slow
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatIsOfferedIsWrittenAndReadBack(boolean encrypted) throws Exception {
    long[] sizes = {1, 4095, 4096, 4097, CHUNK - 1, CHUNK, CHUNK + 1, MIB, 5 * MIB + 77};
    try (StoreRig rig = new StoreRig(directory, 64 * MIB, key(encrypted))) {
      for (int pieceChunks : new int[] {1, 3, 100}) {
        for (long size : sizes) {
          StoredObject object = StoredBytes.object("key " + pieceChunks + " " + size, size);
          rig.write(TestWriteBack.of(object, 0, object.chunks(), pieceChunks));

          assertThat(rig.requireRight(object)).isEqualTo(object.chunks());
        }
      }
      rig.requireSums();
      assertThat(rig.counted(Counter.WRITTEN_BYTES)).isEqualTo(rig.counted(Counter.OFFERED_BYTES));
      assertThat(rig.counted(Counter.CORRUPTIONS)).isZero();
    }
  }

  @Test
  void adjacentChunksAreWrittenAtOnce() throws Exception {
    try (StoreRig rig = rig()) {
      rig.write(TestWriteBack.all(mib("key")));

      assertThat(rig.counted(Counter.WRITES)).isOne();
      assertThat(rig.disk.count(Operation.WRITE)).isOne();
    }
  }

  @Test
  void aPartOfAnObjectIsThereAsThatPart() throws Exception {
    try (StoreRig rig = rig()) {
      StoredObject object = mib("key");
      rig.write(TestWriteBack.of(object, 3, 7, 2));

      assertThat(rig.index.presentFrom(object, 3, 16)).isEqualTo(4);
      assertThat(rig.requireRight(object)).isEqualTo(4);
    }
  }

  @Test
  void whatIsThereByNowIsNotWrittenAgain() throws Exception {
    try (StoreRig rig = rig()) {
      StoredObject object = mib("key");
      rig.write(TestWriteBack.of(object, 3, 7, 2));
      rig.write(TestWriteBack.all(object));

      assertThat(rig.counted(Counter.DROPPED_PRESENT_BYTES)).isEqualTo(4 * CHUNK);
      assertThat(rig.counted(Counter.WRITTEN_BYTES)).isEqualTo(16 * CHUNK);
      assertThat(rig.requireRight(object)).isEqualTo(16);
      rig.requireSums();
    }
  }

  @Test
  void piecesThatLeaveMemoryWhileTheyWaitAreDropped() throws Exception {
    try (StoreRig rig = rig()) {
      StoredObject object = mib("key");
      rig.write(TestWriteBack.all(object).withEvicted(0).withEvicted(5).withEvicted(15));

      assertThat(rig.counted(Counter.DROPPED_EVICTED_BYTES)).isEqualTo(3 * CHUNK);
      assertThat(rig.counted(Counter.WRITTEN_BYTES)).isEqualTo(13 * CHUNK);
      assertThat(rig.requireRight(object)).isEqualTo(13);
      assertThat(rig.index.place(object, 5)).isNull();
      rig.requireSums();
    }
  }

  static Stream<Arguments> failures() {
    return Stream.of(Failure.values())
        .flatMap(failure -> Stream.of(1, 2, 5, 9).map(number -> Arguments.of(failure, number)));
  }

  /** A region holds 1 MiB, so that every second offer asks for a new one. */
  @ParameterizedTest(name = "{0} at write {1}")
  @MethodSource("failures")
  void aWriteThatFailsCostsWhatWasLeftOfItsOffer(Failure failure, int number) throws Exception {
    try (StoreRig rig = rig()) {
      rig.disk.failNth(Operation.WRITE, number, failure);
      List<StoredObject> objects = new ArrayList<>();
      for (int i = 0; i < 12; i++) {
        StoredObject object = StoredBytes.object("key " + i, 600_000);
        objects.add(object);
        rig.write(TestWriteBack.of(object, 0, object.chunks(), 2));
      }
      rig.requireSums();

      assertThat(rig.counted(Counter.WRITE_ERRORS)).isOne();
      long dropped = rig.counted(Counter.DROPPED_FAULT_BYTES);
      assertThat(dropped).isPositive();
      if (failure == Failure.EIO || failure == Failure.EACCES) {
        assertThat(dropped).as("dropped for one error").isLessThanOrEqualTo(600_000);
      }
      int there = 0;
      for (StoredObject object : objects) {
        there += rig.requireRight(object);
      }
      assertThat(there).isPositive();
      assertThat(rig.counted(Counter.CORRUPTIONS)).isZero();

      awaitTrue(
          "written again after the failure",
          () -> {
            StoredObject again = mib("again");
            rig.write(TestWriteBack.all(again));
            return rig.requireRight(again) == again.chunks();
          });
      rig.requireSums();
    }
  }

  @ParameterizedTest
  @EnumSource(Failure.class)
  void noRegionCanBeMade(Failure failure) throws Exception {
    try (StoreRig rig = rig()) {
      rig.disk.failEvery(Operation.CREATE, failure);
      for (int i = 0; i < 5; i++) {
        rig.write(TestWriteBack.all(mib("key " + i)));
      }
      rig.requireSums();
      assertThat(rig.counted(Counter.DROPPED_FAULT_BYTES)).isEqualTo(5 * MIB);
      assertThat(rig.counted(Counter.BREAKER_OPENED)).isOne();

      rig.disk.heal();
      awaitTrue(
          "written after all",
          () -> {
            rig.write(TestWriteBack.all(mib("again")));
            return rig.requireRight(mib("again")) >= 0 && rig.counted(Counter.WRITTEN_BYTES) > 0;
          });
      rig.requireSums();
    }
  }

  /** As where the JVM has no memory left, for the line of the log either. */
  @Test
  void anErrorThatCannotBeLoggedDoesNotEndTheWriting() throws Exception {
    PrintStream log = System.err;
    AtomicInteger failed = new AtomicInteger();
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int one) {
            if (Thread.currentThread().getName().equals("s3e-disk-writer")) {
              failed.incrementAndGet();
              throw new OutOfMemoryError("the test's, of the log");
            }
            log.write(one);
          }
        };
    Piece failing =
        new Piece() {
          @Override
          public long start() {
            return 0;
          }

          @Override
          public int length() {
            return CHUNK;
          }

          @Override
          public ByteBuffer pin() {
            throw new OutOfMemoryError("the test's");
          }

          @Override
          public void ended(boolean wasPinned) {}
        };
    try (StoreRig rig = rig()) {
      System.setErr(new PrintStream(full, true, StandardCharsets.UTF_8));
      rig.appender.offer(new WriteBack(mib("lost"), List.of(failing)));
      rig.awaitIdle();
      rig.write(TestWriteBack.all(mib("next")));

      assertThat(rig.requireRight(mib("next"))).isEqualTo(16);
      assertThat(failed).hasPositiveValue();
      StoreRig.requireSums(rig.metrics);
    } finally {
      System.setErr(log);
    }
  }

  @Test
  void aFullDiskIsLeftAloneAtOnce() throws Exception {
    try (StoreRig rig = rig()) {
      rig.disk.failEvery(Operation.WRITE, Failure.ENOSPC);
      rig.write(TestWriteBack.all(mib("key")));

      awaitTrue("the breaker opens", () -> rig.counted(Counter.BREAKER_OPENED) == 1);
      assertThat(rig.counted(Counter.DROPPED_FAULT_BYTES)).isEqualTo(MIB);
    }
  }

  /** The pause of this breaker is a millisecond; an offer that is let pass is a probe. */
  @Test
  void aProbeThatFindsItsChunksThereKeepsNoOtherFromTheDisk() throws Exception {
    try (StoreRig rig = rig()) {
      TestWriteBack there = rig.write(TestWriteBack.all(mib("there")));
      rig.disk.failEvery(Operation.WRITE, Failure.ENOSPC);
      rig.write(TestWriteBack.all(mib("lost")));
      // Not whether it lets others through: its pause is so short that it may be over.
      awaitTrue("the breaker opens", () -> rig.counted(Counter.BREAKER_OPENED) == 1);
      rig.disk.heal();
      awaitTrue("the pause is over", rig.breaker::isDue);
      long written = rig.counted(Counter.WRITTEN_BYTES);
      rig.write(TestWriteBack.all(there.object()));
      awaitTrue("the probe is given back", rig.breaker::isDue);
      rig.write(TestWriteBack.all(mib("new")));
      assertThat(rig.counted(Counter.WRITTEN_BYTES)).isEqualTo(written + MIB);
      assertThat(rig.breaker.allows()).isTrue();
    }
  }

  @Test
  @Slow
  void whatWaitsBehindAHangIsDroppedByALaterOffer() throws Exception {
    try (StoreRig rig = rig()) {
      rig.disk.hangEvery(Operation.WRITE);
      TestWriteBack first = rig.offer(TestWriteBack.all(mib("first")));
      rig.disk.awaitHanging(1, StoreRig.PATIENCE);
      assertThat(first.isEnded()).as("staged, so that its memory is free").isTrue();
      TestWriteBack second = rig.offer(TestWriteBack.all(mib("second")));
      assertThat(second.isEnded()).isFalse();
      Pause.of(HANGS, "the appender's patience with the disk");

      TestWriteBack third = rig.offer(TestWriteBack.all(mib("third")));
      assertThat(third.isEnded()).as("seen for the first time").isFalse();
      Pause.of(SEEN, "the appender's patience with the JVM");
      rig.offer(TestWriteBack.all(mib("fourth")));

      second.requireEndedOnce();
      third.requireEndedOnce();
      // The fourth may have passed as a probe already: the pause is short here.
      assertThat(rig.counted(Counter.DROPPED_FAULT_BYTES)).isBetween(2 * MIB, 3 * MIB);
      assertThat(rig.counted(Counter.BREAKER_OPENED)).isOne();

      // Later ones are let through as probes, and do not wait for ever either.
      for (int i = 0; i < 20; i++) {
        rig.offer(TestWriteBack.all(mib("later " + i)));
        Pause.millis(5, "offers do not come all at once");
      }
      assertThat(rig.appender.waitingBytes.get()).isLessThanOrEqualTo(2 * MIB);

      rig.disk.heal();
      rig.awaitIdle();
      rig.requireSums();
      assertThat(rig.requireRight(first.object())).isEqualTo(16);
    }
  }

  /**
   * The disk is fast: the JVM is paused while it writes, and offers come before the writer runs.
   */
  @Test
  @Slow
  void aPauseOfTheJvmIsNoHang() throws Exception {
    try (StoreRig rig = rig()) {
      rig.disk.hangEvery(Operation.WRITE);
      rig.offer(TestWriteBack.all(mib("first")));
      rig.disk.awaitHanging(1, StoreRig.PATIENCE);
      rig.offer(TestWriteBack.all(mib("second")));
      TestWriteBack third = TestWriteBack.all(mib("third"));
      TestWriteBack fourth = TestWriteBack.all(mib("fourth"));
      Pause.of(HANGS, "a pause of the JVM");
      rig.offer(third);
      rig.offer(fourth);
      rig.disk.heal();
      rig.awaitIdle();

      assertThat(rig.counted(Counter.BREAKER_OPENED)).isZero();
      assertThat(rig.counted(Counter.WRITTEN_BYTES)).isEqualTo(4 * MIB);
      rig.requireSums();
    }
  }

  @Test
  void closeDoesNotWaitForAHang() throws Exception {
    try (StoreRig rig = rig()) {
      rig.disk.hangEvery(Operation.WRITE);
      TestWriteBack first = rig.offer(TestWriteBack.all(mib("first")));
      rig.disk.awaitHanging(1, StoreRig.PATIENCE);
      TestWriteBack second = rig.offer(TestWriteBack.all(mib("second")));

      Thread closing = Background.start("closing", () -> StoreRig.close(rig.appender));
      assertThat(Background.await(closing, StoreRig.PATIENCE.toMillis())).isTrue();

      second.requireEndedOnce();
      assertThat(rig.counted(Counter.DROPPED_CLOSED_BYTES)).isEqualTo(MIB);
      first.requireEndedOnce();
      rig.disk.heal();
      rig.awaitIdle();
      rig.requireSums();
    }
  }

  @Test
  void whatIsOfferedToAClosedCacheIsDropped() throws Exception {
    try (StoreRig rig = rig()) {
      rig.write(TestWriteBack.all(mib("first")));
      StoreRig.close(rig.appender);
      rig.offer(TestWriteBack.all(mib("second"))).requireEndedOnce();

      assertThat(rig.counted(Counter.DROPPED_CLOSED_BYTES)).isEqualTo(MIB);
      rig.requireSums();
    }
  }

  @Test
  void aDiskThatIsTooSlowGetsAPart() throws Exception {
    try (StoreRig rig = new StoreRig(directory, CAPACITY, null, 4 * MIB, identity())) {
      rig.disk.hangEvery(Operation.WRITE);
      for (int i = 0; i < 6; i++) {
        rig.offer(TestWriteBack.all(mib("key " + i)));
      }
      assertThat(rig.appender.waitingBytes.get()).isEqualTo(4 * MIB);
      assertThat(rig.counted(Counter.DROPPED_BEHIND_BYTES)).isEqualTo(2 * MIB);

      rig.disk.heal();
      rig.awaitIdle();
      assertThat(rig.counted(Counter.WRITTEN_BYTES)).isEqualTo(4 * MIB);
      rig.requireSums();
    }
  }

  /** A region may have 10 chunks; all are staged at once. */
  @Test
  void smallObjectsThatARegionHasNoEntriesForGoToTheNext() throws Exception {
    DiskIo disk = new DiskIo();
    Layout layout = Layout.of(CAPACITY, Region.USUAL_COUNT, null);
    ByteBuffer salt = ByteBuffer.allocate(CacheKey.SALT_BYTES);
    Regions.Maker maker =
        new Regions.Maker() {
          @Override
          public Layout layout() {
            return layout;
          }

          @Override
          public Region make(int number) throws IOException {
            Region.Header header = new Region.Header(number, 10, MIB, number, salt);
            return new Region(
                header, header.mostChunks(), disk.createUnlinked(directory), 0, null, null);
          }
        };
    ChunkIndex index = new ChunkIndex();
    DiskMetrics metrics = new DiskMetrics();
    DiskSpace space = new DiskSpace(() -> 80, () -> 100);
    Breaker breaker =
        new Breaker(Duration.ofMillis(1), System::nanoTime, metrics, "Writing of a test");
    Regions regions = new Regions(maker, index, space, metrics);
    Appender appender = new Appender(regions, index, breaker, metrics, MIB);
    for (int i = 0; i < 25; i++) {
      appender.offer(TestWriteBack.all(StoredBytes.object("key " + i, 100)).offered());
    }
    appender.start();
    DiskWrites.await(metrics, StoreRig.PATIENCE);
    for (int i = 0; i < 25; i++) {
      assertThat(index.place(StoredBytes.object("key " + i, 100), 0)).as("%d", i).isNotNull();
    }
    assertThat(metrics.get(Counter.WRITES)).isEqualTo(3);
    StoreRig.close(appender);
  }

  @Test
  void noFileGrowsOnADiskThatIsNearlyFull() throws Exception {
    try (StoreRig rig = rig()) {
      rig.write(TestWriteBack.of(mib("before"), 0, 4, 1));
      long bytes = rig.files.bytes();
      rig.freePercent = 9;
      rig.write(TestWriteBack.all(mib("meanwhile")));
      rig.write(TestWriteBack.all(mib("and more")));

      assertThat(rig.files.bytes()).isEqualTo(bytes);
      assertThat(rig.counted(Counter.DROPPED_SPACE_BYTES)).isEqualTo(2 * MIB);
      assertThat(rig.requireRight(mib("before"))).as("it is read nevertheless").isEqualTo(4);
      rig.requireSums();

      rig.freePercent = 10;
      rig.write(TestWriteBack.of(mib("after"), 0, 4, 1));
      assertThat(rig.counted(Counter.WRITTEN_BYTES)).isEqualTo(8 * CHUNK);
      rig.requireSums();
    }
  }

  /** Anything may happen to anything: the sums hold, and what is read is right. */
  @Slow
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void randomOffersAndFaults(boolean encrypted) throws Exception {
    long seed = Seed.draw();
    Random random = new Random(seed);
    List<StoredObject> objects = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      objects.add(StoredBytes.object("key " + i, 1 + random.nextInt((int) (3 * MIB))));
    }
    try (StoreRig rig = new StoreRig(directory, CAPACITY, key(encrypted), 8 * MIB, identity())) {
      for (int i = 0; i < 150; i++) {
        StoredObject object = objects.get(random.nextInt(objects.size()));
        int first = random.nextInt(object.chunks());
        int end = first + 1 + random.nextInt(object.chunks() - first);
        TestWriteBack offer = TestWriteBack.of(object, first, end, 1 + random.nextInt(9));
        if (random.nextInt(4) == 0) {
          offer.withEvicted(random.nextInt(offer.pieces()));
        }
        rig.offer(offer);
        switch (random.nextInt(12)) {
          case 0 ->
              rig.disk.failNth(
                  random.nextInt(5) == 0 ? Operation.CREATE : Operation.WRITE,
                  1 + random.nextInt(4),
                  Failure.values()[random.nextInt(Failure.values().length)]);
          case 1 -> rig.freePercent = random.nextInt(3) == 0 ? 10 : 80;
          case 2 -> rig.disk.failNth(Operation.READ, 1, Failure.EIO);
          case 3, 4, 5 -> {
            rig.awaitIdle();
            rig.disk.heal();
            rig.requireRight(object);
          }
          default -> {}
        }
      }
      rig.awaitIdle();
      rig.disk.heal();
      for (StoredObject object : objects) {
        assertThat(rig.requireRight(object)).as("seed %d", seed).isEqualTo(rig.known(object));
      }
      rig.requireSums();
      assertThat(rig.files.mostBytes()).as("seed %d", seed).isLessThanOrEqualTo(CAPACITY);
      assertThat(rig.counted(Counter.CORRUPTIONS)).as("seed %d", seed).isZero();
    }
  }
}
