// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import io.s3e.memory.Slab.State;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Which of the unread slabs of a {@link Residency} have an idle reader. Guarded by its lock.
 *
 * <p><b>Idle</b> slabs are found by a walk over all unread ones, which is repeated after a
 * sixteenth of the idle time at the earliest; who takes one looks at it once more, for its reader
 * may have come back. So each slab is handed out once per walk, and to take one costs no walk.
 */
final class IdleSlabs {
  private static final int WALKS_PER_IDLE_TIME = 16;

  /** How long a reader has not read anything, in any slab. */
  enum Idle {
    /** The reader has paused. For readers that wait: takes dirty slabs too. */
    BRIEFLY(500, true),
    /** The stream was opened, ran ahead and was forgotten. For guesses too: takes clean slabs. */
    LONG(5_000, false);

    final long nanos;
    private final boolean takesDirty;

    Idle(long millis, boolean takesDirty) {
      this.nanos = TimeUnit.MILLISECONDS.toNanos(millis);
      this.takesDirty = takesDirty;
    }
  }

  /** The slabs that one walk found and that have not been handed out. */
  private record Walk(Queue<Slab> found, long endsNanos) {}

  private final Collection<Slab> unread;

  private final Map<Idle, Walk> walks = new EnumMap<>(Idle.class);

  IdleSlabs(Collection<Slab> unread) {
    this.unread = unread;
  }

  /** Lets go of the slabs that the last walks found. */
  void forget() {
    walks.clear();
  }

  /** The slabs that are known to have an idle reader, or had one a moment ago. */
  Queue<Slab> known(Idle how, long now) {
    Walk walk = walks.get(how);
    if (walk != null && now - walk.endsNanos() < 0) {
      return walk.found();
    }
    Queue<Slab> found = new ArrayDeque<>();
    for (Slab slab : unread) {
      if (isIdle(slab, how, now)) {
        found.add(slab);
      }
    }
    walks.put(how, new Walk(found, now + how.nanos / WALKS_PER_IDLE_TIME));
    return found;
  }

  /** One of them that has one now; null if there is none. */
  @Nullable Slab poll(Idle how, long now) {
    Queue<Slab> found = known(how, now);
    Slab slab = found.poll();
    while (slab != null && !isIdle(slab, how, now)) {
      slab = found.poll();
    }
    return slab;
  }

  /** A reader that reads at this moment does so later than {@code now}. */
  private static boolean isIdle(Slab slab, Idle how, long now) {
    return slab.state() == State.UNREAD
        && (how.takesDirty || !slab.isDirty())
        && now - slab.lastProgressNanos() >= how.nanos;
  }
}
