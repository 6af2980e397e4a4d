package io.s3e.memory;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy;
import com.github.benmanes.caffeine.cache.RemovalCause;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Which slabs of one kind of memory stay when room is needed.
 *
 * <p>Slabs with blocks that nobody has read yet wait in a queue, oldest first; once all their
 * blocks are read or abandoned they move to a Caffeine cache (W-TinyLFU, weighed in bytes), whose
 * coldest go first. Fetches for a waiting reader may take from both, speculation only from the
 * second: a prefetched block is not pushed out by another guess. Of what is unread the oldest goes
 * first, and of lent slots only what has been left alone for a while, because a reader that is
 * alive consumes its window within moments, and one that is not must not hold the budget.
 *
 * <p>Thread-safe; a read of a resident block only feeds Caffeine's lossy, lock-free buffer.
 */
public final class Residency {
  /** Who had to evict a moment ago will have to again. */
  private static final long PRESSURE_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Coldest entries looked at for one victim; one is enough unless others took them meanwhile. */
  private static final int CANDIDATES = 4;

  private final BlockIndex index;
  private final Queue<Slab> unread = new ConcurrentLinkedQueue<>();
  private final Cache<Slab, Slab> read;
  private final Policy.Eviction<Slab, Slab> coldness;
  private final Runnable roomMade;
  private final Spill spill;
  private volatile boolean closed;

  /** When a slab was evicted last to make room; long ago if none was. */
  private volatile long evictedNanos = System.nanoTime() - PRESSURE_NANOS;

  /**
   * @param index where evicted blocks are removed from
   * @param capacityBytes all the memory there is of this kind
   * @param roomMade called when one more slab may be evicted for anybody; any thread, must not
   *     block
   * @param spill hears of the blocks that are evicted to make room, not of those that go when all
   *     is closed
   */
  public Residency(BlockIndex index, long capacityBytes, Runnable roomMade, Spill spill) {
    this.index = index;
    this.roomMade = roomMade;
    this.spill = spill;
    this.read =
        Caffeine.newBuilder()
            .maximumWeight(Math.max(1, capacityBytes))
            .weigher((Slab slab, Slab same) -> slab.bytes())
            .executor(Runnable::run)
            .evictionListener(
                (@Nullable Slab slab, @Nullable Slab same, RemovalCause cause) -> {
                  if (slab != null) {
                    drop(slab);
                  }
                })
            .build();
    this.coldness = read.policy().eviction().orElseThrow();
  }

  /**
   * Makes {@code blocks} readable out of {@code memory}, where they stand one after the other, and
   * takes over the memory.
   *
   * @param bytes what the memory weighs
   * @param free gives the memory back
   */
  public void publish(List<Block> blocks, ByteBuffer memory, int bytes, Runnable free) {
    Slab slab = new Slab(bytes, blocks, this, free);
    slab.publish(memory);
    // Only a readable slab may be evicted, so it is queued afterwards; a reader may have been
    // quicker.
    unread.add(slab);
    if (slab.isSettled()) {
      settled(slab);
    }
    if (closed) {
      clear();
    }
  }

  /**
   * All blocks of the slab are read or abandoned. Called twice at most; one call finds it queued.
   */
  void settled(Slab slab) {
    if (unread.remove(slab)) {
      read.put(slab, slab);
      if (System.nanoTime() - evictedNanos < PRESSURE_NANOS) {
        slab.blocks().forEach(spill::settled);
      }
      roomMade.run();
      if (closed) {
        clear();
      }
    }
  }

  /** The slab is read once more. */
  void touched(Slab slab) {
    // Asked for the asking's sake: it is what Caffeine counts.
    Slab unused = read.getIfPresent(slab);
  }

  /** Evicts the coldest slab that has been read. False if there is none. */
  public boolean evictRead() {
    for (Slab slab : coldness.coldest(CANDIDATES).keySet()) {
      if (read.asMap().remove(slab) != null) {
        drop(slab);
        return true;
      }
    }
    return false;
  }

  /**
   * About how many slabs may be evicted for anybody: read to their end, or left alone.
   *
   * @param idleNanos how long a reader must have rested that has left its slabs alone
   */
  public long spareSlabs(long idleNanos) {
    long spare = read.estimatedSize();
    long now = System.nanoTime();
    for (Slab slab : unread) {
      spare += now - slab.lastProgressNanos() >= idleNanos ? 1 : 0;
    }
    return spare;
  }

  /**
   * Evicts the oldest slab that nobody has read to its end. False if there is none.
   *
   * @param idleNanos only if its reader has not read for so many ns; 0 for any
   */
  public boolean evictUnread(long idleNanos) {
    long now = System.nanoTime();
    for (Slab slab : unread) {
      // Its reader may read at this moment, later than now.
      boolean isIdle = idleNanos == 0 || now - slab.lastProgressNanos() >= idleNanos;
      if (isIdle && unread.remove(slab)) {
        drop(slab);
        return true;
      }
    }
    return false;
  }

  /** Evicts the slabs of which the first block is one that {@code which} holds for. */
  void evictIf(Predicate<Block> which) {
    for (Slab slab : unread) {
      if (which.test(slab.blocks().get(0)) && unread.remove(slab)) {
        drop(slab);
      }
    }
    for (Slab slab : read.asMap().keySet()) {
      if (which.test(slab.blocks().get(0)) && read.asMap().remove(slab) != null) {
        drop(slab);
      }
    }
  }

  /**
   * Evicts everything, now and whatever is still published. Memory under a pin goes back when the
   * pin ends.
   */
  public void close() {
    closed = true;
    clear();
  }

  private void clear() {
    while (evictUnread(0)) {
      continue;
    }
    for (Slab slab : read.asMap().keySet()) {
      if (read.asMap().remove(slab) != null) {
        drop(slab);
      }
    }
  }

  private void drop(Slab slab) {
    evictedNanos = System.nanoTime();
    for (Block block : slab.blocks()) {
      index.remove(block);
      try {
        if (!closed) {
          spill.leaving(block);
        }
      } finally {
        block.evict();
      }
    }
  }
}
