// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import io.s3e.memory.Slab.State;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.TimeUnit;

/**
 * Which of the unread slabs of a {@link Residency} have an idle reader. Any thread, no lock.
 *
 * <p><b>Idle</b> slabs are found by a walk over all unread ones, which is repeated after a
 * sixteenth of the idle time at the earliest; who takes one looks at it once more, for its reader
 * may have come back. So each slab is handed out once per walk, and to take one costs no walk.
 * Threads that come together may walk together.
 */
final class UnreadSlabs {
  private static final int WALKS_PER_IDLE_TIME = 16;

  /** How long a reader has not read anything, in any slab. */
  enum Idle {
    /** The reader has paused. For readers that wait: takes dirty slabs too. */
    BRIEFLY(500, State.GONE),
    /** The stream was opened, ran ahead and was forgotten. For guesses too: takes clean slabs. */
    LONG(5_000, State.UNREAD);

    final long nanos;

    /** The state that a dirty slab goes to: it stays where that is UNREAD. */
    final State ifDirty;

    Idle(long millis, State ifDirty) {
      this.nanos = TimeUnit.MILLISECONDS.toNanos(millis);
      this.ifDirty = ifDirty;
    }
  }

  /** The slabs that one walk found and that have not been handed out. */
  private record Walk(Queue<Slab> found, long endsNanos) {}

  /** By the number of the slab's place. */
  private final ConcurrentNavigableMap<Long, Slab> places;

  /** The last walks. */
  private final Map<Idle, Walk> walks = new ConcurrentHashMap<>();

  UnreadSlabs(ConcurrentNavigableMap<Long, Slab> places) {
    this.places = places;
  }

  /** Lets go of the slabs that the last walks found. */
  void forget() {
    walks.clear();
  }

  /** The slabs that are known to have an idle reader; to be polled by who takes one. */
  Queue<Slab> known(Idle how, long now) {
    Walk walk = walks.get(how);
    if (walk != null && now - walk.endsNanos() < 0) {
      return walk.found();
    }
    Queue<Slab> found = new ConcurrentLinkedQueue<>();
    for (Slab slab : places.values()) {
      if (isIdle(slab, how, now)) {
        found.add(slab);
      }
    }
    walks.put(how, new Walk(found, now + how.nanos / WALKS_PER_IDLE_TIME));
    return found;
  }

  /** A reader that reads at this moment does so later than {@code now}. */
  static boolean isIdle(Slab slab, Idle how, long now) {
    return slab.isIn(State.UNREAD)
        && (how.ifDirty == State.GONE || !slab.isDirty())
        && now - slab.lastProgressNanos() >= how.nanos;
  }
}
