package io.s3e.fetch;

import io.s3e.block.BlockRange;
import io.s3e.prefetch.RequestSizing;
import org.jspecify.annotations.Nullable;

/**
 * Says how far a {@link Run} goes: over blocks that are neither in memory nor on disk, and short
 * islands of others between them, and no further than one GET. Any thread; nothing here waits.
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
    long end =
        RequestSizing.untilGap(
            wanted.first(),
            limit,
            handle.layout(),
            block -> memory.isPresent(handle, block) || isOnDisk(disk, handle, block),
            block ->
                VisibleBlocks.isReady(tenant.index(), handle, block)
                    || !memory.isPresent(handle, block));
    return new Run(handle, new BlockRange(wanted.first(), end));
  }

  private static boolean isOnDisk(@Nullable DiskTier disk, ObjectHandle handle, long block) {
    return disk != null && disk.look(handle, block, block + 1) > block;
  }
}
