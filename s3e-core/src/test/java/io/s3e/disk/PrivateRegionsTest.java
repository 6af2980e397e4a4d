// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static io.s3e.disk.StoreRig.MIB;
import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.disk.FaultyDiskIo.Failure;
import io.s3e.disk.FaultyDiskIo.Operation;
import io.s3e.disk.Region.Place;
import io.s3e.jvm.Background;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Private regions: which chunks they keep, and that they never take one for another. */
@Timeout(120)
class PrivateRegionsTest {
  /** 16 regions of 1 MiB. */
  private static final long CAPACITY = 16 * MIB;

  @TempDir Path directory;

  private StoreRig rig() {
    return new StoreRig(directory, CAPACITY, null);
  }

  private static StoredObject mib(String key) {
    return StoredBytes.object(key, MIB);
  }

  private static void fill(StoreRig rig, String key, int objects) throws InterruptedException {
    for (int i = 0; i < objects; i++) {
      rig.write(TestWriteBack.all(mib(key + i)));
    }
  }

  private static int known(StoreRig rig, String key, int objects) {
    int known = 0;
    for (int i = 0; i < objects; i++) {
      known += rig.known(mib(key + i));
    }
    return known / mib("any").chunks();
  }

  @Test
  void theOldestGoFirst() throws Exception {
    try (StoreRig rig = rig()) {
      fill(rig, "key ", 40);

      for (int i = 0; i < 40; i++) {
        assertThat(rig.requireRight(mib("key " + i))).as("of %d", i).isEqualTo(i < 24 ? 0 : 16);
      }
      assertThat(rig.files.open()).isEqualTo(16);
      assertThat(rig.files.bytes()).isEqualTo(CAPACITY);
      assertThat(rig.regions.bytes()).isEqualTo(CAPACITY);
      assertThat(rig.counted(Counter.EVICTIONS)).isEqualTo(24);
      assertThat(rig.counted(Counter.EVICTED_BYTES)).isEqualTo(24 * MIB);
      rig.requireSums();
    }
  }

  @Test
  void noRegionIsMadeOnADiskThatIsNearlyFull() throws Exception {
    try (StoreRig rig = rig()) {
      fill(rig, "before ", 4);
      rig.freePercent = 14;
      fill(rig, "after ", 12);

      assertThat(rig.files.open()).isEqualTo(4);
      assertThat(rig.files.bytes()).isEqualTo(4 * MIB);
      assertThat(known(rig, "before ", 4) + known(rig, "after ", 12)).isBetween(2, 4);
      assertThat(known(rig, "after ", 12)).as("in place of older ones").isPositive();
      rig.requireSums();
    }
  }

  @Slow
  @Test
  void spaceIsGivenBackWhereOthersNeedItOldestFirst() throws Exception {
    try (StoreRig rig = rig()) {
      fill(rig, "key ", 6);
      rig.freePercent = 9;
      awaitTrue("given back", () -> rig.regions.bytes() <= MIB);
      assertThat(rig.files.bytes()).isEqualTo(rig.regions.bytes());
      assertThat(known(rig, "key ", 5)).as("all but what is being filled").isZero();
      assertThat(rig.requireRight(mib("key 5"))).isEqualTo(16);

      rig.freePercent = 80;
      fill(rig, "again ", 6);
      assertThat(known(rig, "again ", 6)).isEqualTo(6);
      for (int i = 0; i < 6; i++) {
        assertThat(rig.requireRight(mib("again " + i))).isEqualTo(16);
      }
      rig.requireSums();
    }
  }

  @Test
  void nothingIsMadeWhereThereIsNoSpaceFromTheStart() throws Exception {
    try (StoreRig rig = rig()) {
      rig.freePercent = 14;
      fill(rig, "key ", 3);

      assertThat(rig.files.opened()).isZero();
      assertThat(rig.counted(Counter.DROPPED_SPACE_BYTES)).isEqualTo(3 * MIB);
      rig.requireSums();
    }
  }

  /** The hard cap: whatever is offered, read, refused or broken meanwhile. */
  @Slow
  @Test
  void theFilesNeverGrowBeyondTheCap() throws Exception {
    long seed = Seed.draw();
    Random random = new Random(seed);
    for (int round = 0; round < 6; round++) {
      long capacity = 16 * MIB + random.nextInt((int) (24 * MIB));
      Path below = Files.createDirectory(directory.resolve("round " + round));
      try (StoreRig rig = new StoreRig(below, capacity, null)) {
        assertThat(rig.regions.capacityBytes()).as("seed %d", seed).isLessThanOrEqualTo(capacity);
        for (int i = 0; i < 80; i++) {
          StoredObject object =
              StoredBytes.object("key " + random.nextInt(200), 1 + random.nextInt(1_500_000));
          rig.offer(TestWriteBack.all(object));
          if (random.nextInt(6) == 0) {
            rig.disk.failNth(Operation.WRITE, 1 + random.nextInt(3), Failure.EIO);
          }
          if (random.nextInt(3) == 0) {
            rig.awaitIdle();
            rig.requireRight(object);
          }
          assertThat(rig.files.mostBytes()).as("seed %d", seed).isLessThanOrEqualTo(capacity);
          assertThat(rig.regions.bytes()).as("seed %d", seed).isLessThanOrEqualTo(capacity);
        }
        rig.awaitIdle();
        rig.requireSums();
        assertThat(rig.files.mostBytes()).as("seed %d", seed).isLessThanOrEqualTo(capacity);
      }
    }
  }

  @Test
  void aRegionOfManySmallObjectsIsFullBeforeItsSpaceIs() {
    long tenGib = 10L << 30;
    long regionBytes = Region.bytesFor(tenGib, Region.USUAL_COUNT);
    int regions = (int) (tenGib / regionBytes);
    int most = Region.mostEntries(regions, regionBytes);
    assertThat((long) most * regions * 54)
        .as("heap of the index")
        .isBetween(28_000_000L * 9 / 10, 28_000_000L);
    assertThat(most).as("all whole chunks fit").isGreaterThan((int) (regionBytes / 65_536));
    assertThat(Region.mostEntries(512, 2L << 30)).isEqualTo(32_768);
    assertThat(Region.mostEntries(16, MIB)).as("a slot each").isEqualTo(256);
  }

  /** As of a host with many disks, all of which YARN names to each of its tasks. */
  @ParameterizedTest
  @EnumSource(names = {"PRIVATE", "HOST"})
  void theIndexOfManyDirectoriesOfSmallObjectsHasRoomInTheHeap(Scope scope) throws Exception {
    int count = 48;
    DiskCacheConfig config =
        DiskCacheConfig.DEFAULTS.toBuilder()
            .mode(Mode.DISK)
            .directories(Collections.nCopies(count, directory))
            .scope(scope)
            .capacityBytes(16L << 30)
            .build();
    RegionStore store = ended(config, new DiskIo());
    try (Region region = store.regions.next()) {
      long regions = store.regions.capacityBytes() / region.header.regionBytes();
      assertThat(count * regions * region.mostEntries * ChunkIndex.ENTRY_BYTES)
          .as("heap of the index of all directories")
          .isBetween(1L, Runtime.getRuntime().maxMemory() / 16);
    }
  }

  /** Each region is an open file: those of a large cache would leave none for connections. */
  @ParameterizedTest
  @EnumSource(names = {"PRIVATE", "HOST"})
  void theRegionsOfAllDirectoriesLeaveFilesForConnections(Scope scope) throws Exception {
    DiskIo few =
        new DiskIo() {
          @Override
          long mostOpenFiles() {
            return 96;
          }
        };
    DiskCacheConfig config =
        DiskCacheConfig.DEFAULTS.toBuilder()
            .mode(Mode.DISK)
            .directories(Collections.nCopies(3, directory))
            .scope(scope)
            .capacityBytes(64 * MIB)
            .build();
    try (CapturedLog log = new CapturedLog()) {
      RegionStore store = ended(config, few);
      try (Region region = store.regions.next()) {
        assertThat(store.regions.capacityBytes() / region.header.regionBytes())
            .as("a quarter of 96 files for three directories")
            .isEqualTo(8);
      }
      long capacity = store.regions.capacityBytes();
      if (scope == Scope.PRIVATE) {
        assertThat(capacity).as("in longer regions").isEqualTo(64 * MIB);
      } else {
        assertThat(capacity).as("of a layout that others have too").isEqualTo(8 * MIB);
        assertThat(log.lines("a higher limit of open files would allow more")).hasSize(1);
      }
    }
    assertThat(new DiskIo().mostOpenFiles()).as("of this JVM").isGreaterThanOrEqualTo(64L);
  }

  /** Opened, and left to the caller's thread by its own. */
  private RegionStore ended(DiskCacheConfig config, DiskIo io) throws IOException {
    RegionStore store =
        new RegionStore(
            directory,
            config,
            new RecentChunks(),
            new DiskMetrics(),
            io,
            Duration.ofSeconds(5),
            MIB);
    store.stop();
    store.awaitEnd(System.nanoTime() + StoreRig.PATIENCE.toNanos());
    return store;
  }

  @Test
  void whatHasNoEntryLeftGoesToTheNextRegion() throws Exception {
    ChunkIndex index = new ChunkIndex();
    Region region = StoredBytes.region(index, 0, MIB, 3);
    for (int i = 0; i < 5; i++) {
      Place place = new Place(mib("key " + i), 0, region, i, 1, 0);
      assertThat(index.add(place)).isEqualTo(i < 3);
    }
    assertThat(region.isFullWith(0)).isTrue();
    assertThat(index.place(mib("key 2"), 0)).isNotNull();
    assertThat(index.place(mib("key 3"), 0)).isNull();
  }

  @Test
  void regionsAreAsLongAsTheCapSays() {
    assertThat(Region.bytesFor(16 * MIB, 16)).isEqualTo(MIB);
    assertThat(Region.bytesFor(16 * MIB + 4096 * 16, 16)).isEqualTo(MIB + 4096);
    assertThat(Region.bytesFor(16 * MIB + 4095 * 16, 16)).isEqualTo(MIB);
    assertThat(Region.bytesFor(4096 * MIB, 16)).isEqualTo(256 * MIB);
    assertThat(Region.bytesFor(128L << 30, 16)).isEqualTo(256 * MIB);
    assertThat(Region.bytesFor(1L << 40, 16)).as("of 512, for 1 TiB").isEqualTo(2L << 30);
    assertThat(Region.bytesFor(1L << 50, 16)).as("the longest").isEqualTo(16L << 30);
  }

  @Test
  void filesThatCannotBeMadeDoNotCostTheWholeCache() throws Exception {
    try (StoreRig rig = rig()) {
      fill(rig, "key ", 16);
      rig.disk.failEvery(Operation.CREATE, Failure.EROFS);
      rig.write(TestWriteBack.all(mib("more")));

      assertThat(known(rig, "key ", 16)).isGreaterThanOrEqualTo(15);
      rig.requireSums();
    }
  }

  @Test
  void aRegionThatIsGivenUpIsClosedByItsLastReaderAndHoldsUpNobody() throws Exception {
    try (StoreRig rig = rig()) {
      fill(rig, "key ", 1);
      rig.disk.hangEvery(Operation.READ);
      FutureTask<Integer> read = new FutureTask<>(() -> rig.requireRight(mib("key 0")));
      Background.start("a reader", read);
      rig.disk.awaitHanging(1, StoreRig.PATIENCE);
      fill(rig, "more ", 16);

      assertThat(rig.counted(Counter.WRITTEN_BYTES)).isEqualTo(17 * MIB);
      assertThat(rig.counted(Counter.EVICTIONS)).isOne();
      assertThat(rig.files.open()).as("with the one that is read").isEqualTo(17);
      rig.disk.heal();
      assertThat(read.get(20, TimeUnit.SECONDS)).as("what it was reading").isEqualTo(4);
      assertThat(rig.files.open()).isEqualTo(16);
      rig.requireSums();
    }
  }

  @Test
  void nothingHasANameInTheDirectory() throws Exception {
    try (StoreRig rig = rig()) {
      fill(rig, "key ", 20);
      assertThat(names()).isZero();
    }
    assertThat(names()).isZero();
  }

  private long names() throws IOException {
    try (Stream<Path> names = Files.list(directory)) {
      return names.count();
    }
  }

  @Test
  void aClosedCacheMakesNoMoreFiles() throws Exception {
    StoreRig rig = rig();
    rig.write(TestWriteBack.all(mib("key")));
    rig.close();

    assertThat(rig.files.open()).isZero();
    rig.offer(TestWriteBack.all(mib("more"))).requireEndedOnce();
    assertThat(rig.files.open()).isZero();
    assertThat(rig.reader.read(mib("key"), 0, 1, (chunk, bytes) -> true))
        .as("a read of what is known but closed")
        .isZero();
  }
}
