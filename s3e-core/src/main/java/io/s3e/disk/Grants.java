package io.s3e.disk;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Divides free space among processes so that all of them together never write more than there is,
 * though none asks the others.
 *
 * <p>A grant says what a process may write from the moment on at which the janitor looked. A
 * process may still work with an older publication than the last, for {@link #IN_FORCE} at most. So
 * what it may have been told counts, not only what it is told now: the sum over processes of the
 * largest grant that may be in force stays within the free space. A grant is taken down at once,
 * and raised only by what is then left. Where even what is in force is more than what is free,
 * nothing is granted until it no longer is.
 *
 * <p>Half of what is free is granted, and one share of that is kept for a newcomer. So, if all have
 * written all that they may, there is still room for the same again, and nobody waits for old
 * grants to run out.
 *
 * <p>Pure; one thread.
 */
final class Grants {
  /**
   * A process reads what is published every {@value Janitor#TICK_MILLIS} ms, and writes nothing
   * once it has not for {@link Allowance#STALE}, which is less than this.
   */
  static final Duration IN_FORCE = Duration.ofSeconds(2);

  /**
   * @param sure whether it is known to have reached all; one that was not published for sure may be
   *     in force, and what was before it, too
   */
  private record Published(long nanos, Map<String, Long> grants, boolean sure) {}

  /** Those that may be in force, oldest first. */
  private final List<Published> published = new ArrayList<>();

  /**
   * Learns what an earlier janitor published last to those that live. What it published just before
   * may be in force, too: {@link #next} must not be asked for {@link #IN_FORCE}.
   */
  void inherit(Map<String, Long> grants, long nanos) {
    published.clear();
    published.add(new Published(nanos, grants, true));
  }

  /**
   * What each may write from now on.
   *
   * @param living the processes
   * @param free what all together may write, in bytes; may be negative
   * @return for each of them, 0 or more
   */
  Map<String, Long> next(Collection<String> living, long free, long nanos) {
    dropWhatIsOutOfForce(nanos);
    Map<String, Long> most = new HashMap<>();
    for (String owner : living) {
      most.put(owner, mostInForce(owner));
    }
    long share = share(living.size(), free);
    long left = free;
    for (long bytes : most.values()) {
      left -= bytes;
    }
    if (left < 0) {
      most.replaceAll((owner, bytes) -> 0L);
      return publish(most, nanos);
    }
    List<String> raised =
        living.stream()
            .filter(owner -> most.getOrDefault(owner, 0L) < share)
            .sorted(Comparator.comparing(owner -> -most.getOrDefault(owner, 0L)))
            .toList();
    Map<String, Long> grants = new HashMap<>();
    living.forEach(owner -> grants.put(owner, share));
    int waiting = raised.size();
    for (String owner : raised) {
      long held = most.getOrDefault(owner, 0L);
      long more = Math.max(0, Math.min(share - held, left / waiting));
      grants.put(owner, held + more);
      left -= more;
      waiting--;
    }
    return publish(grants, nanos);
  }

  private Map<String, Long> publish(Map<String, Long> grants, long nanos) {
    published.add(new Published(nanos, grants, false));
    return grants;
  }

  /** What {@link #next} said last has been published, at this time or before it. */
  void wasPublished(long nanos) {
    Published last = published.remove(published.size() - 1);
    published.add(new Published(nanos, last.grants, true));
  }

  /** What a process gets if all are treated alike and one more comes. */
  static long share(int processes, long free) {
    return Math.max(0, free / (2L * (processes + 1)));
  }

  private void dropWhatIsOutOfForce(long nanos) {
    // The newest of those that everybody must have read by now replaces all before it.
    for (int i = published.size() - 1; i > 0; i--) {
      Published each = published.get(i);
      if (each.sure && nanos - each.nanos >= IN_FORCE.toNanos()) {
        published.subList(0, i).clear();
        return;
      }
    }
  }

  private long mostInForce(String owner) {
    long most = 0;
    for (Published each : published) {
      most = Math.max(most, each.grants.getOrDefault(owner, 0L));
    }
    return most;
  }
}
