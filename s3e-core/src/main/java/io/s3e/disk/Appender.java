package io.s3e.disk;

import io.s3e.disk.ChunkIndex.Chunk;
import io.s3e.disk.Region.Kind;
import io.s3e.disk.RegionFiles.Appended;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
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
 * holds that thread and the stage. The next offer finds that it hangs, drops what waits, and has
 * the directory left alone.
 */
final class Appender {
  private static final Logger LOG = LoggerFactory.getLogger(Appender.class);

  /**
   * Long enough for a disk to be busy with one write, short enough to be held for each directory.
   */
  private static final int STAGE_BYTES = 1 << 20;

  /** Memory of a stage: with room for the seal behind the last chunk. */
  private static final int STAGE_MEMORY = STAGE_BYTES + RegionSeal.WORK_BYTES;

  /** A write that takes longer is taken to hang. */
  private static final long HANGS_NANOS = TimeUnit.SECONDS.toNanos(2);

  /**
   * As much of a region as the hits of its victim may take, and of a long one no more than of one
   * of usual length: the rest is for what is new, which waits meanwhile.
   */
  private static final int KEPT_SHARE = 2;

  private static final long CLOSE_MILLIS = 500;

  /** The thread looks again at least so often. */
  private static final long LONGEST_PARK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Regions regions;
  private final ChunkIndex index;
  private final DiskSpace space;
  private final Breaker breaker;
  private final DiskMetrics metrics;
  private final ChunkReader reader;
  private final long mostWaitingBytes;
  private final Thread thread;
  private final Queue<WriteBack> waiting = new ConcurrentLinkedQueue<>();

  /** Bytes that were offered, and are neither written nor dropped. */
  private final AtomicLong waitingBytes = new AtomicLong();

  /** When the operation began that the writing thread is in; 0 while it is in none. */
  private volatile long busySinceNanos;

  private volatile boolean closed;

  // The writing thread's.
  private final Map<Kind, Region> current = new EnumMap<>(Kind.class);
  private final RegionSeal seal = new RegionSeal();
  private final ByteBuffer stage = ByteBuffer.allocateDirect(STAGE_MEMORY);

  /** The region that the staged chunks will stand in. */
  private @Nullable Region staged;

  private final List<Appended> entries = new ArrayList<>();

  /** Bytes of staged chunks that were offered; the others are kept for their hits. */
  private long stagedBytes;

  private long keptBytes;

  /**
   * @param space asked before a file grows
   * @param mostWaitingBytes the most that waits in memory to be written, in bytes
   * @param reader reads what is to be kept of a victim; the writing thread's
   */
  Appender(
      Regions regions,
      ChunkIndex index,
      DiskSpace space,
      Breaker breaker,
      DiskMetrics metrics,
      ChunkReader reader,
      long mostWaitingBytes) {
    this.regions = regions;
    this.index = index;
    this.space = space;
    this.breaker = breaker;
    this.metrics = metrics;
    this.reader = reader;
    this.mostWaitingBytes = mostWaitingBytes;
    this.thread = Background.daemon("s3e-disk-writer", this::run);
  }

  void start() {
    thread.start();
  }

  /** Memory that the stage takes, in bytes. */
  static long bufferBytes() {
    return STAGE_MEMORY;
  }

  /** Takes bytes to be written; those that it refuses are counted and ended before it returns. */
  void offer(WriteBack offered) {
    long bytes = bytesOf(offered);
    metrics.add(Counter.OFFERED_BYTES, bytes);
    Counter refusal = refusal(bytes);
    if (refusal != null) {
      metrics.add(refusal, bytes);
      endAll(offered);
      return;
    }
    waiting.add(offered);
    if (closed) {
      dropWaiting(Counter.DROPPED_CLOSED_BYTES);
    }
    LockSupport.unpark(thread);
  }

  private @Nullable Counter refusal(long bytes) {
    if (closed) {
      return Counter.DROPPED_CLOSED_BYTES;
    }
    giveUpHang();
    if (!breaker.allows() && !breaker.isDue()) {
      return Counter.DROPPED_FAULT_BYTES;
    }
    long before = waitingBytes.getAndAdd(bytes);
    // One offer is taken however long it is: nothing would ever be written of long runs else.
    if (before > 0 && before + bytes > mostWaitingBytes) {
      waitingBytes.addAndGet(-bytes);
      return Counter.DROPPED_BEHIND_BYTES;
    }
    // A probe is told last: it is to be written, and to tell of the directory.
    if (!breaker.allows() && !breaker.tryProbe()) {
      waitingBytes.addAndGet(-bytes);
      return Counter.DROPPED_FAULT_BYTES;
    }
    return null;
  }

  private void giveUpHang() {
    long since = busySinceNanos;
    if (since != 0 && System.nanoTime() - since > HANGS_NANOS) {
      breaker.failure(Breaker.Cause.HUNG);
      dropWaiting(Counter.DROPPED_FAULT_BYTES);
    }
  }

  private void dropWaiting(Counter reason) {
    for (WriteBack next = waiting.poll(); next != null; next = waiting.poll()) {
      metrics.add(reason, bytesOf(next));
      endAll(next);
      waitingBytes.addAndGet(-bytesOf(next));
    }
  }

  private static void endAll(WriteBack offered) {
    for (int piece = 0; piece < offered.pieces(); piece++) {
      offered.ended(piece, false);
    }
  }

  private static long bytesOf(WriteBack offered) {
    long bytes = 0;
    for (int piece = 0; piece < offered.pieces(); piece++) {
      bytes += offered.length(piece);
    }
    return bytes;
  }

  /** Bytes that wait to be written. */
  long waitingBytes() {
    return waitingBytes.get();
  }

  private void run() {
    while (!closed) {
      boolean goesOn = giveBack();
      WriteBack next = waiting.poll();
      if (next != null) {
        attempt(() -> take(next));
      } else if (!entries.isEmpty()) {
        attempt(this::flush);
      } else if (!goesOn) {
        LockSupport.parkNanos(this, LONGEST_PARK_NANOS);
      }
    }
    dropWaiting(Counter.DROPPED_CLOSED_BYTES);
    settle(Counter.DROPPED_CLOSED_BYTES, stagedBytes);
  }

  /** Gives a region back where the disk is nearly full; false if there is no need. */
  @SuppressWarnings("IllegalCatch") // The thread would end, and nothing be written any more.
  private boolean giveBack() {
    busySinceNanos = System.nanoTime() | 1;
    try {
      return regions.giveBackIfScarce();
    } catch (IOException | RuntimeException | Error e) {
      LOG.debug("No region can be given back", e);
      return false;
    } finally {
      busySinceNanos = 0;
    }
  }

  private interface Step {
    void run() throws IOException;
  }

  /** A disk that fails is counted. */
  private void attempt(Step step) {
    try {
      step.run();
    } catch (IOException e) {
      LOG.debug("Writing to the cache on disk failed", e);
      metrics.count(Counter.WRITE_ERRORS);
      breaker.failure(Breaker.Cause.of(e));
    } catch (RuntimeException | Error e) {
      LOG.warn("Writing to the cache on disk failed", e);
      breaker.failure(Breaker.Cause.ERROR);
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
    int piece = 0;
    Counter rest = Counter.DROPPED_FAULT_BYTES;
    try {
      boolean hasSpace = true;
      while (hasSpace && piece < offered.pieces()) {
        hasSpace = stage(offered, piece++);
      }
      rest = Counter.DROPPED_SPACE_BYTES;
    } finally {
      for (; piece < offered.pieces(); piece++) {
        settle(rest, offered.length(piece));
        offered.ended(piece, false);
      }
    }
  }

  /** False if there is no space for the piece. */
  private boolean stage(WriteBack offered, int piece) throws IOException {
    ByteBuffer bytes = offered.pin(piece);
    int left = offered.length(piece);
    Counter rest = bytes == null ? Counter.DROPPED_EVICTED_BYTES : Counter.DROPPED_FAULT_BYTES;
    try {
      StoredObject object = offered.object();
      int chunk = offered.firstChunk(piece);
      for (int at = 0; bytes != null && left > 0; chunk++) {
        ByteBuffer plain = bytes.slice(at, object.chunkLength(chunk));
        int length = plain.remaining();
        if (index.presentFrom(object, chunk, chunk + 1) > 0 || isStaged(object, chunk)) {
          // Somebody who fetched it at the same time was quicker.
          settle(Counter.DROPPED_PRESENT_BYTES, length);
        } else {
          Kind kind = offered.isScanned() ? Kind.SCANNED : Kind.LASTING;
          Region to = regionFor(kind, Region.slotsOf(length));
          if (to == null) {
            rest = Counter.DROPPED_SPACE_BYTES;
            return false;
          }
          seal(to, object, chunk, plain);
          stagedBytes += length;
        }
        at += length;
        left -= length;
      }
      return true;
    } finally {
      settle(rest, left);
      offered.ended(piece, bytes != null);
    }
  }

  private boolean isStaged(StoredObject object, int chunk) {
    return entries.stream().anyMatch(e -> e.chunk() == chunk && object.equals(e.object()));
  }

  /** Puts a chunk on the stage, which has room for it. */
  private void seal(Region to, StoredObject object, int chunk, ByteBuffer plain) {
    int slot = nextSlot(to);
    int at = entries.isEmpty() ? 0 : (slot - entries.get(0).slot()) * Region.SLOT_BYTES;
    int end = at + Region.slotsOf(plain.remaining()) * Region.SLOT_BYTES;
    ByteBuffer place = stage.slice(at, end + RegionSeal.WORK_BYTES - at);
    seal.seal(to.filling().key(), object, chunk, slot, plain, place);
    for (int zero = at + plain.remaining(); zero < end; zero++) {
      stage.put(zero, (byte) 0);
    }
    staged = to;
    entries.add(new Appended(object, chunk, slot, seal.high(), seal.low()));
  }

  private int nextSlot(Region to) {
    return entries.isEmpty() ? to.nextSlot() : entries.get(entries.size() - 1).endSlot();
  }

  /** Writes the stage behind what its region has, and makes its chunks known. */
  private void flush() throws IOException {
    Region to = staged;
    if (to == null || entries.isEmpty()) {
      return;
    }
    busySinceNanos = System.nanoTime() | 1;
    Counter outcome = Counter.DROPPED_FAULT_BYTES;
    try {
      int first = entries.get(0).slot();
      int end = entries.get(entries.size() - 1).endSlot();
      // Whatever comes of it, nothing else is sealed for these slots.
      to.takenUntil(end);
      to.file()
          .write(
              stage.slice(0, (end - first) * Region.SLOT_BYTES), (long) first * Region.SLOT_BYTES);
      // First: slots without a record may be used again within the generation.
      regions.appended(to, entries);
      for (Appended e : entries) {
        boolean unused = index.add(to, e.object(), e.chunk(), e.slot(), e.sealHigh(), e.sealLow());
      }
      breaker.success();
      metrics.count(Counter.WRITES);
      metrics.add(Counter.KEPT_BYTES, keptBytes);
      outcome = Counter.WRITTEN_BYTES;
    } finally {
      busySinceNanos = 0;
      entries.clear();
      staged = null;
      settle(outcome, stagedBytes);
      stagedBytes = 0;
      keptBytes = 0;
    }
  }

  /** The region to stage so many slots for, when the stage has room for them; null if none. */
  private @Nullable Region regionFor(Kind kind, int slots) throws IOException {
    Region to = current.get(kind);
    if (to == null
        || nextSlotOf(to) + slots > to.slotCount()
        || to.isFullWith(to.equals(staged) ? entries.size() : 0)) {
      flush();
      to = nextRegion(kind);
    }
    if (to != null && nextSlotOf(to) + slots > to.allocatedSlots() && !mayGrow()) {
      // The disk is too full for the file to grow: one that has grown is begun anew.
      flush();
      to = regions.hasGrownOnes() ? nextRegion(kind) : null;
      if (to != null && to.nextSlot() + slots > to.allocatedSlots()) {
        to = null;
      }
    }
    boolean isOther = to != null && staged != null && !to.equals(staged);
    boolean isFull =
        !entries.isEmpty()
            && (nextSlotOf(staged) + slots - entries.get(0).slot()) * Region.SLOT_BYTES
                > STAGE_BYTES;
    if (isOther || isFull) {
      flush();
    }
    return to;
  }

  private int nextSlotOf(@Nullable Region to) {
    if (to == null) {
      return 0;
    }
    return to.equals(staged) ? nextSlot(to) : to.nextSlot();
  }

  private boolean mayGrow() {
    busySinceNanos = System.nanoTime() | 1;
    try {
      return space.mayGrow();
    } finally {
      busySinceNanos = 0;
    }
  }

  /** Another region to append to, with what was read of the one that goes next. */
  private @Nullable Region nextRegion(Kind kind) throws IOException {
    busySinceNanos = System.nanoTime() | 1;
    Region before = current.remove(kind);
    if (before != null) {
      regions.finished(before);
    }
    Region next = regions.next(kind);
    if (next != null) {
      current.put(kind, next);
      Region victim = regions.victim(kind);
      if (victim != null) {
        keepHits(victim, next);
        metrics.count(Counter.EVICTIONS);
        metrics.add(Counter.EVICTED_BYTES, (long) victim.nextSlot() * Region.SLOT_BYTES);
      }
    }
    busySinceNanos = 0;
    return next;
  }

  /** Appends again what was read of a region that is about to be begun anew. */
  private void keepHits(Region victim, Region to) throws IOException {
    long usualBytes = Math.min(to.bytes(), Region.USUAL_MOST_BYTES);
    long most = usualBytes / Region.SLOT_BYTES / KEPT_SHARE;
    for (Chunk hit : index.hitsIn(victim)) {
      int slots = Region.slotsOf(hit.object().chunkLength(hit.chunk()));
      int end = nextSlotOf(to) + slots;
      if (end > most
          || closed
          || to.isFullWith(entries.size())
          || (end > to.allocatedSlots() && !space.mayGrow())) {
        break;
      }
      busySinceNanos = System.nanoTime() | 1;
      ByteBuffer bytes = readAgain(hit);
      if (bytes != null) {
        if (!entries.isEmpty() && (end - entries.get(0).slot()) * Region.SLOT_BYTES > STAGE_BYTES) {
          flush();
        }
        seal(to, hit.object(), hit.chunk(), bytes);
        keptBytes += bytes.remaining();
      }
    }
    flush();
  }

  private @Nullable ByteBuffer readAgain(Chunk hit) {
    try {
      return reader.readOne(hit.object(), hit.chunk());
    } catch (IOException e) {
      LOG.debug("{} cannot be kept", hit, e);
      metrics.count(Counter.READ_ERRORS);
      return null;
    }
  }

  /**
   * Waits until everything that was offered is written or dropped.
   *
   * @return false if that took longer than {@code limit}
   */
  boolean awaitIdle(Duration limit) throws InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    while (waitingBytes.get() > 0) {
      if (System.nanoTime() - deadline > 0) {
        return false;
      }
      TimeUnit.MILLISECONDS.sleep(1);
    }
    return true;
  }

  /** Drops what waits; waits a bounded time for what is being written. */
  void close() {
    closed = true;
    LockSupport.unpark(thread);
    if (!Background.await(thread, CLOSE_MILLIS)) {
      LOG.warn("Writing to the cache on disk hangs; left behind");
    }
    dropWaiting(Counter.DROPPED_CLOSED_BYTES);
  }
}
