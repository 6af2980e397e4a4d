// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import java.io.File;
import java.nio.file.Path;
import java.util.function.LongSupplier;

/**
 * The space of the file system that one directory of the cache is on. The disk is others' as well:
 * the cache stops growing long before it is full, and gives back when it nearly is.
 *
 * <p>Every question is one to the file system, which may hang; so the writing thread asks once for
 * what it writes at once.
 *
 * @param usableBytes what is free
 * @param totalBytes 0 if the size of the file system cannot be told
 */
record DiskSpace(LongSupplier usableBytes, LongSupplier totalBytes) {
  /** YARN takes a disk out when 90 % are used, and Kubernetes evicts pods with 10 % free. */
  private static final double LEFT_TO_OTHERS = 0.15;

  /** Where less is free, whoever has it, the cache gives back what it has. */
  private static final double SCARCE = 0.1;

  DiskSpace(Path directory) {
    this(() -> standing(directory).getUsableSpace(), () -> standing(directory).getTotalSpace());
  }

  /** The directory, or the nearest one above it that was not deleted. */
  private static File standing(Path directory) {
    File at = directory.toFile();
    while (!at.isDirectory() && at.getParentFile() != null) {
      at = at.getParentFile();
    }
    return at;
  }

  /** Whether the cache may take more; not where nobody can tell. */
  boolean mayGrow() {
    long total = totalBytes.getAsLong();
    return total > 0 && usableBytes.getAsLong() >= LEFT_TO_OTHERS * total;
  }

  /** Whether so little is free that the cache is to give space back. */
  boolean isScarce() {
    return usableBytes.getAsLong() < SCARCE * totalBytes.getAsLong();
  }
}
