// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.disk.Region.Place;
import io.s3e.disk.WriteBack.Piece;
import io.s3e.jvm.Background;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what is offered to one directory: by {@value #STAGE_BYTES} bytes, behind what its region
 * has already.
 *
 * <p><b>States of an offer.</b> <i>Refused</i> at once, or <i>waiting</i>, in memory that everybody
 * may take; then <i>staged</i>, chunk by chunk: sealed in memory of the writing thread, so that the
 * piece that it came from is free; then <i>written</i>, or <i>dropped</i> in any of these. Each
 * byte offered is counted once more, as written or under the reason why it was dropped. The waiting
 * bytes are bounded: a disk that is slower than S3 gets a part and holds nobody up.
 *
 * <p><b>The stage.</b> Chunks of one region, one after the other as they will stand there, those of
 * many small objects too. The stage is written when it is full, when another region is to be
 * written, and when nothing waits. Chunks are known to be there when their bytes are.
 *
 * <p><b>Threads.</b> Any thread offers and waits for nothing; one thread writes. A disk that hangs
 * holds that thread and the stage. An offer finds that it hangs, and a later one drops what waits,
 * and has the directory left alone.
 */
final class Appender {
  private static final Logger LOG = LoggerFactory.getLogger(Appender.class);

  /** Long enough to keep a disk busy with one write, short enough to hold for each directory. */
  private static final int STAGE_BYTES = 1 << 20;

  /** Memory of a stage: with room for the seal behind the last chunk. */
  static final int STAGE_MEMORY = STAGE_BYTES + RegionSeal.WORK_BYTES;

  /** A write that takes longer hangs, if that is seen twice: the JVM may have been paused. */
  private static final long HANGS_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** The thread looks again so often at what other processes have written. */
  private static final long LONGEST_PARK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Regions regions;
  private final ChunkIndex index;
  private final Breaker breaker;
  private final DiskMetrics metrics;
  private final long mostWaitingBytes;
  private final Thread thread;
  private final Queue<WriteBack> waiting = new ConcurrentLinkedQueue<>();

  /** Bytes that were offered, and are neither written nor dropped. */
  final AtomicLong waitingBytes = new AtomicLong();

  /** When the operation began that the writing thread was in last; 0 between its steps. */
  private volatile long busySinceNanos;

  /** When an offer last was the first to find such an operation late. */
  private volatile long lateNanos = System.nanoTime();

  private volatile boolean closed;

  // The writing thread's.
  /** When the regions of other processes were looked at last. */
  private long lookedNanos = System.nanoTime() - LONGEST_PARK_NANOS;

  private final RegionSeal seal = new RegionSeal();
  private final ByteBuffer stage = ByteBuffer.allocateDirect(STAGE_MEMORY);

  /** The places of the staged chunks, all in the own region. */
  private final List<Place> staged = new ArrayList<>();

  private long stagedBytes;

  Appender(
      Regions regions,
      ChunkIndex index,
      Breaker breaker,
      DiskMetrics metrics,
      long mostWaitingBytes) {
    this.regions = regions;
    this.index = index;
    this.breaker = breaker;
    this.metrics = metrics;
    this.mostWaitingBytes = mostWaitingBytes;
    this.thread = Background.daemon("s3e-disk-writer", this::run);
  }

  void start() {
    thread.start();
  }

  /** Takes bytes to be written; those that it refuses are counted and ended before it returns. */
  void offer(WriteBack offered) {
    long bytes = offered.bytes();
    metrics.add(Counter.OFFERED_BYTES, bytes);
    Counter refusal = refusal(bytes);
    if (refusal != null) {
      metrics.add(refusal, bytes);
      offered.drop();
      return;
    }
    waiting.add(offered);
    if (closed) {
      dropWaiting(Counter.DROPPED_CLOSED_BYTES);
    }
    LockSupport.unpark(thread);
  }

  private @Nullable Counter refusal(long bytes) {
    giveUpHang();
    if (!breaker.allows() && !breaker.tryProbe()) {
      return Counter.DROPPED_FAULT_BYTES;
    }
    long before = waitingBytes.getAndAdd(bytes);
    if (before > 0 && before + bytes > mostWaitingBytes) {
      // One offer is taken however long it is: nothing would ever be written of long runs else.
      waitingBytes.addAndGet(-bytes);
      breaker.unused();
      return Counter.DROPPED_BEHIND_BYTES;
    }
    return null;
  }

  private void giveUpHang() {
    long since = busySinceNanos;
    long now = System.nanoTime();
    boolean isLate = since != 0 && now - since > HANGS_NANOS;
    if (isLate && lateNanos - since <= HANGS_NANOS) {
      lateNanos = now;
    } else if (isLate && now - lateNanos > HANGS_NANOS / 20) {
      breaker.failure(Breaker.Cause.HUNG);
      dropWaiting(Counter.DROPPED_FAULT_BYTES);
    }
  }

  private void dropWaiting(Counter reason) {
    for (WriteBack next = waiting.poll(); next != null; next = waiting.poll()) {
      next.drop();
      settle(reason, next.bytes());
    }
  }

  private void run() {
    try {
      while (!closed) {
        tend();
        write();
      }
    } finally {
      closed = true;
      settle(Counter.DROPPED_CLOSED_BYTES, stagedBytes);
      regions.close();
      dropWaiting(Counter.DROPPED_CLOSED_BYTES);
    }
  }

  /**
   * Once a second: looks at what other processes have done, and gives a region back where the disk
   * is nearly full, unless another has: what others have open is free within a second.
   */
  @SuppressWarnings("IllegalCatch") // The thread would end, and nothing be written any more.
  private void tend() {
    if (System.nanoTime() - lookedNanos < LONGEST_PARK_NANOS) {
      return;
    }
    busy();
    try {
      if (!regions.look(this::busy)) {
        regions.giveBackIfScarce();
      }
    } catch (IOException | RuntimeException | Error e) {
      metrics.count(Counter.READ_ERRORS);
      Background.log(() -> LOG.debug("The regions cannot be tended", e));
    } finally {
      lookedNanos = System.nanoTime();
      busySinceNanos = 0;
    }
  }

  /** An operation begins that may hang; the thread is busy until its step is over. */
  private void busy() {
    busySinceNanos = System.nanoTime() | 1;
  }

  /** Takes the next offer, or writes the stage where none waits; a disk that fails is counted. */
  private void write() {
    WriteBack next = waiting.poll();
    try {
      if (next != null) {
        take(next);
      } else if (!staged.isEmpty()) {
        flush();
      } else {
        // All that was offered was there already, or left memory.
        breaker.unused();
        LockSupport.parkNanos(this, LONGEST_PARK_NANOS);
      }
    } catch (IOException e) {
      // What says so comes last: it may fail as well, where memory is short.
      metrics.count(Counter.WRITE_ERRORS);
      breaker.failure(Breaker.Cause.of(e));
      Background.log(() -> LOG.debug("Writing to the cache on disk failed", e));
    } catch (RuntimeException | Error e) {
      breaker.failure(Breaker.Cause.ERROR);
      Background.log(() -> LOG.warn("Writing to the cache on disk failed", e));
    } finally {
      busySinceNanos = 0;
    }
  }

  /** So many bytes that were offered are written, or dropped. */
  private void settle(Counter outcome, long bytes) {
    metrics.add(outcome, bytes);
    waitingBytes.addAndGet(-bytes);
  }

  /** Stages what was offered, piece by piece; all are free when this returns. */
  private void take(WriteBack offered) throws IOException {
    Iterator<? extends Piece> pieces = offered.pieces().iterator();
    Counter rest = Counter.DROPPED_FAULT_BYTES;
    try {
      boolean hasSpace = true;
      while (hasSpace && pieces.hasNext()) {
        hasSpace = stage(offered.object(), pieces.next());
      }
      rest = Counter.DROPPED_SPACE_BYTES;
    } finally {
      while (pieces.hasNext()) {
        Piece dropped = pieces.next();
        settle(rest, dropped.length());
        dropped.ended(false);
      }
    }
  }

  /** False if there is no space for the piece. */
  private boolean stage(StoredObject object, Piece piece) throws IOException {
    ByteBuffer bytes = null;
    int at = 0;
    Counter rest = Counter.DROPPED_FAULT_BYTES;
    try {
      bytes = piece.pin();
      rest = bytes == null ? Counter.DROPPED_EVICTED_BYTES : rest;
      while (bytes != null && at < piece.length()) {
        int chunk = (int) ((piece.start() + at) / StoredObject.CHUNK_BYTES);
        ByteBuffer plain = bytes.slice(at, object.chunkLength(chunk));
        if (index.presentFrom(object, chunk, chunk + 1) > 0 || isStaged(object, chunk)) {
          // Somebody who fetched it at the same time was quicker.
          settle(Counter.DROPPED_PRESENT_BYTES, plain.remaining());
        } else if (!seal(object, chunk, plain)) {
          rest = Counter.DROPPED_SPACE_BYTES;
          return false;
        }
        at += plain.remaining();
      }
      return true;
    } finally {
      settle(rest, piece.length() - at);
      piece.ended(bytes != null);
    }
  }

  private boolean isStaged(StoredObject object, int chunk) {
    return staged.stream().anyMatch(e -> e.chunk() == chunk && object.equals(e.object()));
  }

  /** Puts a chunk on the stage; false if no region has space for it. */
  private boolean seal(StoredObject object, int chunk, ByteBuffer plain) throws IOException {
    int slots = Region.slotsOf(plain.remaining());
    Region to = regionFor(slots);
    if (to == null) {
      return false;
    }
    int slot = to.nextSlot;
    int at = stagedSlots() * Region.SLOT_BYTES;
    int end = at + slots * Region.SLOT_BYTES;
    ByteBuffer place = stage.slice(at, end + RegionSeal.WORK_BYTES - at);
    staged.add(seal.seal(to, object, chunk, slot, plain, place));
    // Whatever comes of it, nothing else is sealed for these slots.
    to.takenUntil(slot + slots);
    stagedBytes += plain.remaining();
    for (int zero = at + plain.remaining(); zero < end; zero++) {
      stage.put(zero, (byte) 0);
    }
    return true;
  }

  private int stagedSlots() {
    return staged.isEmpty() ? 0 : staged.get(staged.size() - 1).endSlot() - staged.get(0).slot();
  }

  /** Writes the stage behind what its region has, and makes its chunks known. */
  private void flush() throws IOException {
    if (staged.isEmpty()) {
      return;
    }
    busy();
    Counter outcome = Counter.DROPPED_FAULT_BYTES;
    try {
      Place first = staged.get(0);
      Region to = first.region();
      to.file.write(stage.slice(0, stagedSlots() * Region.SLOT_BYTES), first.position());
      regions.appended(to, staged);
      breaker.success();
      metrics.count(Counter.WRITES);
      outcome = Counter.WRITTEN_BYTES;
    } finally {
      staged.clear();
      settle(outcome, stagedBytes);
      stagedBytes = 0;
    }
  }

  /** The region to stage so many slots for, when the stage has room for them; null if none. */
  private @Nullable Region regionFor(int slots) throws IOException {
    Region to = regions.own;
    boolean isFull =
        to == null || to.nextSlot + slots > to.slotCount() || to.isFullWith(staged.size());
    if (isFull || (stagedSlots() + slots) * Region.SLOT_BYTES > STAGE_BYTES) {
      flush();
    }
    busy();
    if (staged.isEmpty() && regions.space.isScarce()) {
      return null;
    }
    return isFull ? regions.next() : to;
  }

  /** Drops what waits, and whatever is offered from now on. */
  void stop() {
    closed = true;
    dropWaiting(Counter.DROPPED_CLOSED_BYTES);
    LockSupport.unpark(thread);
  }

  /** Waits until then for what is being written. A write that hangs keeps the files open. */
  void awaitEnd(long deadlineNanos) {
    long left = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
    if (!Background.await(thread, left)) {
      LOG.warn("Writing to the cache on disk hangs; left behind");
    }
  }
}
