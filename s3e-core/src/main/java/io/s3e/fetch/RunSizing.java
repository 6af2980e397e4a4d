// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.client.ClientLimits;
import io.s3e.memory.Need;
import io.s3e.memory.Need.MemoryKind;

/** How long a run may be, and the memory that it needs. Arithmetic, no state. */
record RunSizing(int blockBytes, int requestBytes, ClientLimits limits) {
  int copiedBlocks() {
    return Math.max(1, Math.min(requestBytes, limits.copyRequestBytes()) / blockBytes);
  }

  int lentBlocks() {
    return Math.max(1, Math.min(requestBytes, limits.lentSlotBytes()) / blockBytes);
  }

  /**
   * The block up to which a run from the first block of {@code wanted} on may go: as far as {@code
   * wanted}, one GET, and what comes through.
   */
  long limit(BlockRange wanted, boolean lends, long longest) {
    long most = lends ? Math.max(copiedBlocks(), lentBlocks()) : copiedBlocks();
    long through = Math.max(1, Math.min(most, longest / blockBytes));
    return Math.min(wanted.end(), wanted.first() + through);
  }

  Need need(BlockLayout layout, BlockRange run) {
    long bytes = layout.bytesOf(run).length();
    boolean fillsSlot = limits.lends() && 2 * bytes > limits.lentSlotBytes();
    MemoryKind kind = fillsSlot ? MemoryKind.SLOT_FILLING : MemoryKind.SHORT;
    kind = bytes > limits.copyRequestBytes() ? MemoryKind.LONG : kind;
    return new Need((int) Math.min(run.count(), copiedBlocks()), kind);
  }
}
