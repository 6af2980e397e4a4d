// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.BlockRange;
import io.s3e.memory.Need;
import io.s3e.prefetch.RequestSizing;
import org.jspecify.annotations.Nullable;

/**
 * Says what is absent, neither in memory nor on disk, and how far a run goes that is to bring it:
 * over absent blocks and short islands of others between them, and no further than one GET. Any
 * thread; nothing here waits.
 */
record Resolver(Tenant tenant, VisibleBlocks memory, RunSizing sizing) {
  boolean isAbsent(ObjectHandle handle, long block) {
    return presentUntil(handle, block, block + 1) == block;
  }

  /** Whether the block may be guessed: what may be on disk is not, before there is a proof. */
  boolean mayRunAhead(ObjectHandle handle, long block) {
    DiskTier disk = tenant.disk();
    return disk == null || !disk.awaitsProof(handle, block);
  }

  /** A block up to which all from {@code block} on are there: {@code block} if it is absent. */
  private long presentUntil(ObjectHandle handle, long block, long end) {
    if (memory.isPresent(handle, block)) {
      return block + 1;
    }
    DiskTier disk = tenant.disk();
    return disk == null ? block : disk.look(handle, block, end);
  }

  /** The first run of what is absent of {@code [first, end)}; null if all is there. */
  @Nullable BlockRange absent(ObjectHandle handle, long first, long end) {
    long last = Math.min(end, handle.layout.blocksOver(handle.size()));
    for (long next = first; next < last; ) {
      long there = presentUntil(handle, next, last);
      if (there == next) {
        return run(handle, new BlockRange(next, last));
      }
      next = there;
    }
    return null;
  }

  /** The run from the first block of {@code wanted} on, which is absent, and not beyond it. */
  BlockRange run(ObjectHandle handle, BlockRange wanted) {
    DiskTier disk = tenant.disk();
    boolean lends = tenant.account.lends();
    long border = disk == null ? Long.MAX_VALUE : disk.border(handle, wanted.first());
    long limit = Math.min(border, sizing.limit(wanted, lends, handle.longestGet.bytes()));
    long end =
        RequestSizing.untilGap(
            wanted.first(),
            limit,
            handle.layout,
            block -> !isAbsent(handle, block),
            block -> memory.isReady(handle, block) || !memory.isPresent(handle, block));
    return new BlockRange(wanted.first(), end);
  }

  Need need(ObjectHandle handle, BlockRange run) {
    return sizing.need(handle.layout, run);
  }

  /** A run that so many buffers bring {@code awaited} of: this one, or what is from there on. */
  BlockRange reaching(long awaited, BlockRange run, int buffers) {
    return granted(run, buffers).end() > awaited
        ? run
        : new BlockRange(awaited, Math.max(awaited + 1, run.end()));
  }

  /** As much of a run as a GET with so many buffers brings, or with a slot if it has none. */
  BlockRange granted(BlockRange run, int buffers) {
    int most = buffers == 0 ? sizing.lentBlocks() : buffers;
    return new BlockRange(run.first(), Math.min(run.end(), run.first() + most));
  }
}
