package io.s3e.fetch;

import io.s3e.block.BlockRange;
import io.s3e.memory.Purpose;
import org.jspecify.annotations.Nullable;

/**
 * Says what a {@link Run} is: where its bytes are to be looked for, and how far it goes. Any
 * thread; nothing here waits.
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
  Run run(ObjectHandle handle, BlockRange wanted, Purpose purpose) {
    DiskTier disk = tenant.disk();
    Source source = sourceOf(disk, handle, wanted.first(), purpose);
    boolean lends = tenant.account().carrier().lends();
    long border = disk == null ? Long.MAX_VALUE : disk.border(handle, wanted.first());
    long longest = handle.longestGet().bytes();
    long limit = Math.min(border, sizing.limit(wanted, source, lends, longest));
    long end = wanted.first() + 1;
    while (end < limit
        && !memory.isPresent(handle, end)
        && goesOn(disk, handle, end, source, purpose)) {
      end++;
    }
    BlockRange run = new BlockRange(wanted.first(), end);
    boolean isClaimed =
        source == Source.S3_CLAIMED
            && disk != null
            && disk.isWorthClaiming(handle, handle.layout().bytesOf(run).length());
    return new Run(handle, run, source == Source.S3_CLAIMED && !isClaimed ? Source.S3 : source);
  }

  /**
   * Whether a run from that source goes on over a block; it stops where another process fetches.
   */
  private static boolean goesOn(
      @Nullable DiskTier disk, ObjectHandle handle, long block, Source source, Purpose purpose) {
    return sourceOf(disk, handle, block, purpose) == source
        && (source != Source.S3_CLAIMED || disk == null || disk.isUnclaimed(handle, block));
  }

  private static Source sourceOf(
      @Nullable DiskTier disk, ObjectHandle handle, long block, Purpose purpose) {
    return disk == null ? Source.S3 : disk.sourceOf(handle, block, purpose);
  }
}
