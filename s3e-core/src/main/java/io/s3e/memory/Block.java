// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import io.s3e.block.BlockId;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One block on its way into memory or in it, shared by everybody who reads it.
 *
 * <p><b>States.</b> {@code FETCHING → READY} or {@code FETCHING → FAILED}, moved once, by the fetch
 * that created the block. READY publishes the bytes: they never change afterwards.
 *
 * <p><b>References.</b> {@code refs} starts at 1, the <i>residency</i>, which {@link #evict()}
 * drops once. Readers add one with {@link #tryPin()} and take it away with {@link #unpin()}. At 0
 * the block is dead for good: its memory goes back to the {@link Slab}, and {@code tryPin} fails,
 * so that no reader ever sees recycled memory. A reader may pin before the bytes have come; then
 * eviction cannot come between their arrival and the reader, which is what makes a waiting reader's
 * progress certain. A pin is held for the length of one copy, never between calls of the
 * application, so an idle stream holds no memory.
 *
 * <p><b>Dirty.</b> A READY block is dirty while its bytes are still to be written to local disk:
 * from a {@link #markDirty()} that succeeds to its {@link #markClean()}. A mark makes the block
 * stay where others can go; it is no reference. The writer pins the block for the write, and gives
 * up where it cannot.
 *
 * <p><b>Use.</b> A block that came is wanted until it is read or abandoned. Its {@link Fate} hears
 * once whether it was of use: at the first read, be it after it was abandoned, or when it leaves
 * memory unread.
 *
 * <p><b>Losing a race</b> to evict costs nothing (the flag says who won); losing one to pin means
 * to look the block up again.
 *
 * <p>All methods may be called from any thread. Only {@link #await} waits.
 */
public final class Block {
  /** Hears what becomes of a block's bytes. Any thread; must not block. */
  public interface Fate {
    /** All bytes of blocks with this fate have come; readers see them after this. */
    void onReady(List<Block> blocks);

    void onFirstRead(Block block);

    /** The block left memory unread. Each block that came is read or dropped unread, once. */
    void onDroppedUnread(Block block);

    /** When the stream that had the block fetched last read, by {@link System#nanoTime()}. */
    long lastReadNanos();
  }

  private enum State {
    FETCHING,
    READY,
    FAILED
  }

  /** Nobody has read the block, and somebody may come to read it. */
  private static final int WANTED = 2;

  /** Nobody has read the block, and who asked for it has given it up. */
  private static final int ABANDONED = 1;

  /** The block was read, or has left memory. */
  private static final int DECIDED = 0;

  private final BlockId id;
  private final long start;
  private int length;
  private final Fate fate;
  private volatile State state = State.FETCHING;
  private final AtomicInteger refs = new AtomicInteger(1);

  /** WANTED → ABANDONED → DECIDED, or without the middle one; never back. */
  private final AtomicInteger unread = new AtomicInteger(WANTED);

  /** Until {@link #evict()}. */
  private final AtomicBoolean resident = new AtomicBoolean(true);

  /** Opens once the state is READY or FAILED. */
  private final CountDownLatch settled = new CountDownLatch(1);

  /**
   * Completed then, for tasks alone: a thread that waits for a future also runs what depends on it,
   * and a reader that waits has its stream locked.
   */
  private final CompletableFuture<@Nullable Void> told = new CompletableFuture<>();

  // Written before READY or FAILED is, read after; as is the length, if the object ends early.
  private @Nullable Slab slab;
  private int base;
  private @Nullable Exception failure;

  /** {@code start} is the offset of the block's first byte in the object. */
  public Block(BlockId id, long start, int length, Fate fate) {
    this.id = id;
    this.start = start;
    this.length = length;
    this.fate = fate;
  }

  public BlockId id() {
    return id;
  }

  public long start() {
    return start;
  }

  public long end() {
    return start + length;
  }

  public int length() {
    return length;
  }

  /** The fetch that created this block, and hears of it. */
  public Fate fate() {
    return fate;
  }

  public boolean isReady() {
    return state == State.READY;
  }

  public boolean isFetching() {
    return state == State.FETCHING;
  }

  /** Why the block failed; null unless it did. */
  public @Nullable Exception failure() {
    return state == State.FAILED ? failure : null;
  }

  /**
   * The object ends at {@code offset}, inside the block, which therefore is shorter than it was
   * made. Called by the fetch, before it publishes the block.
   */
  public void endAt(long offset) {
    requireFetching();
    length = Math.toIntExact(offset - start);
  }

  /**
   * The block's bytes are those of {@code owner} from {@code offset} on. Called once, by the fetch,
   * when all of them are there.
   */
  void land(Slab owner, int offset) {
    requireFetching();
    slab = owner;
    base = offset;
  }

  /** FETCHING → READY. Called once, when the block has landed and its fate has been told. */
  void publish() {
    settle(State.READY);
  }

  /** FETCHING → FAILED. The residency goes with it. Called once, by the fetch. */
  public void fail(Exception cause) {
    requireFetching();
    failure = cause;
    settle(State.FAILED);
    evict();
  }

  private void settle(State end) {
    state = end;
    settled.countDown();
    boolean unused = told.complete(null);
  }

  /**
   * Runs {@code task} once, when the block is ready or has failed: on the thread that settles it,
   * or at once. The task must not block or throw.
   */
  public void whenSettled(Runnable task) {
    Future<?> unused = told.thenRun(task);
  }

  private void requireFetching() {
    if (state != State.FETCHING) {
      throw new IllegalStateException(id + " is " + state + " already");
    }
  }

  /** Waits so many ns at most until the block is ready or has failed; false if it is neither. */
  public boolean await(long nanos) throws InterruptedException {
    return state != State.FETCHING || settled.await(nanos, TimeUnit.NANOSECONDS);
  }

  /** Keeps the block's memory from being recycled. False if that has happened. */
  public boolean tryPin() {
    for (int now = refs.get(); now != 0; now = refs.get()) {
      if (refs.compareAndSet(now, now + 1)) {
        return true;
      }
    }
    return false;
  }

  public void unpin() {
    int left = refs.decrementAndGet();
    if (left == 0) {
      Slab owner = slab;
      if (owner != null) {
        owner.blockDied();
      }
    } else if (left < 0) {
      throw new IllegalStateException("unpinned more often than pinned: " + id);
    }
  }

  /** Drops the residency; the memory goes back when the last pin ends. Idempotent. */
  void evict() {
    if (resident.compareAndSet(true, false)) {
      try {
        if (isReady() && unread.getAndSet(DECIDED) != DECIDED) {
          fate.onDroppedUnread(this);
        }
      } finally {
        unpin();
      }
    }
  }

  /** Whether nobody has read or abandoned the block yet. */
  public boolean isUnread() {
    return unread.get() == WANTED;
  }

  /** A reader, holding a pin, takes bytes of the ready block. */
  public void touch() {
    Slab owner = requireSlab();
    int before = unread.get() == DECIDED ? DECIDED : unread.getAndSet(DECIDED);
    if (before == WANTED) {
      owner.blockSettled();
    } else {
      owner.touch();
    }
    // Last: whatever the fate throws, the slab is one that may go.
    if (before != DECIDED) {
      fate.onFirstRead(this);
    }
  }

  /** A reader comes to the ready block next: stays longer, unless nobody has read it before. */
  public void touchAgain() {
    if (unread.get() == DECIDED) {
      requireSlab().touch();
    }
  }

  /**
   * The ready block is of the kind that is read anew by each reader of its object, and little of
   * the object: it stays longer than others, within bounds. The caller holds a pin.
   */
  public void keep() {
    requireSlab().keep();
  }

  /**
   * Nobody who asked for the block wants it any more; it may stay as long as nothing needs room,
   * and whoever reads it meanwhile has a use for it.
   */
  public void abandon() {
    if (isReady() && unread.compareAndSet(WANTED, ABANDONED)) {
      requireSlab().blockSettled();
    }
  }

  /**
   * The ready block's bytes are to be written to local disk: only a reader that waits may have the
   * block evicted meanwhile, or the end of its tenant. False if it has been evicted.
   */
  public boolean markDirty() {
    return requireSlab().markDirty();
  }

  /**
   * The bytes are written, or will not be. Called once for each {@link #markDirty()} that returned
   * true, whether the block is still in memory or not.
   */
  public void markClean() {
    requireSlab().markClean();
  }

  /**
   * Copies {@code count} bytes from {@code offset} within the block, and moves the target's
   * position by as many. The caller holds a pin and the block is ready.
   */
  public void copyTo(int offset, ByteBuffer target, int count) {
    target.put(target.position(), requireSlab().memory, base + checked(offset, count), count);
    target.position(target.position() + count);
  }

  /** The ready block's bytes, read-only, while the caller keeps the block from being recycled. */
  public ByteBuffer bytes() {
    return requireSlab().memory.slice(base, length).asReadOnlyBuffer();
  }

  /** Checks a range; returns its beginning. */
  private int checked(int offset, int count) {
    if (offset < 0 || count < 0 || offset > length - count) {
      throw new IndexOutOfBoundsException(
          "bytes [" + offset + ", " + ((long) offset + count) + ") of " + length + " in " + id);
    }
    return offset;
  }

  private Slab requireSlab() {
    Slab owner = slab;
    if (owner == null) {
      throw new IllegalStateException(id + " has no bytes: it has no memory");
    }
    return owner;
  }

  @Override
  public String toString() {
    return id + " (" + state + ", refs " + refs + ")";
  }
}
