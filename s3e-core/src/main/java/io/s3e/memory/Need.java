// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

/** The memory that one GET needs: pooled buffers if it is copied, and what serves it best. */
public record Need(int copiedBlocks, MemoryKind kind) {
  public enum MemoryKind {
    /** Pooled buffers, or else a lent slot. */
    SHORT,
    /** As SHORT; what nobody waits for rather takes the slot, which it fills by more than half. */
    SLOT_FILLING,
    /** A lent slot, because a copied request would bring only a part. */
    LONG,
    /** Pooled buffers and nothing else: the same range holds a slot already. */
    POOLED
  }

  boolean isLong() {
    return kind == MemoryKind.LONG;
  }
}
