package io.s3e.disk;

import io.s3e.metrics.DiskMetrics.Counter;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * One look at a shared cache before a fetch: it ends as a hit if the chunks have come meanwhile,
 * tells other processes that this one fetches them, or waits for the process that already does.
 *
 * <p>While another process fetches, it looks again after a pause, on whatever thread is free.
 */
final class Announcement extends Look {
  /**
   * A GET of 1 MiB and its writing take 100 ms where S3 is near; many JVMs on few cores, longer.
   */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final long FIRST_PAUSE_MILLIS = 4;
  private static final long LONGEST_PAUSE_MILLIS = 32;

  private final int enough;

  // Touched by one look after the other.
  private long pauseMillis = FIRST_PAUSE_MILLIS;
  private long busySinceNanos;

  Announcement(RegionStore store, ChunkRange wanted, int enough, Receiver receiver) {
    super(store, wanted, receiver);
    this.enough = enough;
  }

  @Override
  void look() throws IOException {
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
}
