package io.s3e.fetch;

import io.s3e.block.BlockRange;
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
  Run exact(ObjectHandle handle, BlockRange wanted) {
    DiskTier disk = tenant.disk();
    return resolved(handle, wanted, disk, sourceOf(disk, handle, wanted.first()));
  }

  /**
   * The run from {@code first} on, which is absent and one of {@code wanted}. In a shared cache it
   * goes on to the end of the last disk block, since others will want all of that and wait for the
   * run that has claimed it.
   */
  Run rounded(ObjectHandle handle, BlockRange wanted, long first) {
    DiskTier disk = tenant.disk();
    Source source = sourceOf(disk, handle, first);
    boolean claims =
        disk != null
            && source == Source.DISK_OR_S3
            && disk.isWorthClaiming(handle, wanted.count() * handle.layout().blockSize());
    long end = claims ? sizing.endOfDiskBlock(handle.layout(), wanted.end() - 1) : wanted.end();
    return resolved(handle, new BlockRange(first, end), disk, source);
  }

  private Run resolved(
      ObjectHandle handle, BlockRange wanted, @Nullable DiskTier disk, Source source) {
    boolean lends = tenant.account().carrier().lends();
    long limit = sizing.limit(handle.layout(), wanted, source, lends);
    long end = wanted.first() + 1;
    while (end < limit && !memory.isPresent(handle, end) && sourceOf(disk, handle, end) == source) {
      end++;
    }
    return new Run(handle, new BlockRange(wanted.first(), end), source);
  }

  private static Source sourceOf(@Nullable DiskTier disk, ObjectHandle handle, long block) {
    return disk == null ? Source.S3 : disk.sourceOf(handle, block);
  }
}
