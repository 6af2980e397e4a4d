package io.s3e.disk;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One read of adjacent chunks.
 *
 * <p><b>States.</b> <i>Waiting</i> in the directory's queue, <i>reading</i> on one of its threads,
 * and <i>ended</i>, once: by its own end, by {@link #cancel} or by {@link #giveUp}. Only the way to
 * ended is raced for.
 */
final class RegionRead implements DiskRead, Runnable, ChunkSink {
  private static final Logger LOG = LoggerFactory.getLogger(RegionRead.class);

  private final RegionStore store;
  private final ChunkRange wanted;
  private final Receiver receiver;
  private final AtomicBoolean ended = new AtomicBoolean();

  /** Whether a thread has come to it. */
  private volatile boolean begun;

  RegionRead(RegionStore store, ChunkRange wanted, Receiver receiver) {
    this.store = store;
    this.wanted = wanted;
    this.receiver = receiver;
  }

  @Override
  public void run() {
    if (ended.get()) {
      return;
    }
    begun = true;
    boolean complete = false;
    try {
      complete = store.readChunks(wanted, this) == wanted.end();
    } catch (RuntimeException | Error e) {
      LOG.warn("Read of {} failed", wanted, e);
    }
    end(complete ? End.HIT : End.MISS);
  }

  @Override
  public boolean accept(int chunk, ByteBuffer bytes) {
    return !ended.get() && receiver.onBytes(bytes);
  }

  /** Ends the read, unless it has ended. */
  void end(End how) {
    if (ended.compareAndSet(false, true)) {
      receiver.onEnd(how);
    }
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
