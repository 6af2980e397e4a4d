package io.s3e.buffer;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * Slabs that are never really freed, so that a use after the free is caught as a wrong byte and not
 * as the end of the process: a freed slab is overwritten. Checks the budget at every step, refuses
 * memory when told to, and fails on a double free.
 */
final class CountingMemory implements SlabMemory {
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
    ByteBuffer slab = ByteBuffer.allocateDirect(bytes);
    live.add(slab);
    liveBytes += bytes;
    requireReserved();
    return slab;
  }

  @Override
  public synchronized void free(ByteBuffer slab) {
    if (!live.remove(slab)) {
      throw new AssertionError("freed twice: " + slab);
    }
    requireReserved();
    liveBytes -= slab.capacity();
    for (int i = 0; i < slab.capacity(); i++) {
      slab.put(i, FREED);
    }
  }

  synchronized void refuse(boolean refuse) {
    refusing = refuse;
  }

  synchronized long liveBytes() {
    return liveBytes;
  }

  synchronized int liveSlabs() {
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
