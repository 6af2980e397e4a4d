package io.s3e.fetch;

import io.s3e.block.BlockRange;
import org.jspecify.annotations.Nullable;

/**
 * Says how far a {@link Run} goes: over blocks that are neither in memory nor on disk, and no
 * further than one GET. Any thread; nothing here waits.
 */
final class Resolver {
  private final Tenant tenant;
  private final VisibleBlocks memory;
  private final RunSizing sizing;

  Resolver(Tenant tenant, VisibleBlocks memory, RunSizing sizing) {
    this.tenant = tenant;
    this.memory = memory;
    this.sizing = sizing;
  }

  /** The run from the first block of {@code wanted} on, which is absent, and not beyond it. */
  Run run(ObjectHandle handle, BlockRange wanted) {
    DiskTier disk = tenant.disk();
    boolean lends = tenant.account().carrier().lends();
    long border = disk == null ? Long.MAX_VALUE : disk.border(handle, wanted.first());
    long limit = Math.min(border, sizing.limit(wanted, lends, handle.longestGet().bytes()));
    long end = wanted.first() + 1;
    while (end < limit && !memory.isPresent(handle, end) && !isOnDisk(disk, handle, end)) {
      end++;
    }
    return new Run(handle, new BlockRange(wanted.first(), end));
  }

  private static boolean isOnDisk(@Nullable DiskTier disk, ObjectHandle handle, long block) {
    return disk != null && disk.look(handle, block, block + 1) > block;
  }
}
