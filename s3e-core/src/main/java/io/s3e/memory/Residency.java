package io.s3e.memory;

import io.s3e.memory.Slab.State;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Which slabs of one kind of memory stay when room is needed. All slabs of one residency are of
 * about the same size.
 *
 * <p><b>Queues.</b> A slab waits in the queue of its {@linkplain Slab.State state}, oldest first:
 * <i>unread</i> until all its blocks are read or abandoned, then <i>once</i>, and <i>again</i> if
 * it had been read once more when its turn to leave came. A scan fills <i>once</i> only, so it does
 * not push out what is read repeatedly; <i>again</i> holds {@value #MOST_AGAIN} times as much as
 * <i>once</i> at most, so that a working set of the past leaves.
 *
 * <p><b>Who may evict.</b> Fetches for a waiting reader may take unread slabs too, speculation only
 * those that have been read: a prefetched block is not pushed out by another guess. The oldest
 * unread slab goes first, and lent slots only after their reader has been {@link Idle}, because a
 * reader that is alive consumes its window within moments, and one that is not must not hold the
 * budget.
 *
 * <p><b>Invariants.</b> The slab's state alone says where it is; the thread that moves the state by
 * compare-and-set does what follows: it enters the slab into the next queue, or drops it. So a slab
 * is dropped once. A queue may still hold a slab that has left its state; {@code unread} is swept
 * when as many have left it as it held, a slab in another queue is passed over when it is met.
 * Between the move and the entry a slab is in no queue, and is not found by others.
 *
 * <p>Any thread; no method takes a lock. Eviction and settling take constant time on average, and a
 * read of a resident block writes at most one flag of its slab.
 */
public final class Residency {
  /** Memory that was short so recently is taken to be short still. */
  private static final long PRESSURE_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** The share of {@code again} is three quarters of what has been read. */
  private static final int MOST_AGAIN = 3;

  /** Slabs that one eviction lets stay; the next one leaves. */
  private static final int MOST_SPARED = 64;

  /**
   * One slab in so many stays in {@code once} for another round without having been read again. So
   * a part of an object that is read over and over, and is a little larger than memory, is there
   * the next time; the others would leave just before they are needed.
   */
  private static final int SAMPLE = 16;

  /** Slabs that leave {@code unread} before it is swept: a sweep costs less than their fetches. */
  private static final int LEAST_SWEEP = 64;

  /** The last word on a block that is evicted to make room. */
  private static final Consumer<Block> LEAVING = block -> block.fate().onLeaving(block);

  /** Nothing is said of a block that nobody wants any more: its tenant or the engine closes. */
  private static final Consumer<Block> UNWANTED = block -> {};

  /** How long a reader has not read anything, in any slab. */
  public enum Idle {
    /** The reader has paused. Slots that readers take from each other are fetched twice. */
    BRIEFLY(500),
    /** The stream was opened, ran ahead and was forgotten. */
    LONG(5_000);

    private final long nanos;

    Idle(long millis) {
      nanos = TimeUnit.MILLISECONDS.toNanos(millis);
    }

    long nanos() {
      return nanos;
    }
  }

  private final BlockIndex index;
  private final LongSupplier nanoClock;
  private final Runnable roomMade;
  private final Queue<Slab> unread = new ConcurrentLinkedQueue<>();
  private final Queue<Slab> once = new ConcurrentLinkedQueue<>();
  private final Queue<Slab> again = new ConcurrentLinkedQueue<>();

  /** Slabs in the state {@code ONCE}, and in {@code AGAIN}. */
  private final AtomicInteger onceCount = new AtomicInteger();

  private final AtomicInteger againCount = new AtomicInteger();

  /** Slabs whose turn to leave {@code once} came. */
  private final AtomicInteger turns = new AtomicInteger();

  /** Slabs that have left their state and not the queue {@code unread} since the last sweep. */
  private final AtomicInteger leftUnread = new AtomicInteger();

  /** How many unread slabs the last sweep met. */
  private volatile int sweptUnread;

  private final IdleSlabs paused = new IdleSlabs(Idle.BRIEFLY.nanos(), unread);
  private final IdleSlabs forgotten = new IdleSlabs(Idle.LONG.nanos(), unread);
  private volatile boolean closed;

  /** When a slab was evicted last to make room; long ago if none was. */
  private volatile long evictedNanos;

  /**
   * @param index where evicted blocks are removed from
   * @param nanoClock as {@link System#nanoTime()}
   * @param roomMade called when one more slab may be evicted for anybody; any thread, must not
   *     block
   */
  public Residency(BlockIndex index, LongSupplier nanoClock, Runnable roomMade) {
    this.index = index;
    this.nanoClock = nanoClock;
    this.roomMade = roomMade;
    this.evictedNanos = nanoClock.getAsLong() - PRESSURE_NANOS;
  }

  /**
   * Makes {@code blocks} readable out of {@code memory}, where they stand one after the other, and
   * takes over the memory.
   *
   * @param blocks of one fetch, all of them FETCHING and in the index
   * @param free gives the memory back
   */
  public void publish(List<Block> blocks, ByteBuffer memory, Runnable free) {
    Slab slab = new Slab(blocks, this, nanoClock.getAsLong(), free);
    slab.publish(memory);
    // Only a readable slab may be evicted, so it is entered afterwards; readers may have settled
    // and evicted it meanwhile.
    enter(unread, slab, State.UNREAD);
  }

  /** UNREAD → ONCE: all blocks of the slab are read or abandoned. Called once. */
  void settled(Slab slab) {
    if (!slab.move(State.UNREAD, State.ONCE)) {
      return;
    }
    onceCount.incrementAndGet();
    enter(once, slab, State.ONCE);
    sweepUnread();
    if (nanoClock.getAsLong() - evictedNanos < PRESSURE_NANOS) {
      slab.blocks().forEach(block -> block.fate().onLeavingSoon(block));
    }
    roomMade.run();
  }

  private void sweepUnread() {
    int left = leftUnread.incrementAndGet();
    if (left < LEAST_SWEEP + sweptUnread || !leftUnread.compareAndSet(left, 0)) {
      return;
    }
    int met = 0;
    for (Iterator<Slab> slabs = unread.iterator(); slabs.hasNext(); ) {
      if (slabs.next().isIn(State.UNREAD)) {
        met++;
      } else {
        slabs.remove();
      }
    }
    sweptUnread = met;
  }

  /** Evicts a slab that has been read, and not again of late. False if there is none. */
  public boolean evictRead() {
    for (int spared = 0; ; spared++) {
      Slab slab = pollRead();
      if (slab == null) {
        return false;
      }
      boolean stays = spared < MOST_SPARED && stays(slab);
      if (!stays && evictRead(slab, LEAVING)) {
        return true;
      }
    }
  }

  private @Nullable Slab pollRead() {
    boolean isAgainFull = againCount.get() > MOST_AGAIN * onceCount.get();
    Slab slab = (isAgainFull ? again : once).poll();
    return slab != null ? slab : (isAgainFull ? once : again).poll();
  }

  /** Enters a slab whose turn to leave has come for another round, if it is worth one. */
  private boolean stays(Slab slab) {
    if (slab.takeTouch()) {
      if (slab.move(State.ONCE, State.AGAIN)) {
        onceCount.decrementAndGet();
        againCount.incrementAndGet();
      }
      return enter(again, slab, State.AGAIN);
    }
    return slab.isIn(State.ONCE)
        && turns.incrementAndGet() % SAMPLE == 0
        && enter(once, slab, State.ONCE);
  }

  /** False if the slab is not in that state any more. */
  private boolean enter(Queue<Slab> queue, Slab slab, State state) {
    if (!slab.isIn(state)) {
      return false;
    }
    queue.add(slab);
    clearIfClosed();
    return true;
  }

  private boolean evictRead(Slab slab, Consumer<Block> last) {
    if (slab.move(State.ONCE, State.GONE)) {
      onceCount.decrementAndGet();
    } else if (slab.move(State.AGAIN, State.GONE)) {
      againCount.decrementAndGet();
    } else {
      return false;
    }
    drop(slab, last);
    return true;
  }

  /** Evicts the oldest slab that is not read to its end. False if there is none. */
  public boolean evictUnread() {
    for (Slab slab = unread.poll(); slab != null; slab = unread.poll()) {
      if (evictUnread(slab, LEAVING)) {
        return true;
      }
    }
    return false;
  }

  /** Evicts an unread slab whose reader is idle. False if there is none that is known. */
  public boolean evictIdle(Idle how) {
    long now = nanoClock.getAsLong();
    IdleSlabs slabs = of(how);
    for (Slab slab = slabs.take(now); slab != null; slab = slabs.take(now)) {
      if (evictUnread(slab, LEAVING)) {
        sweepUnread();
        return true;
      }
    }
    return false;
  }

  private boolean evictUnread(Slab slab, Consumer<Block> last) {
    if (slab.move(State.UNREAD, State.GONE)) {
      drop(slab, last);
      return true;
    }
    return false;
  }

  /** About how many slabs may be evicted for anybody: read, or left alone by an idle reader. */
  public int spareSlabs(Idle how) {
    return onceCount.get() + againCount.get() + of(how).count(nanoClock.getAsLong());
  }

  /**
   * Evicts all slabs with unwanted blocks, in one walk, without a word to their fates that they
   * leave. A slab that is published or moves between the queues meanwhile may stay.
   *
   * @param unwanted asked of one block of each slab: all of them come from one fetch
   */
  public void evictIf(Predicate<Block> unwanted) {
    evictIf(unread, unwanted);
    evictIf(once, unwanted);
    evictIf(again, unwanted);
    paused.forget();
    forgotten.forget();
  }

  private void evictIf(Queue<Slab> queue, Predicate<Block> unwanted) {
    for (Iterator<Slab> slabs = queue.iterator(); slabs.hasNext(); ) {
      Slab slab = slabs.next();
      boolean goes =
          unwanted.test(slab.blocks().get(0))
              && (evictUnread(slab, UNWANTED) || evictRead(slab, UNWANTED));
      if (goes || slab.isIn(State.GONE)) {
        slabs.remove();
      }
    }
  }

  /**
   * Evicts everything, now and whatever is still published. Memory under a pin goes back when the
   * pin ends.
   */
  public void close() {
    closed = true;
    clearIfClosed();
  }

  /** Called after each entry into a queue, so that what {@link #close} does not find goes here. */
  private void clearIfClosed() {
    if (closed) {
      evictIf(block -> true);
    }
  }

  private void drop(Slab slab, Consumer<Block> last) {
    evictedNanos = nanoClock.getAsLong();
    List<Block> blocks = slab.blocks();
    blocks.forEach(index::remove);
    try {
      blocks.forEach(last);
    } finally {
      blocks.forEach(Block::evict);
    }
  }

  /** How many slabs the queue of unread ones holds, those included that have left the state. */
  int unreadEntries() {
    return unread.size();
  }

  private IdleSlabs of(Idle how) {
    return switch (how) {
      case BRIEFLY -> paused;
      case LONG -> forgotten;
    };
  }
}
