// SPDX-License-Identifier: Apache-2.0
package io.s3e.buffer;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * Arenas that are never really freed, so that a use after the free is caught as a wrong byte and
 * not as the end of the process: a freed arena is overwritten. Checks the budget at every step,
 * refuses memory when told to, and fails on a double free.
 */
final class CountingMemory implements ArenaMemory {
  static final byte FREED = (byte) 0xDD;

  private final MemoryBudget budget;
  private final Set<ByteBuffer> live = Collections.newSetFromMap(new IdentityHashMap<>());
  private long liveBytes;
  private int allocations;
  private int refusals;
  private boolean refusing;

  CountingMemory(MemoryBudget budget) {
    this.budget = budget;
  }

  @Override
  public synchronized ByteBuffer allocate(int bytes) {
    if (refusing) {
      refusals++;
      throw new OutOfMemoryError("Direct buffer memory");
    }
    allocations++;
    ByteBuffer arena = ByteBuffer.allocateDirect(bytes);
    live.add(arena);
    liveBytes += bytes;
    requireReserved();
    return arena;
  }

  @Override
  public synchronized void free(ByteBuffer arena) {
    if (!live.remove(arena)) {
      throw new AssertionError("freed twice: " + arena);
    }
    requireReserved();
    liveBytes -= arena.capacity();
    for (int i = 0; i < arena.capacity(); i++) {
      arena.put(i, FREED);
    }
  }

  synchronized void refuse(boolean refuse) {
    refusing = refuse;
  }

  synchronized long liveBytes() {
    return liveBytes;
  }

  synchronized int liveArenas() {
    return live.size();
  }

  synchronized int allocations() {
    return allocations;
  }

  synchronized int refusals() {
    return refusals;
  }

  private void requireReserved() {
    if (budget.reserved() < liveBytes) {
      throw new AssertionError(liveBytes + " bytes are held under " + budget);
    }
  }
}
