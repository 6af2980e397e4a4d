package io.s3e.disk;

import io.s3e.metrics.DiskMetrics.Counter;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One read of one file, in one or more looks at it.
 *
 * <p><b>States.</b> <i>Waiting</i> in the directory's queue or for another process, <i>reading</i>
 * on one of its threads, and <i>ended</i>, once: by its own end or by {@link #giveUp}. One thread
 * at a time looks at the file; only the way to ended is raced for.
 *
 * <p>If the file has not all that is wanted, the block is claimed, and the file looked at once
 * more: whoever had the claim before may have written it in between. If another process has the
 * claim, it is fetching: the file is looked at again after a pause, for as long as {@link
 * #CLAIM_PATIENCE_MILLIS}.
 */
final class FileRead implements DiskRead, Runnable, ChunkSink {
  private static final Logger LOG = LoggerFactory.getLogger(FileRead.class);

  /**
   * A GET of 1 MiB and its writing take 100 ms where S3 is near; many JVMs on few cores, longer.
   */
  static final long CLAIM_PATIENCE_MILLIS = 2_000;

  private static final long FIRST_PAUSE_MILLIS = 4;
  private static final long LONGEST_PAUSE_MILLIS = 32;

  private final CacheDirectory directory;
  private final DiskBlockId id;
  private final int end;
  private final boolean mayClaim;
  private final Receiver receiver;
  private final AtomicBoolean ended = new AtomicBoolean();

  /** Whether a thread has come to it. */
  private volatile boolean begun;

  // Touched by one look after the other.
  private int next;
  private boolean refused;
  private long pauseMillis = FIRST_PAUSE_MILLIS;
  private long busySinceNanos;

  FileRead(
      CacheDirectory directory,
      DiskBlockId id,
      int first,
      int end,
      boolean mayClaim,
      Receiver receiver) {
    this.directory = directory;
    this.id = id;
    this.next = first;
    this.end = end;
    this.mayClaim = mayClaim;
    this.receiver = receiver;
  }

  @Override
  public void run() {
    if (ended.get()) {
      return;
    }
    try {
      look();
    } catch (RuntimeException | Error e) {
      LOG.warn("Read of {} failed", id, e);
      boolean unused = end(End.MISS);
    }
  }

  private void look() {
    begun = true;
    if (isComplete()) {
      end(End.HIT);
    } else if (!mayClaim || refused) {
      end(End.MISS);
    } else if (!ended.get()) {
      claim();
    }
  }

  private boolean isComplete() {
    int before = next;
    directory.readFile(id, next, end, this);
    if (next > before) {
      directory.shelf().used(id);
    }
    return next == end;
  }

  private void claim() {
    switch (directory.claim(id)) {
      case ANOTHER -> waitForOther();
      case NOBODY -> end(End.MISS);
      case THIS_ENGINE -> {
        boolean passedOn = false;
        try {
          boolean complete = isComplete();
          passedOn = end(complete ? End.HIT : End.CLAIMED) && !complete;
        } finally {
          if (!passedOn) {
            directory.claimEnded(id);
          }
        }
      }
    }
  }

  private void waitForOther() {
    long now = System.nanoTime();
    if (busySinceNanos == 0) {
      busySinceNanos = now;
      directory.metrics().count(Counter.CLAIM_WAITS);
      directory.markAwaited(id);
    }
    if (now - busySinceNanos > TimeUnit.MILLISECONDS.toNanos(CLAIM_PATIENCE_MILLIS)) {
      directory.metrics().count(Counter.CLAIM_TIMEOUTS);
      end(End.MISS);
      return;
    }
    receiver.onBusy();
    long pause = pauseMillis;
    pauseMillis = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
    if (!directory.executeLater(this, pause)) {
      end(End.MISS);
    }
  }

  @Override
  public boolean accept(int chunk, ByteBuffer bytes) {
    if (chunk != next || ended.get()) {
      return false;
    }
    refused = !receiver.onBytes(bytes);
    next += refused ? 0 : 1;
    return !refused;
  }

  /** Ends the read, unless it has ended. */
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
      directory.timedOut(begun);
    }
  }
}
