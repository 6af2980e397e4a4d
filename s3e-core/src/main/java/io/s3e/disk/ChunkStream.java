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
 * <p><b>Invariants.</b>
 *
 * <ol>
 *   <li>The piece in hand and those that were asked for adjoin, in the order of the queue. A piece
 *       that brings less than was asked for is followed by one for the rest, in front of the queue;
 *       a piece that brings nothing ends the stream.
 *   <li>The memory of a piece is given back once: by the reader if the piece is there, by the
 *       thread that reads if it is left.
 *   <li>The waits for one MiB, of {@value #PATIENCE_CHUNKS} chunks, take the patience in all, not
 *       each of them: a disk that is slower than that is slower than S3.
 * </ol>
 *
 * <p>One thread, that of the reader; pieces are read by the directory's.
 */
public final class ChunkStream implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ChunkStream.class);

  /** Pieces that are under way or in the reader's hands. */
  private static final int MOST_PIECES = 3;

  /** Chunks after which the patience is renewed: 1 MiB. */
  private static final int PATIENCE_CHUNKS = (1 << 20) / StoredObject.CHUNK_BYTES;

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

  /** What is left of the patience, in ns. */
  private long leftNanos;

  /** Chunks that were handed on since the patience was renewed. */
  private int handedOn;

  /**
   * @param chunks on disk, as far as is known
   * @param patienceNanos the longest that the waits for 1 MiB may take together, in ns
   */
  ChunkStream(RegionStore store, ChunkRange chunks, long patienceNanos) {
    this.store = store;
    this.chunks = chunks;
    this.patienceNanos = patienceNanos;
    this.leftNanos = patienceNanos;
    this.nextToAsk = chunks.first();
    askAhead();
  }

  private void askAhead() {
    while (nextToAsk < chunks.end() && pieces.size() < MOST_PIECES - 1) {
      int end = Math.min(chunks.end(), nextToAsk + ChunkReader.BATCH_CHUNKS);
      Piece piece = ask(nextToAsk, end);
      if (piece == null) {
        return;
      }
      pieces.addLast(piece);
      nextToAsk = end;
    }
  }

  /** Has chunks read; null if there is no memory for them now, or the cache is closed. */
  private @Nullable Piece ask(int first, int end) {
    ChunkReader reader = store.takeReader();
    if (reader == null) {
      return null;
    }
    Piece piece = new Piece(reader, new ChunkRange(chunks.object(), first, end));
    if (!store.execute(piece)) {
      store.giveBack(reader);
      return null;
    }
    return piece;
  }

  /**
   * The next bytes, valid until the next call; null if no more come, or not in time.
   *
   * @return from position to limit, to be read only
   */
  public @Nullable ByteBuffer next() {
    Piece before = inHand;
    release();
    boolean adjoins = before == null || before.isWhole() || askRest(before);
    if (adjoins) {
      askAhead();
    }
    Piece piece = adjoins ? pieces.poll() : null;
    if (piece == null || !piece.await()) {
      nextToAsk = chunks.end();
      close();
      return null;
    }
    inHand = piece;
    handedOn += piece.taken - piece.wanted.first();
    if (handedOn >= PATIENCE_CHUNKS) {
      handedOn = 0;
      leftNanos = patienceNanos;
    }
    askAhead();
    return piece.bytes;
  }

  /** Asks for what a piece has not brought, in front of what follows it. */
  private boolean askRest(Piece before) {
    Piece rest = ask(before.taken, before.wanted.end());
    if (rest != null) {
      pieces.addFirst(rest);
    }
    return rest != null;
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

    /** Whether it has brought all that was asked for. */
    boolean isWhole() {
      return taken == wanted.end();
    }

    /** Whether its bytes have come; if not, it is left. */
    boolean await() {
      for (int i = 0; i < SPINS && state.get() == State.ASKED; i++) {
        Thread.onSpinWait();
      }
      if (state.get() == State.ASKED) {
        park();
      }
      if (state.get() == State.THERE && bytes != null) {
        return true;
      }
      leave();
      return false;
    }

    /** Waits for as long as there is patience, which is less by that afterwards. */
    private void park() {
      long begin = System.nanoTime();
      long most = leftNanos;
      while (state.get() == State.ASKED && !Thread.currentThread().isInterrupted()) {
        if (leftNanos <= 0) {
          store.timedOut(begun);
          return;
        }
        LockSupport.parkNanos(ChunkStream.this, leftNanos);
        leftNanos = most - (System.nanoTime() - begin);
      }
    }

    /** The reader waits for it no more, or it has brought nothing. */
    void leave() {
      if (!state.compareAndSet(State.ASKED, State.LEFT)) {
        store.giveBack(reader);
      }
    }
  }
}
