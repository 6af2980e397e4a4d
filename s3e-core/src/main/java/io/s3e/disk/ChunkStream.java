package io.s3e.disk;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Adjacent chunks on their way from disk to one reader that takes them at once, in order: they go
 * through memory of the cache's own and not through blocks. While the reader copies a piece, the
 * next one is read.
 *
 * <p><b>States of a piece.</b> <i>Asked</i>; then <i>there</i>, verified, until the reader comes to
 * the next one; or <i>left</i>, by a reader that waits for it no more. The thread that finds a
 * piece left gives its memory back, so a disk that hangs holds that and nothing of the reader's.
 *
 * <p>One thread, that of the reader; pieces are read by the directory's.
 */
public final class ChunkStream implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ChunkStream.class);

  /** Pieces that are under way or in the reader's hands. */
  private static final int MOST_PIECES = 3;

  /** To be woken takes longer than most of what is left of a piece. */
  private static final int SPINS = 200;

  private enum State {
    ASKED,
    THERE,
    LEFT
  }

  private final RegionStore store;
  private final ChunkRange chunks;
  private final long patienceNanos;
  private final Deque<Piece> pieces = new ArrayDeque<>(MOST_PIECES);
  private int nextToAsk;
  private @Nullable Piece inHand;

  /** Whether a piece has brought less than was asked for: what follows it is not next. */
  private boolean ended;

  /**
   * @param chunks on disk, as far as is known
   * @param patienceNanos the longest wait for one piece, in ns
   */
  ChunkStream(RegionStore store, ChunkRange chunks, long patienceNanos) {
    this.store = store;
    this.chunks = chunks;
    this.patienceNanos = patienceNanos;
    this.nextToAsk = chunks.first();
    ask();
  }

  private void ask() {
    while (!ended && nextToAsk < chunks.end() && pieces.size() < MOST_PIECES - 1) {
      int end = Math.min(chunks.end(), nextToAsk + ChunkReader.BATCH_CHUNKS);
      ChunkReader reader = store.takeReader();
      if (reader == null) {
        return;
      }
      Piece piece = new Piece(reader, new ChunkRange(chunks.object(), nextToAsk, end));
      if (!store.execute(piece)) {
        store.giveBack(reader);
        return;
      }
      pieces.add(piece);
      nextToAsk = end;
    }
  }

  /**
   * The next bytes, valid until the next call; null if no more come, or not in time.
   *
   * @return from position to limit, to be read only
   */
  public @Nullable ByteBuffer next() {
    release();
    ask();
    Piece piece = ended ? null : pieces.poll();
    if (piece == null) {
      return null;
    }
    if (!piece.await()) {
      ended = true;
      return null;
    }
    inHand = piece;
    ended = piece.taken < piece.wanted.end();
    if (!ended) {
      ask();
    }
    return piece.bytes;
  }

  private void release() {
    Piece done = inHand;
    if (done != null) {
      inHand = null;
      store.giveBack(done.reader);
    }
  }

  /** The reader wants no more. */
  @Override
  public void close() {
    release();
    pieces.forEach(Piece::leave);
    pieces.clear();
  }

  private final class Piece implements Runnable {
    private final ChunkReader reader;
    private final ChunkRange wanted;
    private final Thread waiter = Thread.currentThread();
    private final AtomicReference<State> state = new AtomicReference<>(State.ASKED);
    private volatile boolean begun;

    // Written before THERE is, read after.
    private @Nullable ByteBuffer bytes;
    private int taken;

    Piece(ChunkReader reader, ChunkRange wanted) {
      this.reader = reader;
      this.wanted = wanted;
      this.taken = wanted.first();
    }

    @Override
    public void run() {
      begun = true;
      if (state.get() == State.ASKED) {
        try {
          bytes = store.readPiece(reader, wanted);
          taken = wanted.first() + reader.batchChunks();
        } catch (RuntimeException | Error e) {
          LOG.warn("Read of {} failed", wanted, e);
        }
      }
      if (state.compareAndSet(State.ASKED, State.THERE)) {
        LockSupport.unpark(waiter);
      } else {
        store.giveBack(reader);
      }
    }

    /** Whether its bytes have come; if not, it is left. */
    boolean await() {
      for (int i = 0; i < SPINS && state.get() == State.ASKED; i++) {
        Thread.onSpinWait();
      }
      long deadline = System.nanoTime() + patienceNanos;
      while (state.get() == State.ASKED && !Thread.currentThread().isInterrupted()) {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
          store.timedOut(begun);
          break;
        }
        LockSupport.parkNanos(ChunkStream.this, left);
      }
      if (state.get() == State.THERE && bytes != null) {
        return true;
      }
      leave();
      return false;
    }

    void leave() {
      if (!state.compareAndSet(State.ASKED, State.LEFT)) {
        store.giveBack(reader);
      }
    }
  }
}
