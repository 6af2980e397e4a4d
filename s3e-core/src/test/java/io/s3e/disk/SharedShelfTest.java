package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.disk.FaultyDiskIo.Failure;
import io.s3e.disk.FaultyDiskIo.Operation;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import io.s3e.testing.Eventually;
import io.s3e.testing.ForkedJvm;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One directory for several processes: who keeps it, and that it stays within its bounds. */
class SharedShelfTest {
  private static final long MIB = 1 << 20;
  private static final long FILE = MIB + 4096;

  @TempDir Path directory;

  private final FaultyDiskIo disk = new FaultyDiskIo(new NioDiskIo());
  private final DiskMetrics metrics = new DiskMetrics();
  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    disk.heal();
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private CacheRoot root() throws IOException {
    CacheRoot root = CacheRoot.open(directory, CacheTenant.config(directory, Scope.HOST, 64 * MIB));
    open.add(root);
    return root;
  }

  private SharedShelf shelf(CacheRoot root, long capacity) {
    DiskCacheConfig config = CacheTenant.config(directory, Scope.HOST, capacity);
    SharedShelf shelf = new SharedShelf(disk, root, config, metrics);
    open.add(shelf);
    return shelf;
  }

  private static Housekeeping housekeeping(
      DiskIo disk, CacheRoot root, long capacity, DiskMetrics metrics) {
    DiskCacheConfig config = CacheTenant.config(root.instance(), Scope.HOST, capacity);
    return new Housekeeping(disk, root, new CacheSpace(disk, root.instance(), config), metrics);
  }

  /** A file as long as a whole disk block's; what is in it does not matter here. */
  private static Path store(CacheRoot root, DiskBlockId id) throws IOException {
    Path file = new BlockFiles(new NioDiskIo(), root.instance(), root.ownerId(), null).pathOf(id);
    Files.createDirectories(file.getParent());
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(FILE);
    }
    return file;
  }

  private static void date(Path file, long writtenMillis, long usedMillis) throws IOException {
    Files.getFileAttributeView(file, BasicFileAttributeView.class)
        .setTimes(FileTime.fromMillis(writtenMillis), FileTime.fromMillis(usedMillis), null);
  }

  private static long bytesIn(Path directory) throws IOException {
    long bytes = 0;
    try (Stream<Path> found = Files.walk(directory)) {
      for (Path path : found.toList()) {
        bytes += Files.isRegularFile(path) ? Files.size(path) : 0;
      }
    } catch (UncheckedIOException e) {
      // Somebody deleted a file meanwhile.
      return 0;
    }
    return bytes;
  }

  private static DiskBlockId block(int index) {
    return Chunks.block("object", 1L << 40, index);
  }

  @Nested
  class Contract extends ShelfContract {
    private CacheRoot mine;

    @Override
    Shelf open(long capacityBytes) throws IOException {
      mine = root();
      // Half of what is free is granted, to one process and a newcomer.
      SharedShelf shelf = shelf(mine, capacityBytes * 4);
      try {
        Eventually.awaitTrue("something is granted", () -> shelf.hasRoomFor(1));
      } catch (Exception e) {
        throw new IOException(e);
      }
      return shelf;
    }

    @Override
    void store(DiskBlockId id, long bytesOnDisk) {
      // It never looks at the disk.
    }
  }

  @Test
  void theFirstProcessIsInChargeAndMayWriteSoon() throws Exception {
    SharedShelf shelf = shelf(root(), 64 * MIB);
    Eventually.awaitTrue("room", () -> shelf.hasRoomFor(FILE));
    assertThat(shelf.janitor().isInCharge()).isTrue();
    assertThat(shelf.hasRoomFor(17 * MIB)).isFalse();
  }

  @Test
  void twoEnginesOfOneJvmShareOneJanitorAndOneGrant() throws Exception {
    CacheRoot first = root();
    CacheRoot second = root();
    SharedShelf one = shelf(first, 64 * MIB);
    SharedShelf two = shelf(second, 64 * MIB);
    assertThat(one.janitor()).isSameAs(two.janitor());
    Eventually.awaitTrue("room", () -> one.hasRoomFor(10 * MIB));
    assertThat(one.hasRoomFor(10 * MIB)).isTrue();
    one.written(block(0), 1, 10 * MIB);
    assertThat(two.bytes()).isEqualTo(10 * MIB);
    assertThat(two.hasRoomFor(10 * MIB)).isFalse();
    one.close();
    first.close();
    assertThat(two.janitor().isInCharge()).isTrue();
    Eventually.awaitTrue("still passing", () -> two.hasRoomFor(10 * MIB));
  }

  @Test
  void evictsDownToTheLowWatermarkAndCounts() throws IOException {
    CacheRoot root = root();
    for (int i = 0; i < 400; i++) {
      date(store(root, block(i)), 1000 + i, 0);
    }
    Publication publication = housekeeping(disk, root, 400 * MIB, metrics).pass(new Grants());
    assertThat(publication.bytes())
        .isBetween(358 * MIB, 360 * MIB)
        .isEqualTo(bytesIn(root.blocks()));
    assertThat(metrics.get(Counter.EVICTIONS)).isEqualTo(400 - publication.bytes() / FILE);
    assertThat(metrics.get(Counter.EVICTED_BYTES)).isEqualTo(400 * FILE - publication.bytes());
    BlockFiles files = new BlockFiles(disk, root.instance(), root.ownerId(), null);
    assertThat(files.pathOf(block(0))).doesNotExist();
    assertThat(files.pathOf(block(399))).exists();
    assertThat(publication.grants()).containsOnlyKeys(root.ownerId());
    assertThat(Housekeeping.read(disk, root)).isEqualTo(publication);
    assertThat(root.tmp()).isEmptyDirectory();
  }

  @Test
  void usedFilesSurviveAFloodOfNeverReadOnes() throws Exception {
    CacheRoot root = root();
    SharedShelf shelf = shelf(root, 64 * MIB);
    List<Path> used = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      used.add(store(root, block(i)));
      date(used.get(i), 1000, 0);
      shelf.used(block(i));
    }
    Housekeeping housekeeping = housekeeping(disk, root, 100 * MIB, metrics);
    for (int flood = 0; flood < 5; flood++) {
      for (int i = 0; i < 60; i++) {
        date(store(root, block(1000 + 60 * flood + i)), 2000L + 60 * flood + i, 0);
      }
      housekeeping.pass(new Grants());
    }
    assertThat(used).allMatch(Files::exists);
    assertThat(metrics.get(Counter.EVICTIONS)).isGreaterThan(200);
  }

  @Test
  void aUseIsNotedOnceAMinute() throws IOException {
    CacheRoot root = root();
    SharedShelf shelf = shelf(root, 64 * MIB);
    Path file = store(root, block(0));
    date(file, 1000, 0);
    for (int i = 0; i < 10; i++) {
      shelf.used(block(0));
    }
    assertThat(disk.count(Operation.MARK_USED)).isEqualTo(1);
    assertThat(disk.list(file.getParent()).get(0).usedMillis()).isGreaterThan(1000);
    disk.failEvery(Operation.MARK_USED, Failure.EIO);
    shelf.used(block(1));
  }

  @Test
  void sweepsWhatKilledProcessesLeft() throws Exception {
    CacheRoot root = root();
    try (ForkedJvm process = ForkedJvm.start(CacheTenant.class, directory.toString(), "HOST")) {
      String owner = process.await("owner");
      process.await("in charge");
      Housekeeping housekeeping = housekeeping(disk, root, 64 * MIB, metrics);
      assertThat(housekeeping.sweep()).containsExactlyInAnyOrder(owner, root.ownerId());
      assertThat(root.tmp()).isNotEmptyDirectory();
      assertThat(root.claims()).isNotEmptyDirectory();

      process.kill();
      assertThat(housekeeping(disk, root, 64 * MIB, metrics).sweep())
          .containsExactly(root.ownerId());
      assertThat(root.tmp()).isEmptyDirectory();
      assertThat(root.claims()).isEmptyDirectory();
      assertThat(disk.list(root.owners())).hasSize(1);
    }
  }

  @Test
  void temporariesOfTheLivingStayUntilTheyAreOld() throws IOException {
    CacheRoot root = root();
    Path young = Files.createFile(root.tmp().resolve(root.ownerId() + ".1"));
    Path old = Files.createFile(root.tmp().resolve(root.ownerId() + ".2"));
    Path noOnes = Files.createFile(root.tmp().resolve("whatever"));
    Path full = Files.createDirectories(root.tmp().resolve("directory/in"));
    Files.setLastModifiedTime(old, FileTime.fromMillis(System.currentTimeMillis() - 61_000));
    housekeeping(disk, root, 64 * MIB, metrics).sweep();
    assertThat(young).exists();
    assertThat(full).exists();
    assertThat(old).doesNotExist();
    assertThat(noOnes).doesNotExist();
  }

  @Test
  void anotherProcessTakesOverWhenTheJanitorIsKilled() throws Exception {
    try (ForkedJvm killed = ForkedJvm.start(CacheTenant.class, directory.toString(), "HOST")) {
      String dead = killed.await("owner");
      killed.await("in charge");
      CacheRoot root = root();
      SharedShelf shelf = shelf(root, 64 * MIB);
      Eventually.awaitTrue("the newcomer gets a share", () -> shelf.hasRoomFor(FILE));
      assertThat(shelf.janitor().isInCharge()).isFalse();

      killed.kill();
      Eventually.awaitTrue("this one is in charge", () -> shelf.janitor().isInCharge());
      Eventually.awaitTrue(
          "the dead one has no share",
          () -> {
            Publication publication = Housekeeping.read(disk, root);
            return publication != null
                && publication.grants().containsKey(root.ownerId())
                && !publication.grants().containsKey(dead);
          });
      assertThat(root.tmp()).isEmptyDirectory();
      assertThat(root.claims()).isEmptyDirectory();
      Eventually.awaitTrue("it may write", () -> shelf.hasRoomFor(FILE));
    }
  }

  @Test
  void aDeletedDirectoryIsLaidOutAgain() throws Exception {
    CacheRoot root = root();
    SharedShelf shelf = shelf(root, 64 * MIB);
    Eventually.awaitTrue("room", () -> shelf.hasRoomFor(FILE));
    Leavings.remove(root.instance());
    Eventually.awaitTrue(
        "the layout is back",
        () -> root.blocks().toFile().isDirectory() && Housekeeping.read(disk, root) != null);
    Eventually.awaitTrue(
        "in charge and with room", () -> shelf.janitor().isInCharge() && shelf.hasRoomFor(FILE));
    DiskBlockId id = block(7);
    new BlockFiles(disk, root.instance(), root.ownerId(), null)
        .write(id, Chunks.all(id), ByteBuffer.allocateDirect(BlockFiles.READ_SCRATCH_BYTES));
  }

  @Test
  void aFailingDiskIsCountedAndLeftAloneUntilItWorks() throws Exception {
    CacheRoot root = root();
    disk.failEvery(Operation.LIST, Failure.EIO);
    SharedShelf shelf = shelf(root, 64 * MIB);
    Eventually.awaitTrue("a failure", () -> metrics.get(Counter.READ_ERRORS) > 0);
    assertThat(shelf.hasRoomFor(1)).isFalse();
    disk.heal();
    Eventually.awaitTrue("room", () -> shelf.hasRoomFor(FILE));
  }

  @Test
  void aReadOnlyDiskGetsNoGrants() throws Exception {
    CacheRoot root = root();
    disk.failEvery(Operation.CREATE, Failure.EROFS);
    disk.failEvery(Operation.DELETE, Failure.EROFS);
    disk.failEvery(Operation.RENAME, Failure.EROFS);
    SharedShelf shelf = shelf(root, 64 * MIB);
    Eventually.awaitTrue("a failure", () -> metrics.get(Counter.READ_ERRORS) > 0);
    assertThat(shelf.hasRoomFor(1)).isFalse();
  }

  @Test
  void aFullDiskIsEvictedFromBeforeAnythingIsWritten() throws IOException {
    CacheRoot root = root();
    for (int i = 0; i < 100; i++) {
      date(store(root, block(i)), 1000 + i, 0);
    }
    disk.failEvery(Operation.CREATE, Failure.ENOSPC);
    Housekeeping housekeeping = housekeeping(disk, root, 50 * MIB, metrics);
    try {
      housekeeping.pass(new Grants());
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("No space left");
    }
    assertThat(bytesIn(root.blocks())).isLessThanOrEqualTo(45 * MIB);
  }

  @Test
  void filesThatCannotBeDeletedEndThePass() throws IOException {
    CacheRoot root = root();
    for (int i = 0; i < 100; i++) {
      store(root, block(i));
    }
    Housekeeping housekeeping = housekeeping(disk, root, 50 * MIB, metrics);
    disk.failEvery(Operation.DELETE, Failure.EROFS);
    try {
      housekeeping.pass(new Grants());
      throw new AssertionError("passed");
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("Read-only");
    }
    assertThat(Housekeeping.read(disk, root)).isNull();
  }

  @Test
  void closingDoesNotWaitForAHungDisk() throws Exception {
    CacheRoot root = root();
    disk.hangEvery(Operation.LIST);
    SharedShelf shelf = shelf(root, 64 * MIB);
    disk.awaitHanging(1, Duration.ofSeconds(30));
    assertThat(shelf.hasRoomFor(1)).isFalse();
    long begin = System.nanoTime();
    shelf.close();
    root.close();
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(20));
    assertThat(disk.hanging()).isEqualTo(1);
  }
}
