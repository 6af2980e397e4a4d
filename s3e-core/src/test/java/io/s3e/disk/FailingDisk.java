// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.metrics.DiskMetrics;
import java.io.IOException;
import java.time.Duration;
import java.util.stream.Stream;

/** A disk that a test outside of this package lets fail under the cache of an engine. */
public final class FailingDisk implements AutoCloseable {
  private final FaultyDiskIo io = new FaultyDiskIo(new DiskIo());

  /** One thing that goes wrong with one kind of operation. */
  public static final class Fault {
    private final FaultyDiskIo.Operation operation;
    private final FaultyDiskIo.Failure failure;

    private Fault(FaultyDiskIo.Operation operation, FaultyDiskIo.Failure failure) {
      this.operation = operation;
      this.failure = failure;
    }

    /** Whether it ends only when the disk is healed. */
    public boolean hangs() {
      return failure == null;
    }

    /** Whether reads and writes that go on for a while cannot but meet it. */
    public boolean isInTheWay(Scope scope) {
      return switch (operation) {
        case READ, WRITE -> true;
        // Regions are made when they are needed.
        case CREATE -> true;
        // Those of other processes are looked at each second.
        case OPEN -> scope == Scope.HOST;
        default -> false;
      };
    }

    /** Whether the operation is one of a cache of this scope at all. */
    private boolean isOf(Scope scope) {
      return switch (operation) {
        case CREATE, READ, WRITE, CLOSE -> true;
        case OPEN, RENAME, DELETE -> scope == Scope.HOST;
        // Asked by a cache whose capacity is not set.
        case USABLE_BYTES -> true;
      };
    }

    @Override
    public String toString() {
      return operation + (failure == null ? " hangs" : " fails with " + failure);
    }
  }

  /** Every operation of a cache of this scope, with every failure and with a hang. */
  public static Stream<Fault> faults(Scope scope) {
    return Stream.of(FaultyDiskIo.Operation.values())
        .flatMap(
            operation ->
                Stream.concat(
                    Stream.of(FaultyDiskIo.Failure.values())
                        .map(failure -> new Fault(operation, failure)),
                    Stream.of(new Fault(operation, null))))
        .filter(fault -> fault.isOf(scope));
  }

  /** Opens a cache on this disk. */
  public DiskCache open(DiskCacheConfig config, DiskMetrics metrics, long mostWaitingBytes)
      throws IOException {
    return DiskCache.open(config, metrics, mostWaitingBytes, io, Duration.ofMillis(50));
  }

  /** How often the operation of a fault was tried so far. */
  public long tried(Fault fault) {
    return io.count(fault.operation);
  }

  /** The operation goes wrong from now on. */
  public void begin(Fault fault) {
    if (fault.hangs()) {
      io.hangEvery(fault.operation);
    } else {
      io.failEvery(fault.operation, fault.failure);
    }
  }

  /** Every write takes this much longer from now on. */
  public void slowWrites(Duration by) {
    io.slow(FaultyDiskIo.Operation.WRITE, by);
  }

  /** Every read takes this much longer from now on. */
  public void slowReads(Duration by) {
    io.slow(FaultyDiskIo.Operation.READ, by);
  }

  /** Every write hangs from now on. */
  public void hangWrites() {
    io.hangEvery(FaultyDiskIo.Operation.WRITE);
  }

  /** How many threads hang now. */
  public int hanging() {
    return io.hanging();
  }

  /** Everything goes well again, and what hangs goes on. */
  public void heal() {
    io.heal();
  }

  @Override
  public void close() {
    heal();
  }
}
