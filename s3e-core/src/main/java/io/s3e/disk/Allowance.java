package io.s3e.disk;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What this process may still write into a shared instance. The janitor grants it so many bytes
 * from the moment on at which it looked; what was written since then, and what is being written, is
 * taken off.
 *
 * <p>A thread sets room aside before it writes and says how much it took afterwards. Asking again
 * gives up what it had set aside, and so does time, so that writes that failed cost nothing.
 *
 * <p>Any thread. Pure but for its lock.
 */
final class Allowance {
  /** A publication read longer ago than this may have been replaced by a smaller one. */
  static final Duration STALE = Duration.ofMillis(1500);

  /** What was set aside this long ago is not coming. */
  private static final long FORGOTTEN_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** Writes are remembered by the slice of time that they ended in. */
  private static final long SLICE_MILLIS = 100;

  private record Aside(long bytes, long nanos) {}

  private static final class Slice {
    private final long startMillis;
    private long bytes;

    private Slice(long startMillis) {
      this.startMillis = startMillis;
    }
  }

  private final String ownerId;
  private final Map<Thread, Aside> aside = new HashMap<>();
  private final Deque<Slice> written = new ArrayDeque<>();
  private @Nullable Publication publication;
  private long readNanos;

  Allowance(String ownerId) {
    this.ownerId = ownerId;
  }

  /** What was published, as read just now; null if nothing is. */
  synchronized void read(@Nullable Publication latest, long nanos) {
    publication = latest;
    readNanos = nanos;
    if (latest != null) {
      written.removeIf(slice -> slice.startMillis + SLICE_MILLIS <= latest.scannedMillis());
    }
  }

  /** Sets room aside for the next file of this thread, in place of what it had set aside. */
  synchronized boolean trySetAside(Thread thread, long bytes, long nanos) {
    aside.remove(thread);
    if (bytes > left(nanos)) {
      return false;
    }
    aside.put(thread, new Aside(bytes, nanos));
    return true;
  }

  /** This thread has written a file. */
  synchronized void written(Thread thread, long bytes, long millis) {
    aside.remove(thread);
    Slice last = written.peekLast();
    if (last == null || millis < last.startMillis || millis >= last.startMillis + SLICE_MILLIS) {
      last = new Slice(millis);
      written.addLast(last);
    }
    last.bytes += bytes;
  }

  /** Bytes that may still be written. */
  synchronized long left(long nanos) {
    if (publication == null || nanos - readNanos > STALE.toNanos()) {
      return 0;
    }
    long left = publication.grants().getOrDefault(ownerId, 0L) - writtenSince();
    for (Iterator<Aside> each = aside.values().iterator(); each.hasNext(); ) {
      Aside one = each.next();
      if (nanos - one.nanos > FORGOTTEN_NANOS) {
        each.remove();
      } else {
        left -= one.bytes;
      }
    }
    return Math.max(0, left);
  }

  /** What all processes held when the janitor looked, and what this one has written since. */
  synchronized long bytes() {
    return (publication == null ? 0 : publication.bytes()) + writtenSince();
  }

  /** Bytes that this process has written since the janitor looked. */
  synchronized long writtenSince() {
    long bytes = 0;
    for (Slice slice : written) {
      bytes += slice.bytes;
    }
    return bytes;
  }

  /** The last one read. */
  synchronized @Nullable Publication publication() {
    return publication;
  }
}
