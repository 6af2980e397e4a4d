// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.disk.DiskIo.OpenFile;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import io.s3e.testing.DiskWrites;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One private directory without its reading threads: what is offered is written by the appending
 * thread and read back by the test's. The disk may fail, and its free space is the test's to say.
 */
final class StoreRig implements AutoCloseable {
  static final Duration PATIENCE = Duration.ofSeconds(20);
  static final long MIB = 1 << 20;

  final WatchedFiles files = new WatchedFiles();
  final FaultyDiskIo disk;
  final DiskMetrics metrics = new DiskMetrics();
  final ChunkIndex index = new ChunkIndex();
  final Regions regions;
  final Breaker breaker;
  final Appender appender;
  final ChunkReader reader;
  private final List<TestWriteBack> offers = new ArrayList<>();

  /** How much of the file system is free, in percent. */
  volatile long freePercent = 80;

  /**
   * @param below what a test puts between the disk and the files that it watches
   */
  StoreRig(
      Path directory,
      long capacityBytes,
      @Nullable CacheKey key,
      long mostWaitingBytes,
      UnaryOperator<OpenFile> below) {
    disk = new FaultyDiskIo(new DiskIo(), file -> files.apply(below.apply(file)));
    Layout layout = Layout.of(capacityBytes, Region.USUAL_COUNT, key);
    regions =
        new Regions(
            new PrivateRegions(disk, directory, key, layout, Region.MOST_ENTRIES),
            index,
            new DiskSpace(() -> freePercent, () -> 100),
            metrics);
    boolean sealed = key != null;
    breaker = new Breaker(Duration.ofMillis(1), System::nanoTime, metrics, "Writing of a test");
    reader = new ChunkReader(index, metrics, sealed);
    appender = new Appender(regions, index, breaker, metrics, mostWaitingBytes);
    appender.start();
  }

  StoreRig(Path directory, long capacityBytes, @Nullable CacheKey key) {
    this(directory, capacityBytes, key, 64 * MIB, UnaryOperator.identity());
  }

  TestWriteBack offer(TestWriteBack offered) {
    offers.add(offered);
    appender.offer(offered.offered());
    return offered;
  }

  /** Waits until all offers are written or dropped. */
  void awaitIdle() throws InterruptedException {
    awaitTrue("written or dropped", PATIENCE, () -> appender.waitingBytes.get() == 0);
  }

  TestWriteBack write(TestWriteBack offered) throws InterruptedException {
    offer(offered);
    awaitIdle();
    return offered;
  }

  /** Reads what is there of an object and compares it; how many chunks that are. */
  int requireRight(StoredObject object) throws IOException {
    int there = 0;
    for (int chunk = 0; chunk < object.chunks(); chunk++) {
      int end =
          reader.read(
              object,
              chunk,
              object.chunks(),
              (number, bytes) -> {
                StoredBytes.require(object, number, bytes);
                return true;
              });
      there += end - chunk;
      chunk = end;
    }
    return there;
  }

  /** How many chunks of an object the index knows of. */
  int known(StoredObject object) {
    int known = 0;
    for (int chunk = 0; chunk < object.chunks(); chunk++) {
      known += index.place(object, chunk) == null ? 0 : 1;
    }
    return known;
  }

  long counted(Counter counter) {
    return metrics.get(counter);
  }

  /** Every byte that was offered is written or dropped for a reason, and every piece has ended. */
  void requireSums() {
    requireSums(metrics);
    offers.forEach(TestWriteBack::requireEndedOnce);
    assertThat(counted(Counter.OFFERED_BYTES))
        .isEqualTo(offers.stream().mapToLong(TestWriteBack::bytes).sum());
    assertThat(appender.waitingBytes).hasValue(0);
  }

  static void requireSums(DiskMetrics metrics) {
    assertThat(DiskWrites.waitingBytes(metrics))
        .as("neither written nor dropped, of what was offered; %s", metrics.snapshot())
        .isZero();
  }

  /** As a cache ends: soon, though its disk may hang. */
  static void close(Appender appender) {
    appender.stop();
    appender.awaitEnd(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500));
  }

  @Override
  public void close() {
    disk.heal();
    appender.stop();
    appender.awaitEnd(System.nanoTime() + TimeUnit.SECONDS.toNanos(30));
    assertThat(files.open()).as("files left open").isZero();
    assertThat(files.closedTwice()).as("files closed twice").isZero();
  }
}
