package io.s3e.disk;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One look at a directory, on its threads.
 *
 * <p><b>States.</b> <i>Waiting</i> in the directory's queue or between two runs, <i>looking</i> on
 * one of its threads, and <i>ended</i>, once: by its own {@link #end}, by {@link #cancel} or by
 * {@link #giveUp}. One thread at a time looks; only the way to ended is raced for.
 */
abstract class Look implements DiskRead, Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Look.class);

  final RegionStore store;
  final ChunkRange wanted;
  final Receiver receiver;
  private final AtomicBoolean ended = new AtomicBoolean();

  /** Whether a thread has come to it. */
  private volatile boolean begun;

  Look(RegionStore store, ChunkRange wanted, Receiver receiver) {
    this.store = store;
    this.wanted = wanted;
    this.receiver = receiver;
  }

  /** Looks, and either ends or sees to it that it is run again. */
  abstract void look() throws IOException;

  @Override
  public final void run() {
    if (ended.get()) {
      return;
    }
    begun = true;
    try {
      look();
    } catch (IOException e) {
      LOG.debug("Look for {} failed", wanted, e);
      boolean unused = end(End.MISS);
    } catch (RuntimeException | Error e) {
      LOG.warn("Look for {} failed", wanted, e);
      boolean unused = end(End.MISS);
    }
  }

  final boolean hasEnded() {
    return ended.get();
  }

  /** Ends the look, unless it has ended; whether it was this call. */
  final boolean end(End how) {
    boolean first = ended.compareAndSet(false, true);
    if (first) {
      receiver.onEnd(how);
    }
    return first;
  }

  @Override
  public final void cancel() {
    ended.set(true);
  }

  @Override
  public final void giveUp() {
    if (ended.compareAndSet(false, true)) {
      store.timedOut(begun);
    }
  }
}
