package io.s3e.disk;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Removes the private instances of this JVM when it exits without closing them: one hook for all,
 * that keeps the exit for {@link Membership#LEAVE_MILLIS} at most. What it does not get done is the
 * leaving of a dead process, for the next one to remove.
 */
final class ExitRemoval {
  /** Those to be removed. Guards itself and the hook. */
  private static final Set<Membership> OPEN = new HashSet<>();

  private static final Thread HOOK = new Thread(ExitRemoval::removeAll, "s3e-cache-exit");
  private static boolean hooked;

  private ExitRemoval() {}

  static void add(Membership membership) {
    synchronized (OPEN) {
      OPEN.add(membership);
      if (!hooked) {
        try {
          Runtime.getRuntime().addShutdownHook(HOOK);
        } catch (IllegalStateException e) {
          // The JVM exits already; the instance is removed by the next process.
          return;
        }
        hooked = true;
      }
    }
  }

  /** It was removed. The last one takes the hook away, so that it keeps no class loader. */
  static void remove(Membership membership) {
    synchronized (OPEN) {
      if (OPEN.remove(membership) && OPEN.isEmpty() && hooked) {
        try {
          hooked = !Runtime.getRuntime().removeShutdownHook(HOOK);
        } catch (IllegalStateException e) {
          // The JVM exits already, and the hook finds nothing to do.
          hooked = true;
        }
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
