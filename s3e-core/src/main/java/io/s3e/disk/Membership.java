package io.s3e.disk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This JVM's place in one instance of the cache: its owner lock, and what its engines share there.
 * One for each instance and JVM; the first engine makes it, the last one ends it.
 *
 * <p>How many engines there are is guarded by the registry's lock, under which no I/O is done: a
 * hung disk holds up only those that come to it. The lock file is guarded by this object.
 */
final class Membership {
  static final String OWNERS = "owners";
  static final String CLAIMS = "claims";
  static final String TMP = "tmp";
  static final String BLOCKS = "blocks";

  /** The longest that leaving waits for the disk, in ms: an exit must not take longer. */
  static final long LEAVE_MILLIS = 2000;

  private static final Logger LOG = LoggerFactory.getLogger(Membership.class);

  /** All of this JVM, by the instance's path. Guards {@link #engines} of each. */
  private static final Map<Path, Membership> HERE = new HashMap<>();

  private final Path instance;
  private final String ownerId;
  private final DirectoryGuard guard;
  private final boolean isPrivate;
  private final AtomicLong claims = new AtomicLong();
  private final Allowance allowance;

  /** Guards {@link #janitor}. */
  private final Object office = new Object();

  private @Nullable Janitor janitor;
  private int engines;
  private @Nullable ProcessLock lock;
  private boolean left;

  private Membership(Path instance, String ownerId, DirectoryGuard guard, boolean isPrivate) {
    this.instance = instance;
    this.ownerId = ownerId;
    this.guard = guard;
    this.isPrivate = isPrivate;
    this.allowance = new Allowance(ownerId);
  }

  /**
   * Joins an instance, laying it out if needed.
   *
   * @param ownerId what this process is to be called if it is not there yet
   * @return null if somebody took the instance for abandoned just then: try again
   */
  static @Nullable Membership join(
      Path instance, String ownerId, DirectoryGuard guard, DiskCacheConfig.Scope scope)
      throws IOException {
    Membership membership;
    synchronized (HERE) {
      membership =
          HERE.computeIfAbsent(
              instance,
              path -> new Membership(path, ownerId, guard, scope == DiskCacheConfig.Scope.PRIVATE));
      membership.engines++;
    }
    boolean joined = false;
    try {
      joined = membership.lockOwner();
    } finally {
      if (!joined) {
        membership.leave();
      }
    }
    if (joined && membership.isPrivate) {
      ExitRemoval.add(membership);
    }
    return joined ? membership : null;
  }

  private synchronized boolean lockOwner() throws IOException {
    if (left) {
      return false;
    }
    if (lock == null) {
      layOut();
      lock = ProcessLock.tryTake(Owners.lockFile(instance.resolve(OWNERS), ownerId));
    }
    return lock != null;
  }

  private void layOut() throws IOException {
    for (String part : List.of(OWNERS, CLAIMS, TMP, BLOCKS)) {
      guard.require(instance.resolve(part));
    }
  }

  /**
   * Lays the instance out again if its directories or the lock are gone.
   *
   * @return whether anything was missing
   */
  synchronized boolean repair() throws IOException {
    ProcessLock held = lock;
    if (left) {
      return false;
    }
    boolean whole = held != null && held.isInPlace();
    for (String part : List.of(CLAIMS, TMP, BLOCKS)) {
      whole &= Files.isDirectory(instance.resolve(part), LinkOption.NOFOLLOW_LINKS);
    }
    if (whole) {
      return false;
    }
    if (held != null && !held.isInPlace()) {
      lock = null;
      held.close();
    }
    layOut();
    if (lock == null) {
      lockOwner();
    }
    return true;
  }

  /**
   * One engine less. The last one gives the lock back, and removes the instance if it is private,
   * for which it waits {@value #LEAVE_MILLIS} ms at most.
   */
  void leave() {
    synchronized (HERE) {
      engines--;
      if (engines > 0) {
        return;
      }
      HERE.remove(instance, this);
    }
    Background.run("s3e-cache-leave", LEAVE_MILLIS, this::end);
    ExitRemoval.remove(this);
  }

  /** Gives back what this process has in the instance. May block as the disk likes. */
  synchronized void end() {
    left = true;
    ProcessLock held = lock;
    lock = null;
    try {
      if (isPrivate) {
        Leavings.remove(instance);
      } else if (held != null) {
        // While it is held, so that nobody sees the file of an owner that is not there.
        Files.deleteIfExists(held.file());
      }
    } catch (IOException e) {
      // Others remove it: it is the leaving of a dead process by then.
      LOG.debug("cannot leave {} clean: {}", instance, e.toString());
    } finally {
      close(held);
    }
  }

  private void close(@Nullable ProcessLock held) {
    try {
      if (held != null) {
        held.close();
      }
    } catch (IOException e) {
      LOG.debug("cannot close the lock of {}: {}", instance, e.toString());
    }
  }

  Path instance() {
    return instance;
  }

  String ownerId() {
    return ownerId;
  }

  /** A number for a claim that no other claim of this process has. */
  long nextClaim() {
    return claims.incrementAndGet();
  }

  /** What this process may write here. */
  Allowance allowance() {
    return allowance;
  }

  /** This JVM's janitor in the instance, which works for one engine more. */
  Janitor employ(Janitor.Tools tools) {
    synchronized (office) {
      Janitor present = janitor;
      if (present != null) {
        present.add(tools);
        return present;
      }
      Janitor first = new Janitor(allowance, tools);
      first.start();
      janitor = first;
      return first;
    }
  }

  /** One engine less; the last one ends the janitor, and waits for it, but not for long. */
  void dismiss(Janitor.Tools tools) {
    Janitor last;
    synchronized (office) {
      last = janitor;
      if (last == null || !last.remove(tools)) {
        return;
      }
      janitor = null;
    }
    last.stop();
  }
}
