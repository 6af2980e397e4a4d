// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import java.io.File;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The space of the file system that one directory of the cache is on. The disk is others' as well:
 * the cache stops growing long before it is full, and gives back when it nearly is.
 *
 * <p>Asks the file system, which may hang. One thread.
 */
final class DiskSpace {
  /** YARN takes a disk out when 90 % are used, and Kubernetes evicts pods with 10 % free. */
  private static final double LEFT_TO_OTHERS = 0.15;

  /** Where less is free, whoever has it, the cache gives back what it has. */
  private static final double SCARCE = 0.1;

  /** A disk of 2 GB/s writes 100 MB in that time. */
  private static final long AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final LongSupplier usableBytes;
  private final LongSupplier totalBytes;
  private final LongSupplier nanoClock;
  private long askedNanos;
  private boolean mayGrow;
  private boolean isScarce;

  DiskSpace(Path directory) {
    this(
        () -> standing(directory).getUsableSpace(),
        () -> standing(directory).getTotalSpace(),
        System::nanoTime);
  }

  /** The directory, or the nearest one above it that was not deleted. */
  private static File standing(Path directory) {
    File at = directory.toFile();
    while (!at.isDirectory() && at.getParentFile() != null) {
      at = at.getParentFile();
    }
    return at;
  }

  /** One statvfs each; {@code totalBytes} is 0 if the size of the file system cannot be told. */
  DiskSpace(LongSupplier usableBytes, LongSupplier totalBytes, LongSupplier nanoClock) {
    this.usableBytes = usableBytes;
    this.totalBytes = totalBytes;
    this.nanoClock = nanoClock;
    this.askedNanos = nanoClock.getAsLong() - AGAIN_NANOS;
  }

  /** Whether the cache may take more, as of at most 50 ms ago; not where nobody can tell. */
  boolean mayGrow() {
    look();
    return mayGrow;
  }

  /** Whether so little is free, as of at most 50 ms ago, that the cache is to give space back. */
  boolean isScarce() {
    look();
    return isScarce;
  }

  private void look() {
    long now = nanoClock.getAsLong();
    if (now - askedNanos >= AGAIN_NANOS) {
      askedNanos = now;
      long total = totalBytes.getAsLong();
      long usable = usableBytes.getAsLong();
      mayGrow = total > 0 && usable >= LEFT_TO_OTHERS * total;
      isScarce = total > 0 && usable < SCARCE * total;
    }
  }
}
