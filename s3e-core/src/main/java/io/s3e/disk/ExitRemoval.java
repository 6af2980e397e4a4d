package io.s3e.disk;

import io.s3e.jvm.JvmEnd;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Removes the private instances of this JVM when it exits without closing them: one task for all,
 * that keeps the exit for {@link Membership#LEAVE_MILLIS} at most. What it does not get done is the
 * leaving of a dead process, for the next one to remove.
 */
final class ExitRemoval {
  /** Those to be removed. Guards itself. */
  private static final Set<Membership> OPEN = new HashSet<>();

  private static final Runnable TASK = ExitRemoval::removeAll;

  private ExitRemoval() {}

  static void add(Membership membership) {
    synchronized (OPEN) {
      OPEN.add(membership);
      JvmEnd.last(TASK);
    }
  }

  /** It was removed. */
  static void remove(Membership membership) {
    synchronized (OPEN) {
      if (OPEN.remove(membership) && OPEN.isEmpty()) {
        JvmEnd.forget(TASK);
      }
    }
  }

  private static void removeAll() {
    List<Membership> open;
    synchronized (OPEN) {
      open = List.copyOf(OPEN);
    }
    Background.run("s3e-cache-leave", Membership.LEAVE_MILLIS, () -> open.forEach(Membership::end));
  }
}
