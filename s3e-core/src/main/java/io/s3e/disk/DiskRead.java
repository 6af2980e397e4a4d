// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Adjacent bytes of one object on their way from disk into a reader's own memory. Threads of the
 * directory read and verify pieces of at most {@value ChunkReader#BATCH_CHUNKS} chunks, two at a
 * time, and copy each chunk to the reader's target; the reader waits ({@link #await}), or is told
 * of the end ({@link #whenOver}).
 *
 * <p><b>States.</b> <i>Reading</i>; then <i>over</i>, once: all bytes have come, or a chunk that is
 * not there ends what can come, or the reader has left, or the patience is over; or no thread comes
 * for the rest, since the directory is left alone or closed.
 *
 * <p><b>Invariants.</b>
 *
 * <ol>
 *   <li>The target is written while the read is not over, with {@code this} held. It is the
 *       reader's alone once {@link #end} has returned.
 *   <li>The disk is read into memory of the reading thread, without the lock. A disk that hangs
 *       holds that thread and that memory, and nothing of the reader's.
 *   <li>Chunks may come in any order; those before the first gap count.
 *   <li>One MiB, of {@value #PATIENCE_CHUNKS} chunks, takes no longer than the patience, with its
 *       time in the directory's queue: a disk that is slower than that is slower than S3.
 * </ol>
 *
 * <p>Any thread.
 */
public final class DiskRead {
  private static final Logger LOG = LoggerFactory.getLogger(DiskRead.class);

  /** Threads that read for one reader at once: one reads while the other copies. */
  private static final int MOST_THREADS = 2;

  /** Chunks after which the patience is renewed: 1 MiB. */
  private static final int PATIENCE_CHUNKS = (1 << 20) / StoredObject.CHUNK_BYTES;

  /** To be woken takes longer than most of what is left of a read. */
  private static final int SPINS = 200;

  /** Who is woken so late was kept from running, as by a collection of garbage: all others too. */
  private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final Readers readers;

  /** Where no thread comes any more, nothing comes but what is being read. */
  private final Readers.Task task = new Readers.Task(this::read, () -> endFrom(Integer.MAX_VALUE));

  private final ChunkRange chunks;

  /** Offset in the object of the target's first byte. */
  private final long start;

  private final ByteBuffer target;

  /** The chunk after the last one that the target takes bytes of. */
  private final int targetEnd;

  /** When the patience was renewed last. */
  private volatile long sinceNanos = System.nanoTime();

  private volatile boolean over;

  // Guarded by this.
  private final BitSet come = new BitSet();
  private int nextToRead;

  /** The chunk after the last one that may still come and that the target takes bytes of. */
  private int wantedEnd;

  private boolean begun;
  private @Nullable Runnable whenOver;

  /** As {@link DiskCache#read}; chunks behind the target are {@linkplain RecentChunks kept}. */
  DiskRead(Readers readers, ChunkRange chunks, long start, ByteBuffer target) {
    this.readers = readers;
    this.chunks = chunks;
    this.start = start;
    this.target = target.slice();
    long end = start + this.target.remaining();
    this.targetEnd = ChunkRange.covering(chunks.object(), start, end).end();
    this.wantedEnd = Math.min(chunks.end(), targetEnd);
    this.nextToRead = chunks.first();
  }

  /** Takes what was kept of the first chunks, and has threads read the rest. */
  void begin() {
    RecentChunks recent = readers.recent;
    int chunk = chunks.first();
    while (chunk < wantedEnd && recent.visit(chunks.object(), chunk, this::take)) {
      chunk++;
    }
    nextToRead = chunk;
    if (over) {
      return;
    }
    int pieces = (wantedEnd - chunk - 1) / ChunkReader.BATCH_CHUNKS + 1;
    boolean isAdmitted = readers.admits();
    for (int i = 0; i < Math.min(pieces, MOST_THREADS); i++) {
      if (!isAdmitted || !readers.execute(task)) {
        task.refused().run();
      }
    }
  }

  /** On a thread of the directory: reads pieces until none is left. */
  private void read() {
    ChunkRange piece = nextPiece();
    while (piece != null) {
      int read = readers.readChunks(piece, this::land);
      if (read < piece.end()) {
        endFrom(read);
      }
      if (readers.isAwaited() && readers.execute(task)) {
        // Readers that came later have their turn.
        return;
      }
      piece = nextPiece();
    }
  }

  private synchronized @Nullable ChunkRange nextPiece() {
    begun = true;
    if (over || nextToRead >= wantedEnd) {
      return null;
    }
    int first = nextToRead;
    nextToRead = Math.min(chunks.end(), first + ChunkReader.BATCH_CHUNKS);
    return new ChunkRange(chunks.object(), first, nextToRead);
  }

  /** A verified chunk has come; false if the reader has left. */
  private boolean land(int chunk, ByteBuffer bytes) {
    if (over && chunk < targetEnd) {
      return false;
    }
    long chunkStart = (long) chunk * StoredObject.CHUNK_BYTES;
    boolean isWhole =
        chunkStart >= start && chunkStart + bytes.remaining() <= start + target.remaining();
    if (!isWhole) {
      // Before the reader is told: its next read looks there.
      readers.recent.keep(chunks.object(), chunk, bytes);
    }
    take(bytes, chunk);
    return true;
  }

  /** Copies what is wanted of a chunk to the target. */
  private void take(ByteBuffer bytes, int chunk) {
    long chunkStart = (long) chunk * StoredObject.CHUNK_BYTES;
    int from = (int) Math.max(0, start - chunkStart);
    synchronized (this) {
      if (over || chunk >= wantedEnd) {
        return;
      }
      int at = (int) (chunkStart + from - start);
      int count = Math.min(bytes.remaining() - from, target.remaining() - at);
      try {
        target.put(at, bytes, bytes.position() + from, count);
        come.set(chunk - chunks.first());
      } catch (RuntimeException e) {
        // Memory of the reader's own thread, or for reading alone, says nothing of the disk.
        LOG.debug("This thread may not write what {} is read into", chunks, e);
        wantedEnd = Math.min(wantedEnd, chunk);
      }
      if (come.cardinality() % PATIENCE_CHUNKS == 0) {
        sinceNanos = System.nanoTime();
      }
      over = isComplete();
    }
    tell();
  }

  /** Nothing comes from {@code chunk} on, nor from what no thread has begun to read. */
  private void endFrom(int chunk) {
    synchronized (this) {
      wantedEnd = Math.min(wantedEnd, Math.min(chunk, nextToRead));
      over |= isComplete();
    }
    tell();
  }

  private boolean isComplete() {
    return come.nextClearBit(0) >= wantedEnd - chunks.first();
  }

  /** Tells of the end once, without the lock. What fails there keeps no other read from its end. */
  @SuppressWarnings("IllegalCatch")
  private void tell() {
    Runnable told;
    synchronized (this) {
      told = over ? whenOver : null;
      whenOver = over ? null : whenOver;
    }
    if (told != null) {
      try {
        told.run();
      } catch (Throwable e) {
        LOG.warn("A reader could not be told that its read from disk is over", e);
      }
    }
  }

  /** Runs {@code then} once the read is over, on any thread; it must not block. */
  public void whenOver(Runnable then) {
    synchronized (this) {
      whenOver = then;
    }
    tell();
  }

  /** Waits for the end while there is patience, and no interrupt; how long the JVM was paused. */
  public long await() {
    for (int i = 0; i < SPINS && !over; i++) {
      Thread.onSpinWait();
    }
    Thread reader = Thread.currentThread();
    whenOver(() -> LockSupport.unpark(reader));
    long pausedNanos = 0;
    while (!over && !reader.isInterrupted()) {
      long from = System.nanoTime();
      long patience = readers.deadlineNanos - (from - pausedNanos - sinceNanos);
      LockSupport.parkNanos(this, patience);
      long now = System.nanoTime();
      if (pausedNanos == 0 && now - from - patience > LATE_NANOS) {
        // The reading threads stood still as well: they get that time, once.
        pausedNanos = now - from;
      }
      checkDeadline(now - pausedNanos);
    }
    return pausedNanos;
  }

  /** Ends the read if its patience is over. */
  public void checkDeadline(long now) {
    if (over || now - sinceNanos < readers.deadlineNanos) {
      return;
    }
    synchronized (this) {
      if (over) {
        return;
      }
      over = true;
    }
    // First: others may be told of their ends then.
    tell();
    readers.timedOut(begun);
  }

  /** Ends the read and tells nobody; how many bytes have come. The target is the caller's now. */
  public synchronized int end() {
    whenOver = null;
    over = true;
    long chunk = chunks.first() + (long) come.nextClearBit(0);
    long bytes = Math.min(chunk * StoredObject.CHUNK_BYTES, chunks.object().size()) - start;
    return (int) Math.max(0, Math.min(target.remaining(), bytes));
  }
}
