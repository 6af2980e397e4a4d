package io.s3e.disk;

import io.s3e.metrics.DiskMetrics.Counter;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One look at a shared cache before a fetch: it ends as a hit if the chunks have come meanwhile,
 * tells other processes that this one fetches them, or waits for the process that already does.
 *
 * <p><b>States.</b> <i>Waiting</i> in the directory's queue or for another process, <i>looking</i>
 * on one of its threads, and <i>ended</i>, once. One thread at a time looks; only the way to ended
 * is raced for.
 */
final class Announcement implements DiskRead, Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Announcement.class);

  /**
   * A GET of 1 MiB and its writing take 100 ms where S3 is near; many JVMs on few cores, longer.
   */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final long FIRST_PAUSE_MILLIS = 4;
  private static final long LONGEST_PAUSE_MILLIS = 32;

  private final RegionStore store;
  private final ChunkRange wanted;
  private final int enough;
  private final Receiver receiver;
  private final AtomicBoolean ended = new AtomicBoolean();

  /** Whether a thread has come to it. */
  private volatile boolean begun;

  // Touched by one look after the other.
  private long pauseMillis = FIRST_PAUSE_MILLIS;
  private long busySinceNanos;

  Announcement(RegionStore store, ChunkRange wanted, int enough, Receiver receiver) {
    this.store = store;
    this.wanted = wanted;
    this.enough = enough;
    this.receiver = receiver;
  }

  @Override
  public void run() {
    if (ended.get()) {
      return;
    }
    begun = true;
    try {
      look();
    } catch (IOException | RuntimeException | Error e) {
      LOG.debug("Look for {} failed", wanted, e);
      end(End.MISS);
    }
  }

  private void look() throws IOException {
    if (store.isThere(wanted, enough)) {
      end(End.HIT);
      return;
    }
    switch (store.claimant(wanted)) {
      case ANOTHER -> waitForOther();
      case NOBODY -> end(End.MISS);
      case THIS_PROCESS -> {
        boolean passedOn = false;
        try {
          // Another may have been through between the two looks.
          boolean there = store.isThere(wanted, enough);
          passedOn = end(there ? End.HIT : End.CLAIMED) && !there;
        } finally {
          if (!passedOn) {
            store.claimEnded(wanted);
          }
        }
      }
    }
  }

  private void waitForOther() {
    long now = System.nanoTime();
    if (busySinceNanos == 0) {
      busySinceNanos = now;
      store.metrics().count(Counter.CLAIM_WAITS);
    }
    if (now - busySinceNanos > PATIENCE_NANOS) {
      store.metrics().count(Counter.CLAIM_TIMEOUTS);
      end(End.MISS);
      return;
    }
    receiver.onBusy();
    long pause = pauseMillis;
    pauseMillis = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
    if (!store.executeLater(this, pause)) {
      end(End.MISS);
    }
  }

  /** Ends it, unless it has ended; whether it was this call. */
  boolean end(End how) {
    boolean first = ended.compareAndSet(false, true);
    if (first) {
      receiver.onEnd(how);
    }
    return first;
  }

  @Override
  public void cancel() {
    ended.set(true);
  }

  @Override
  public void giveUp() {
    if (ended.compareAndSet(false, true)) {
      store.timedOut(begun);
    }
  }
}
