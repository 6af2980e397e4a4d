// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import io.s3e.block.BlockId;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All blocks in memory or on their way there, by name. A block is entered before its fetch starts
 * and at most one block stands under a name, which is what makes fetches single flight. It is
 * removed when it fails or is evicted. Lookups take no lock.
 */
public final class BlockIndex {
  /** Large enough for 256 MiB in blocks of 64 KiB: to grow is compiled in a cold JVM. */
  private final ConcurrentMap<BlockId, Block> blocks = new ConcurrentHashMap<>(4096);

  /** The block under this name, in whatever state; null if there is none. */
  public @Nullable Block get(BlockId id) {
    return blocks.get(id);
  }

  /** Enters a block; false if another one has its name. */
  public boolean add(Block block) {
    return blocks.putIfAbsent(block.id(), block) == null;
  }

  /** Removes this very block; whatever else has taken its name stays. */
  public void remove(Block block) {
    blocks.remove(block.id(), block);
  }

  /** Visits the blocks that are there throughout, and perhaps others. */
  public void forEach(Consumer<Block> visitor) {
    blocks.values().forEach(visitor);
  }
}
