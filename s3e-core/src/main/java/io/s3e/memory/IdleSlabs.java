package io.s3e.memory;

import io.s3e.memory.Slab.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The unread slabs whose reader is idle. A walk over all unread slabs finds them and is repeated
 * after a sixteenth of the idle time at the earliest; a slab is looked at once more when it is
 * taken, for its reader may have come back. So each slab is handed out once per walk, and to take
 * one costs no walk. Any thread, no lock; threads that come together may walk together.
 */
final class IdleSlabs {
  private static final int WALKS_PER_IDLE_TIME = 16;

  /** How long a reader has not read anything, in any slab. */
  enum Idle {
    /**
     * The reader has paused. Slots that readers take from each other are fetched twice. For readers
     * that wait: takes dirty slabs too.
     */
    BRIEFLY(500, State.GONE),
    /** The stream was opened, ran ahead and was forgotten. For guesses too: takes clean slabs. */
    LONG(5_000, State.UNREAD);

    private final long nanos;
    private final State ifDirty;

    Idle(long millis, State ifDirty) {
      this.nanos = TimeUnit.MILLISECONDS.toNanos(millis);
      this.ifDirty = ifDirty;
    }

    long nanos() {
      return nanos;
    }

    /** The state that a dirty slab goes to: it stays where that is UNREAD. */
    State ifDirty() {
      return ifDirty;
    }
  }

  /** The slabs that one walk found: {@code taken} counts the slabs that have been handed out. */
  private record Walk(List<Slab> found, AtomicInteger taken, long endsNanos) {
    @Nullable Slab next() {
      int place = taken.get() < found.size() ? taken.getAndIncrement() : found.size();
      return place < found.size() ? found.get(place) : null;
    }

    int left() {
      return Math.max(0, found.size() - taken.get());
    }
  }

  private final Idle how;
  private final Queue<Slab> unread;

  /** Null before the first walk, and after {@link #forget()}. */
  private volatile @Nullable Walk last;

  /**
   * @param how how long a reader must not have read, and whether its dirty slabs count
   * @param unread all unread slabs, and some that have left that state
   */
  IdleSlabs(Idle how, Queue<Slab> unread) {
    this.how = how;
    this.unread = unread;
  }

  /** One of them; null if none is known. */
  @Nullable Slab take(long now) {
    Walk walk = recent(now);
    for (Slab slab = walk.next(); slab != null; slab = walk.next()) {
      if (isIdle(slab, now)) {
        return slab;
      }
    }
    return null;
  }

  /** About how many there are. */
  int count(long now) {
    return recent(now).left();
  }

  /** Lets go of the slabs that the last walk found. */
  void forget() {
    last = null;
  }

  private Walk recent(long now) {
    Walk walk = last;
    if (walk == null || now - walk.endsNanos() >= 0) {
      List<Slab> found = new ArrayList<>();
      for (Slab slab : unread) {
        if (isIdle(slab, now)) {
          found.add(slab);
        }
      }
      walk = new Walk(found, new AtomicInteger(), now + how.nanos() / WALKS_PER_IDLE_TIME);
      last = walk;
    }
    return walk;
  }

  /** A reader that reads at this moment does so later than {@code now}. */
  private boolean isIdle(Slab slab, long now) {
    return slab.isIn(State.UNREAD)
        && (how.ifDirty() == State.GONE || !slab.isDirty())
        && now - slab.lastProgressNanos() >= how.nanos();
  }
}
