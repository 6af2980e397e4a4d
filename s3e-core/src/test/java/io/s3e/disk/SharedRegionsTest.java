// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.disk.FaultyDiskIo.Failure;
import io.s3e.disk.FaultyDiskIo.Operation;
import io.s3e.disk.SharedRegionsRig.Found;
import io.s3e.jvm.Background;
import io.s3e.metrics.DiskMetrics;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.DiskWrites;
import io.s3e.testing.Eventually;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two processes that are instances of {@link SharedRegionsRig}. */
class SharedRegionsTest {
  @TempDir Path directory;

  private final List<SharedRegionsRig> opened = new ArrayList<>();

  @AfterEach
  void close() {
    opened.forEach(SharedRegionsRig::close);
  }

  private SharedRegionsRig open() throws IOException {
    return open(new DiskIo());
  }

  private SharedRegionsRig open(DiskIo disk) throws IOException {
    SharedRegionsRig rig = new SharedRegionsRig(disk, directory, SharedRegionsRig.CAPACITY, null);
    opened.add(rig);
    return rig;
  }

  private static Found read(SharedRegionsRig rig, String key, int chunk) throws IOException {
    return rig.read(rig.object(key, 64), chunk);
  }

  /** How many chunks of an object the index knows of, from the front. */
  /** How many chunks of the first rounds, of three objects each, are known. */
  private static int knownOfRounds(SharedRegionsRig rig, int rounds) {
    int known = 0;
    for (int round = 1; round <= rounds; round++) {
      for (int i = 0; i < 3; i++) {
        known += known(rig, "round " + round + " " + i);
      }
    }
    return known;
  }

  private static int known(SharedRegionsRig rig, String key) {
    return rig.index.presentFrom(rig.object(key, 64), 0, 64);
  }

  private static void write(SharedRegionsRig rig, String key, int chunks) throws IOException {
    StoredObject object = rig.object(key, 64);
    for (int chunk = 0; chunk < chunks; chunk++) {
      assertThat(rig.append(object, chunk)).isTrue();
    }
  }

  /** Fills so many regions, each with objects named after {@code key} and its number. */
  private static void fill(SharedRegionsRig rig, String key, int regions) throws IOException {
    for (int i = 0; i < regions; i++) {
      write(rig, key + i, SharedRegionsRig.CHUNKS_OF_REGION);
    }
  }

  private long bytesOnDisk() throws IOException {
    return SharedRegionsRig.bytesOnDisk(SharedRegionsRig.instance(directory));
  }

  @Test
  void oneReadsWhatTheOtherAppended() throws IOException {
    SharedRegionsRig one = open();
    SharedRegionsRig other = open();
    write(one, "a", 5);

    assertThat(read(other, "a", 0)).isEqualTo(Found.ABSENT);
    other.refresh();
    for (int chunk = 0; chunk < 5; chunk++) {
      assertThat(read(other, "a", chunk)).isEqualTo(Found.RIGHT);
      assertThat(read(one, "a", chunk)).isEqualTo(Found.RIGHT);
    }
    assertThat(read(other, "a", 5)).isEqualTo(Found.ABSENT);
    write(one, "b", 1);
    assertThat(read(other, "b", 0)).as("not looked at yet").isEqualTo(Found.ABSENT);
    other.refresh();
    assertThat(read(other, "b", 0)).isEqualTo(Found.RIGHT);
  }

  @Test
  void eachAppendsToRegionsOfItsOwn() throws IOException {
    SharedRegionsRig one = open();
    SharedRegionsRig other = open();
    write(one, "a", 5);
    write(other, "b", 5);
    assertThat(one.current().header.number()).isNotEqualTo(other.current().header.number());
    one.refresh();
    other.refresh();
    assertThat(read(one, "b", 4)).isEqualTo(Found.RIGHT);
    assertThat(read(other, "a", 4)).isEqualTo(Found.RIGHT);
  }

  @Test
  void aRestartFindsEverythingAndLeavesItAsItIs() throws IOException {
    SharedRegionsRig before = open();
    write(before, "a", 5);
    int begun = before.current().header.number();
    before.close();
    SharedRegionsRig after = open();
    write(after, "b", 1);
    assertThat(after.current().header.number()).isNotEqualTo(begun);
    fill(after, "new", SharedRegionsRig.REGIONS - 2);
    for (int chunk = 0; chunk < 5; chunk++) {
      assertThat(read(after, "a", chunk)).isEqualTo(Found.RIGHT);
    }
    assertThat(read(after, "b", 0)).isEqualTo(Found.RIGHT);
    fill(after, "more", 1);
    assertThat(after.current().header.number()).as("its turn").isEqualTo(begun);
    assertThat(read(after, "a", 0)).isEqualTo(Found.ABSENT);
  }

  @Test
  void theOldestRegionIsRecycledAndTheCapIsKept() throws IOException {
    SharedRegionsRig one = open();
    SharedRegionsRig other = open();
    fill(one, "first", SharedRegionsRig.REGIONS);
    other.refresh();
    assertThat(read(other, "first0", 0)).isEqualTo(Found.RIGHT);
    sleepAMilli();
    fill(one, "second", SharedRegionsRig.REGIONS / 2);

    assertThat(read(other, "first0", 0)).as("it was not written again").isEqualTo(Found.RIGHT);
    other.refresh();
    for (int i = 0; i < SharedRegionsRig.REGIONS; i++) {
      Found expected = i < SharedRegionsRig.REGIONS / 2 ? Found.ABSENT : Found.RIGHT;
      assertThat(read(other, "first" + i, 3)).as("%d", i).isEqualTo(expected);
      assertThat(read(one, "first" + i, 3)).as("%d", i).isEqualTo(expected);
    }
    assertThat(read(other, "second0", 3)).isEqualTo(Found.RIGHT);
    assertThat(bytesOnDisk()).isLessThanOrEqualTo(SharedRegionsRig.CAPACITY);
    assertThat(one.regions.bytes()).isEqualTo(bytesOnDisk());
    assertThat(one.regions.capacityBytes()).isEqualTo(SharedRegionsRig.CAPACITY);
  }

  @Test
  void aGaugeDoesNotTouchTheDisk() throws IOException {
    SharedRegionsRig one = open();
    fill(one, "first", 2);
    write(one, "a", 3);
    FaultyDiskIo disk = new FaultyDiskIo(new DiskIo());
    SharedRegionsRig other = open(disk);
    disk.failEvery(Operation.OPEN, Failure.EIO);
    long before = disk.count(Operation.OPEN);
    assertThat(other.regions.bytes()).isEqualTo(bytesOnDisk());
    assertThat(disk.count(Operation.OPEN)).isEqualTo(before);
    disk.heal();
    write(one, "b", 1);
    other.refresh();
    assertThat(other.regions.bytes()).isEqualTo(bytesOnDisk());
  }

  private static void sleepAMilli() {
    long now = System.currentTimeMillis();
    while (System.currentTimeMillis() <= now + 1) {
      Thread.onSpinWait();
    }
  }

  @Test
  void whatAnotherHasMadeMeanwhileIsNotGivenUpForWhatItReplaced() throws IOException {
    SharedRegionsRig one = open();
    SharedRegionsRig other = open();
    for (int i = 0; i < SharedRegionsRig.REGIONS; i++) {
      sleepAMilli();
      fill(one, "first" + i + "-", 1);
    }
    one.finish();
    other.refresh();
    fill(one, "again00", 1);
    int recycled = one.current().header.number();
    one.finish();

    fill(other, "other", SharedRegionsRig.REGIONS);
    for (int i = 0; i < SharedRegionsRig.REGIONS; i++) {
      assertThat(SharedRegionsRig.known(other.index, other.object("other" + i, 64)))
          .isEqualTo(SharedRegionsRig.CHUNKS_OF_REGION);
    }
    one.refresh();
    assertThat(read(one, "again000", 0)).as("given up last").isEqualTo(Found.ABSENT);
    assertThat(other.current().header.number()).isEqualTo(recycled);
  }

  @Test
  void aVictimIsReadableUntilItsRegionIsNeeded() throws IOException {
    SharedRegionsRig one = open();
    for (int i = 0; i < SharedRegionsRig.REGIONS; i++) {
      sleepAMilli();
      fill(one, "first" + i + "-", 1);
    }
    assertThat(read(one, "first0-0", 0)).isEqualTo(Found.RIGHT);
    fill(one, "next", 1);
    assertThat(one.current().header.number()).isZero();
    assertThat(read(one, "first0-0", 0)).isEqualTo(Found.ABSENT);
    assertThat(read(one, "first1-0", 0)).isEqualTo(Found.RIGHT);
  }

  @Test
  void whatIsGivenBackIsGoneForAll() throws IOException {
    SharedRegionsRig one = open();
    SharedRegionsRig other = open();
    fill(one, "first", 3);
    one.finish();
    other.refresh();
    one.freePercent = 5;
    for (int left = 2; left >= 0; left--) {
      long before = bytesOnDisk();
      one.regions.giveBackIfScarce();
      assertThat(bytesOnDisk()).as("one at a time").isLessThan(before);
      assertThat(one.regions.bytes() > 0).isEqualTo(left > 0);
    }
    assertThat(bytesOnDisk()).isZero();
    assertThat(other.regions.look(() -> {})).as("others have given back").isTrue();
    assertThat(other.regions.look(() -> {})).isFalse();
    assertThat(read(other, "first0", 0)).isEqualTo(Found.ABSENT);
    assertThat(other.regions.bytes()).isZero();
    assertThat(known(other, "first1")).isZero();
    fill(other, "again", 2);
    one.refresh();
    assertThat(read(one, "again1", 3)).isEqualTo(Found.RIGHT);
  }

  @Test
  void regionsAreFreeForOthersWhileTheirFilesCannotBeClosed() throws Exception {
    FaultyDiskIo disk = new FaultyDiskIo(new DiskIo());
    SharedRegionsRig one = open(disk);
    write(one, "a", 1);
    disk.hangEvery(Operation.CLOSE);
    Thread closing = Background.start("closing", one::close);
    disk.awaitHanging(1, Duration.ofSeconds(20));
    SharedRegionsRig other = open();
    for (int i = 0; i < SharedRegionsRig.REGIONS; i++) {
      assertThat(other.regions.next()).as("%d", i).isNotNull();
    }
    disk.heal();
    assertThat(Background.await(closing, 20_000)).isTrue();
  }

  @Test
  void allNumbersAreTakenBeforeARegionIsGivenUp() throws IOException {
    SharedRegionsRig one = open();
    Set<Integer> numbers = new HashSet<>();
    Integer oldest = null;
    for (int i = 0; i < SharedRegionsRig.REGIONS; i++) {
      Region made = one.regions.next();
      assertThat(made).isNotNull();
      assertThat(numbers.add(made.header.number())).isTrue();
      oldest = oldest == null ? made.header.number() : oldest;
      sleepAMilli();
    }
    assertThat(one.regions.next()).extracting(region -> region.header.number()).isEqualTo(oldest);
  }

  /** Slower than all others: its region is the oldest before it is full. */
  @Test
  void aRegionThatOthersGiveUpIsFilledForItsMakerAlone() throws IOException {
    SharedRegionsRig slow = open();
    write(slow, "slow", 3);
    sleepAMilli();
    SharedRegionsRig other = open();
    assertThat(read(other, "slow", 2)).isEqualTo(Found.RIGHT);
    fill(other, "fast", SharedRegionsRig.REGIONS);
    assertThat(read(other, "slow", 2)).isEqualTo(Found.ABSENT);
    for (int chunk = 3; chunk < SharedRegionsRig.CHUNKS_OF_REGION; chunk++) {
      assertThat(slow.append(slow.object("slow", 64), chunk)).isTrue();
      slow.refresh();
      assertThat(read(slow, "slow", chunk)).isEqualTo(Found.RIGHT);
    }
    slow.finish();
    slow.refresh();
    assertThat(read(slow, "slow", 3)).as("let go").isEqualTo(Found.ABSENT);
    other.refresh();
    assertThat(read(other, "slow", 5)).isEqualTo(Found.ABSENT);
    assertThat(bytesOnDisk()).isLessThanOrEqualTo(SharedRegionsRig.CAPACITY);
  }

  @Test
  void aFileThatFailsDoesNotKeepTheOthersFromBeingRead() throws IOException {
    SharedRegionsRig one = open();
    for (int failing = 1; failing <= 4; failing++) {
      FaultyDiskIo disk = new FaultyDiskIo(new DiskIo());
      SharedRegionsRig other = open(disk);
      int before = knownOfRounds(other, failing);
      fill(one, "round " + failing + " ", 3);
      one.finish();
      disk.failNth(Operation.OPEN, failing, Failure.EIO);
      other.refresh();
      assertThat(knownOfRounds(other, failing) - before)
          .as("look that fails: %d", failing)
          .isGreaterThanOrEqualTo(2 * SharedRegionsRig.CHUNKS_OF_REGION);
      other.refresh();
      assertThat(knownOfRounds(other, failing)).isEqualTo(knownOfRounds(one, failing));

      disk.failEvery(Operation.OPEN, Failure.EIO);
      assertThatThrownBy(other::refresh).hasMessageContaining("Input/output error");
      disk.heal();
      other.refresh();
    }
  }

  @Test
  void aRegionThatCannotBeWrittenIsPassedOver() throws IOException {
    FaultyDiskIo disk = new FaultyDiskIo(new DiskIo());
    SharedRegionsRig one = open(disk);
    disk.failNth(Operation.WRITE, 1, Failure.EIO);
    assertThat(one.regions.next()).extracting(region -> region.header.number()).isEqualTo(1);
    disk.failEvery(Operation.WRITE, Failure.ENOSPC);
    assertThatThrownBy(() -> one.regions.next()).hasMessageContaining("No space left");
    disk.heal();
    assertThat(one.regions.next()).extracting(region -> region.header.number()).isEqualTo(0);
  }

  @Test
  void theFirstOneSetsTheCapacity() throws IOException {
    open();
    try (CapturedLog log = new CapturedLog();
        SharedRegionsRig more =
            new SharedRegionsRig(new DiskIo(), directory, 4 * SharedRegionsRig.CAPACITY, null)) {
      assertThat(more.regions.capacityBytes()).isEqualTo(SharedRegionsRig.CAPACITY);
      assertThat(log.lines("laid out")).as("nobody has set a capacity").isEmpty();
    }
  }

  @Test
  void aCapacityThatIsSetAndNotTakenIsTold() throws IOException {
    open();
    DiskCacheConfig set =
        SharedRegionsRig.config(directory, null).toBuilder()
            .capacityBytes(4 * SharedRegionsRig.CAPACITY)
            .build();
    try (CapturedLog log = new CapturedLog()) {
      SharedInstance more = SharedInstance.enter(new DiskIo(), directory, set, set.capacityBytes());
      assertThat(more.layout().regions()).isEqualTo(SharedRegionsRig.REGIONS);
      assertThat(log.lines("laid out for " + SharedRegionsRig.CAPACITY + " bytes")).hasSize(1);
    }
  }

  /** As a JVM with a larger heap lays it out. */
  @Test
  void ofACacheThatIsTooLargeForTheIndexAPartIsUsed() throws IOException {
    long indexed = SharedRegionsRig.config(directory, null).indexedBytes();
    try (CapturedLog log = new CapturedLog();
        SharedRegionsRig rig = new SharedRegionsRig(new DiskIo(), directory, 4 * indexed, null)) {
      assertThat(rig.regions.capacityBytes()).isBetween(indexed / 2, indexed);
      assertThat(log.lines("a larger heap would allow more")).hasSize(1);
      StoredObject object = rig.object("object", 2);
      assertThat(rig.append(object, 0) && rig.append(object, 1)).isTrue();
      assertThat(rig.read(object, 1)).isEqualTo(Found.RIGHT);
    }
  }

  /** A command with a small heap may be the first; it says nothing of the executors' heap. */
  @Test
  void theLayoutIsOfTheCapacityThatWasSet() throws IOException {
    long indexed = SharedRegionsRig.config(directory, null).indexedBytes();
    DiskCacheConfig config =
        SharedRegionsRig.config(directory, null).toBuilder().capacityBytes(4 * indexed).build();
    for (int i = 0; i < 2; i++) {
      try (CapturedLog log = new CapturedLog();
          DiskCache cache = DiskCache.open(config, new DiskMetrics(), 1 << 20)) {
        assertThat(cache.capacityBytes()).isBetween(indexed / 2, indexed);
        assertThat(log.lines("WARN")).isEmpty();
      }
    }
    assertThat(new CacheInspector(directory).instances())
        .singleElement()
        .satisfies(
            each -> assertThat(each.capacityBytes()).isBetween(7 * indexed / 2, 4 * indexed));
  }

  @Test
  void aCacheThatIsThereIsUsedWhereNoneWouldBeBegun() throws IOException {
    DiskIo full =
        new DiskIo() {
          @Override
          long usableBytes(Path directory) {
            return 1;
          }
        };
    DiskCacheConfig automatic =
        SharedRegionsRig.config(directory, null).toBuilder().capacityBytes(0).build();
    Duration pause = Duration.ofSeconds(5);
    assertThatThrownBy(
            () -> DiskCache.open(automatic, new DiskMetrics(), 1 << 20, full, pause).close())
        .hasMessageContaining("would hold 0 bytes, 5 % of what is free");
    open();
    try (DiskCache cache = DiskCache.open(automatic, new DiskMetrics(), 1 << 20, full, pause)) {
      assertThat(cache.capacityBytes()).isEqualTo(SharedRegionsRig.CAPACITY);
    }
  }

  @Test
  void anotherKeyIsRefused() throws IOException {
    open();
    assertThatThrownBy(() -> encrypted(directory, CacheKey.random()))
        .isInstanceOf(RefusedDirectoryException.class)
        .hasMessageContaining("is not encrypted");
  }

  @Test
  @Slow
  void keysEncryptAndNobodyGoesOnWithWhatAnotherHasBegun() throws IOException {
    CacheKey key = CacheKey.random();
    SharedRegionsRig one = encrypted(directory, key);
    write(one, "a", 3);
    SharedRegionsRig other = encrypted(directory, key);
    assertThat(read(other, "a", 2)).isEqualTo(Found.RIGHT);
    byte[] plain = SharedRegionsRig.bytes(one.object("a", 64), 0).array();
    byte[] file =
        Files.readAllBytes(SharedRegionsRig.fileOf(SharedRegionsRig.instance(directory), 0));
    int table = (int) SharedRegionsRig.tableBytes();
    assertThat(file).hasSize(table + (3 << 16));
    assertThat(Arrays.copyOfRange(file, table, table + plain.length)).isNotEqualTo(plain);
    int begun = one.current().header.number();
    one.close();
    fill(other, "b", SharedRegionsRig.REGIONS - 1);
    assertThat(read(other, "a", 2)).isEqualTo(Found.RIGHT);
    fill(other, "c", 1);
    assertThat(other.current().header.number()).isEqualTo(begun);
    assertThat(read(other, "a", 2)).as("recycled, not resumed").isEqualTo(Found.ABSENT);
    assertThatThrownBy(() -> encrypted(directory, CacheKey.random()))
        .isInstanceOf(RefusedDirectoryException.class)
        .hasMessageContaining("another key");
  }

  private SharedRegionsRig encrypted(Path where, CacheKey key) throws IOException {
    SharedRegionsRig rig =
        new SharedRegionsRig(new DiskIo(), where, SharedRegionsRig.CAPACITY, key);
    opened.add(rig);
    return rig;
  }

  /** Its index may have fewer entries of a region than its table has records. */
  @Test
  void aTableNeverGrowsIntoTheChunks() throws IOException {
    SharedRegionsRig one = new SharedRegionsRig(new DiskIo(), directory, 4L << 30, null);
    opened.add(one);
    int most = Region.mostEntries(SharedInstance.USUAL_COUNT, 64 << 20);
    for (int i = 0; i < most + 200; i++) {
      assertThat(one.append(small(i), 0)).isTrue();
      if (i == 500) {
        // As if others had written the same, which stands in their regions then.
        for (int gone = 100; gone < 400; gone++) {
          assertThat(one.index.drop(one.index.place(small(gone), 0))).isTrue();
        }
      }
    }
    assertThat(one.read(small(0), 0)).isEqualTo(Found.RIGHT);
    assertThat(one.read(small(most + 199), 0)).isEqualTo(Found.RIGHT);
    SharedRegionsRig other = new SharedRegionsRig(new DiskIo(), directory, 4L << 30, null);
    opened.add(other);
    assertThat(other.read(small(most + 199), 0)).as("known to others").isEqualTo(Found.RIGHT);
  }

  private static StoredObject small(int number) {
    return StoredBytes.object("small " + number, 100);
  }

  @Test
  void filesThatCannotBeMadeDoNotCostTheWholeCache() throws IOException {
    FaultyDiskIo disk = new FaultyDiskIo(new DiskIo());
    SharedRegionsRig one = open(disk);
    fill(one, "a", SharedRegionsRig.REGIONS);
    one.finish();
    for (Operation failing : List.of(Operation.CREATE, Operation.WRITE, Operation.DELETE)) {
      disk.failEvery(failing, Failure.EROFS);
      assertThatThrownBy(one.regions::next).as("%s", failing).hasMessageContaining("Read-only");
      disk.heal();
      one.refresh();
    }
    SharedRegionsRig other = open();
    for (SharedRegionsRig each : List.of(one, other)) {
      long left = 0;
      for (int i = 0; i < SharedRegionsRig.REGIONS; i++) {
        left += known(each, "a" + i) > 0 ? 1 : 0;
      }
      assertThat(left).as("regions left").isGreaterThanOrEqualTo(SharedRegionsRig.REGIONS - 2);
    }
  }

  /** The other one finds a file without a header, takes it for broken, and makes its own. */
  @Test
  void aFileThatLosesItsNameBeforeItBeginsIsNotFilled() throws IOException {
    List<SharedRegionsRig> others = new ArrayList<>();
    SharedRegionsRig one =
        open(
            new DiskIo() {
              @Override
              public OpenFile createIn(Path file, Object parent) throws IOException {
                OpenFile created = super.createIn(file, parent);
                writeFirst(others);
                return created;
              }
            });
    requireBothAreShared(one, others);
  }

  @Test
  void aFileThatAnotherMakesMeanwhileKeepsItsName() throws IOException {
    List<SharedRegionsRig> others = new ArrayList<>();
    SharedRegionsRig one =
        open(
            new DiskIo() {
              @Override
              public OpenFile openIn(Path file, Object parent) throws IOException {
                writeFirst(others);
                return super.openIn(file, parent);
              }
            });
    requireBothAreShared(one, others);
  }

  /**
   * Both find a file without a header and delete it; the other one is the first to make its own.
   */
  @Test
  void aBrokenFileThatAnotherReplacesMeanwhileIsTheOthers() throws IOException {
    List<SharedRegionsRig> others = new ArrayList<>();
    SharedRegionsRig one =
        open(
            new DiskIo() {
              @Override
              void delete(Path file) throws IOException {
                super.delete(file);
                writeFirst(others);
              }
            });
    Files.createFile(SharedRegionsRig.fileOf(SharedRegionsRig.instance(directory), 0));
    requireBothAreShared(one, others);
  }

  private static void writeFirst(List<SharedRegionsRig> others) throws IOException {
    for (SharedRegionsRig other : List.copyOf(others)) {
      others.clear();
      write(other, "other", 3);
    }
  }

  private void requireBothAreShared(SharedRegionsRig one, List<SharedRegionsRig> others)
      throws IOException {
    SharedRegionsRig other = open();
    others.add(other);
    write(one, "one", 3);
    assertThat(others).as("that came between").isEmpty();
    assertThat(other.current().header.number()).isZero();
    one.finish();
    one.refresh();
    other.refresh();
    assertThat(read(one, "other", 2)).isEqualTo(Found.RIGHT);
    assertThat(read(other, "one", 2)).isEqualTo(Found.RIGHT);
  }

  /** A clock that was ahead would have its regions outlive all that come after. */
  @Test
  void aRegionOfTheFutureIsNotTheYoungestForEver() throws IOException {
    SharedRegionsRig before = open();
    write(before, "ahead", 3);
    before.close();
    Path file = SharedRegionsRig.fileOf(SharedRegionsRig.instance(directory), 0);
    byte[] bytes = Files.readAllBytes(file);
    Region.Header header = RegionTable.header(ByteBuffer.wrap(bytes));
    ByteBuffer ahead =
        RegionTable.encoded(
            new Region.Header(
                header.number(),
                header.mostChunks(),
                header.regionBytes(),
                header.beganMillis() + 1_000_000_000L,
                header.salt()));
    System.arraycopy(ahead.array(), 0, bytes, 0, RegionTable.RECORD_BYTES);
    Files.write(file, bytes);

    SharedRegionsRig after = open();
    assertThat(read(after, "ahead", 2)).isEqualTo(Found.RIGHT);
    after.refresh();
    sleepAMilli();
    fill(after, "a", SharedRegionsRig.REGIONS);
    assertThat(after.current().header.number()).isZero();
    assertThat(known(after, "a0")).isEqualTo(SharedRegionsRig.CHUNKS_OF_REGION);
  }

  /** As after `s3e cache clear`: each look at the directory makes a file there. */
  @Test
  void aDirectoryThatWasLaidOutAnewIsLookedAtOnceARound() throws IOException {
    AtomicInteger entered = new AtomicInteger();
    SharedRegionsRig old =
        open(
            new DiskIo() {
              @Override
              public OpenFile openIn(Path file, Object parent) throws IOException {
                entered.addAndGet(file.endsWith(Layout.NAME) ? 1 : 0);
                return super.openIn(file, parent);
              }
            });
    fill(old, "old", 5);
    old.finish();
    SharedInstance.delete(new DiskIo(), DirectoryGuard.topIn(directory.toRealPath()));
    long more = 4 * SharedRegionsRig.CAPACITY;
    try (SharedRegionsRig next = new SharedRegionsRig(new DiskIo(), directory, more, null)) {
      fill(next, "new", SharedRegionsRig.REGIONS);
      for (int round = 1; round <= 3; round++) {
        entered.set(0);
        assertThatThrownBy(old::refresh).hasMessageContaining("was laid out anew");
        assertThat(entered).as("round %d", round).hasValue(1);
      }
      assertThat(known(old, "old0")).as("its file is let go").isZero();
      entered.set(0);
      assertThatThrownBy(old.regions::next).hasMessageContaining("was laid out anew");
      assertThat(entered).as("for a region").hasValue(1);
    }
  }

  @Test
  void nothingIsLeftBeyondALayoutOfFewerRegions() throws IOException {
    long more = 4 * SharedRegionsRig.CAPACITY;
    try (SharedRegionsRig before = new SharedRegionsRig(new DiskIo(), directory, more, null)) {
      fill(before, "a", SharedRegionsRig.REGIONS + 4);
    }
    Path instance = SharedRegionsRig.instance(directory);
    assertThat(SharedRegionsRig.fileOf(instance, SharedRegionsRig.REGIONS)).exists();
    Files.writeString(instance.resolve(Layout.NAME), "broken");
    SharedRegionsRig after = open();

    assertThat(after.regions.capacityBytes()).isEqualTo(SharedRegionsRig.CAPACITY);
    assertThat(bytesOnDisk()).isEqualTo(SharedRegionsRig.CAPACITY);
    assertThat(SharedRegionsRig.fileOf(instance, SharedRegionsRig.REGIONS)).doesNotExist();
    assertThat(SharedRegionsRig.fileOf(instance, SharedRegionsRig.REGIONS - 1)).exists();
  }

  /** Of three directories each of three processes leaves out another one. */
  @Test
  void anObjectKeepsItsDirectoryWhereAnotherIsLeftOut() throws Exception {
    DiskCacheConfig config =
        SharedRegionsRig.config(directory, null).toBuilder()
            .directories(Stream.of("a", "b", "c").map(directory::resolve).toList())
            .capacityBytes(SharedRegionsRig.CAPACITY)
            .build();
    List<ChunkRange> objects =
        IntStream.range(0, 30).mapToObj(i -> new ChunkRange(small(i), 0, 1)).toList();
    List<DiskCache> caches = new ArrayList<>();
    try {
      DiskMetrics metrics = new DiskMetrics();
      DiskCache whole = DiskCache.open(config, metrics, SharedRegionsRig.CAPACITY);
      caches.add(whole);
      objects.forEach(each -> whole.offer(TestWriteBack.all(each.object()).offered()));
      DiskWrites.await(metrics, StoreRig.PATIENCE);
      for (int leftOut = 1; leftOut <= 3; leftOut++) {
        FaultyDiskIo disk = new FaultyDiskIo(new DiskIo());
        disk.failNth(Operation.USABLE_BYTES, leftOut, Failure.EIO);
        caches.add(
            DiskCache.open(
                config, new DiskMetrics(), SharedRegionsRig.CAPACITY, disk, Duration.ofSeconds(5)));
      }
      for (ChunkRange each : objects) {
        Eventually.awaitTrue(
            "found by all but the one without its directory",
            () -> caches.stream().mapToInt(cache -> cache.look(each)).sum() == 3);
      }
      // As where a cluster manager names no disk that has failed.
      DiskCache named =
          DiskCache.open(
              config.toBuilder().directories(config.directories().subList(1, 3)).build(),
              new DiskMetrics(),
              SharedRegionsRig.CAPACITY);
      DiskCache failed = caches.get(1);
      caches.add(named);
      Eventually.awaitTrue(
          "found by who knows two of them as by who could not open the first",
          () -> objects.stream().allMatch(each -> named.look(each) == failed.look(each)));
    } finally {
      caches.forEach(DiskCache::close);
    }
  }

  @Test
  void filesArePrivate() throws IOException {
    write(open(), "a", 1);
    Path instance = SharedRegionsRig.instance(directory);
    try (var files = Files.list(instance)) {
      for (Path file : files.toList()) {
        assertThat(
                java.nio.file.attribute.PosixFilePermissions.toString(
                    Files.getPosixFilePermissions(file)))
            .as("%s", file)
            .isEqualTo("rw-------");
      }
    }
  }
}
