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
 * Writes what is offered to one directory: each {@link WriteBack} whole, from the memory where it
 * stands, behind what its region has already.
 *
 * <p><b>States of an offer.</b> <i>Refused</i> at once, or <i>waiting</i>, in memory that nobody
 * but a reader in need takes; then <i>written</i> or <i>dropped</i>, piece by piece. Each byte
 * offered is counted once more, as written or under the reason why it was dropped. The waiting
 * bytes are bounded: a disk that is slower than S3 gets a part and holds nobody up.
 *
 * <p><b>Threads.</b> Any thread offers and waits for nothing; one thread writes. A disk that hangs
 * holds that thread and the run that it writes. The next offer finds that it hangs, drops what
 * waits, and has the directory left alone.
 */
final class Appender {
  private static final Logger LOG = LoggerFactory.getLogger(Appender.class);

  /** Bytes in one write at most. */
  private static final int BATCH_BYTES = 4 << 20;

  private static final int BATCH_CHUNKS = BATCH_BYTES / StoredObject.CHUNK_BYTES;

  /** Encryption needs memory of its own, so it goes in smaller steps. */
  private static final int SEALED_CHUNKS = 8;

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
  private final AtomicLong waitingBytes = new AtomicLong();

  /** When the operation began that the writing thread is in; 0 while it is in none. */
  private volatile long busySinceNanos;

  private volatile boolean closed;

  // The writing thread's.
  private final Map<Kind, Region> current = new EnumMap<>(Kind.class);
  private final RegionSeal seal = new RegionSeal();
  private final boolean sealed;
  private @Nullable ByteBuffer work;

  /**
   * @param space asked before a file grows
   * @param mostWaitingBytes the most that waits in memory to be written, in bytes
   * @param sealed whether the cache is encrypted
   * @param reader reads what is to be kept of a victim; the writing thread's
   */
  Appender(
      Regions regions,
      ChunkIndex index,
      DiskSpace space,
      Breaker breaker,
      DiskMetrics metrics,
      ChunkReader reader,
      long mostWaitingBytes,
      boolean sealed) {
    this.regions = regions;
    this.index = index;
    this.space = space;
    this.breaker = breaker;
    this.metrics = metrics;
    this.reader = reader;
    this.mostWaitingBytes = mostWaitingBytes;
    this.sealed = sealed;
    this.thread = Background.daemon("s3e-disk-writer", this::run);
  }

  void start() {
    thread.start();
  }

  /** Memory that sealing takes, in bytes. */
  static long bufferBytes(boolean sealed) {
    return sealed ? (long) SEALED_CHUNKS * (StoredObject.CHUNK_BYTES + RegionSeal.WORK_BYTES) : 0;
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
    if (waitingBytes.addAndGet(bytes) > mostWaitingBytes) {
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

  /** Whether bytes may be written now, as far as is known. */
  boolean mayWrite() {
    return !closed && breaker.allows();
  }

  /** Bytes that wait to be written. */
  long waitingBytes() {
    return waitingBytes.get();
  }

  private void run() {
    while (!closed) {
      boolean goesOn = giveBack();
      WriteBack next = waiting.poll();
      if (next == null) {
        if (!goesOn) {
          LockSupport.parkNanos(this, LONGEST_PARK_NANOS);
        }
      } else {
        writeCounted(next);
      }
    }
    dropWaiting(Counter.DROPPED_CLOSED_BYTES);
  }

  /** Gives a region back where the disk is nearly full; false if there is no need. */
  private boolean giveBack() {
    busySinceNanos = System.nanoTime() | 1;
    try {
      return regions.giveBackIfScarce();
    } catch (IOException e) {
      LOG.debug("No region can be given back", e);
      return false;
    } finally {
      busySinceNanos = 0;
    }
  }

  private void writeCounted(WriteBack next) {
    Run run = null;
    try {
      run = new Run(next);
      run.write();
    } catch (RuntimeException | Error e) {
      LOG.warn("Writing {} to the cache on disk failed", next.object(), e);
      breaker.failure(Breaker.Cause.ERROR);
      if (run == null) {
        metrics.add(Counter.DROPPED_FAULT_BYTES, bytesOf(next));
        endAll(next);
      }
    } finally {
      waitingBytes.addAndGet(-bytesOf(next));
    }
  }

  /** One offer on its way to disk. */
  private final class Run {
    private final WriteBack offered;
    private final Kind kind;
    private final boolean[] pinned;
    private final List<ByteBuffer> batch = new ArrayList<>();
    private final List<Appended> entries = new ArrayList<>();
    private @Nullable Region region;
    private long batchBytes;

    /** Bytes of the offer that are neither written nor dropped. */
    private long left;

    Run(WriteBack offered) {
      this.offered = offered;
      this.kind = offered.isScanned() ? Kind.SCANNED : Kind.LASTING;
      this.pinned = new boolean[offered.pieces()];
      this.left = bytesOf(offered);
    }

    void write() {
      Counter reason = Counter.DROPPED_FAULT_BYTES;
      try {
        boolean complete = true;
        for (int piece = 0; complete && piece < offered.pieces(); piece++) {
          complete = append(piece);
        }
        flush();
        reason = Counter.DROPPED_SPACE_BYTES;
      } catch (IOException e) {
        LOG.debug("Writing {} to the cache on disk failed", offered.object(), e);
        metrics.count(Counter.WRITE_ERRORS);
        breaker.failure(Breaker.Cause.of(e));
      } finally {
        metrics.add(reason, left);
        for (int piece = 0; piece < pinned.length; piece++) {
          offered.ended(piece, pinned[piece]);
        }
      }
    }

    /** False if there is no space for more. */
    private boolean append(int piece) throws IOException {
      ByteBuffer bytes = offered.pin(piece);
      if (bytes == null) {
        drop(Counter.DROPPED_EVICTED_BYTES, offered.length(piece));
        return true;
      }
      pinned[piece] = true;
      StoredObject object = offered.object();
      int chunk = offered.firstChunk(piece);
      for (int at = 0; at < offered.length(piece); chunk++) {
        int length = object.chunkLength(chunk);
        ByteBuffer plain = bytes.slice(at, length);
        at += length;
        if (!append(object, chunk, plain)) {
          return false;
        }
      }
      return true;
    }

    private boolean append(StoredObject object, int chunk, ByteBuffer plain) throws IOException {
      if (index.presentFrom(object, chunk, chunk + 1) > 0) {
        // Somebody who fetched it at the same time was quicker.
        drop(Counter.DROPPED_PRESENT_BYTES, plain.remaining());
        return true;
      }
      int slots = Region.slotsOf(plain.remaining());
      Region to = region;
      int slot = to == null ? 0 : nextSlot(to);
      if (to == null || slot + slots > to.slotCount()) {
        flush();
        to = regionFor(kind, slots);
        region = to;
        if (to == null) {
          return false;
        }
        slot = nextSlot(to);
      }
      if (slot + slots > to.allocatedSlots() && !mayGrow()) {
        // The disk is too full for the file to grow: one that has grown is begun anew.
        if (!regions.hasGrownOnes()) {
          return false;
        }
        flush();
        finish(kind);
        to = regionFor(kind, slots);
        region = to;
        if (to == null || to.nextSlot() + slots > to.allocatedSlots()) {
          return false;
        }
        slot = to.nextSlot();
      }
      ByteBuffer stored =
          seal.seal(
              to.filling().key(), object, chunk, slot, plain, sealed ? work(batch.size()) : plain);
      entries.add(new Appended(object, chunk, slot, seal.high(), seal.low()));
      batch.add(stored);
      batchBytes += plain.remaining();
      // A chunk that does not fill its slots ends the batch: what follows is not adjacent.
      boolean isFull = batch.size() == (sealed ? SEALED_CHUNKS : BATCH_CHUNKS);
      if (isFull || plain.remaining() % Region.SLOT_BYTES != 0) {
        flush();
      }
      return true;
    }

    private int nextSlot(Region to) {
      if (entries.isEmpty()) {
        return to.nextSlot();
      }
      return entries.get(entries.size() - 1).endSlot();
    }

    private void flush() throws IOException {
      Region to = region;
      if (to == null || entries.isEmpty()) {
        return;
      }
      busySinceNanos = System.nanoTime() | 1;
      try {
        put(to, entries, batch.toArray(ByteBuffer[]::new));
        breaker.success();
        written(batchBytes);
      } finally {
        busySinceNanos = 0;
        batch.clear();
        entries.clear();
        batchBytes = 0;
      }
    }

    void written(long bytes) {
      metrics.count(Counter.WRITES);
      metrics.add(Counter.WRITTEN_BYTES, bytes);
      left -= bytes;
    }

    private void drop(Counter reason, long bytes) {
      metrics.add(reason, bytes);
      left -= bytes;
    }
  }

  /**
   * Writes chunks behind what a region has, and makes them known.
   *
   * @param entries their places, one after the other
   * @param stored their sealed bytes
   */
  private void put(Region to, List<Appended> entries, ByteBuffer... stored) throws IOException {
    Appended last = entries.get(entries.size() - 1);
    // Whatever comes of it, nothing else is sealed for these slots.
    to.takenUntil(last.endSlot());
    to.file().write(stored, (long) entries.get(0).slot() * Region.SLOT_BYTES);
    for (Appended each : entries) {
      boolean unused =
          index.add(to, each.object(), each.chunk(), each.slot(), each.sealHigh(), each.sealLow());
    }
    regions.appended(to, entries);
  }

  private ByteBuffer work(int number) {
    int each = StoredObject.CHUNK_BYTES + RegionSeal.WORK_BYTES;
    ByteBuffer all = work;
    if (all == null) {
      all = ByteBuffer.allocateDirect(SEALED_CHUNKS * each);
      work = all;
    }
    return all.slice(number * each, each);
  }

  /** The region to append so many slots to; null if there is none. */
  private @Nullable Region regionFor(Kind kind, int slots) throws IOException {
    Region region = current.get(kind);
    if (region != null && region.nextSlot() + slots <= region.slotCount()) {
      return region;
    }
    busySinceNanos = System.nanoTime() | 1;
    try {
      finish(kind);
      region = regions.next(kind);
      if (region != null) {
        current.put(kind, region);
        Region victim = regions.victim(kind);
        if (victim != null) {
          keepHits(victim, region);
          metrics.count(Counter.EVICTIONS);
          metrics.add(Counter.EVICTED_BYTES, (long) victim.nextSlot() * Region.SLOT_BYTES);
        }
      }
      return region;
    } finally {
      busySinceNanos = 0;
    }
  }

  private void finish(Kind kind) throws IOException {
    Region region = current.remove(kind);
    if (region != null) {
      regions.finished(region);
    }
  }

  private boolean mayGrow() {
    busySinceNanos = System.nanoTime() | 1;
    try {
      return space.mayGrow();
    } finally {
      busySinceNanos = 0;
    }
  }

  /** Appends again what was read of a region that is about to be recycled. */
  private void keepHits(Region victim, Region to) throws IOException {
    long usualBytes = Math.min(to.bytes(), Region.USUAL_MOST_BYTES);
    long most = usualBytes / Region.SLOT_BYTES / KEPT_SHARE;
    for (Chunk hit : index.hitsIn(victim)) {
      int length = hit.object().chunkLength(hit.chunk());
      int slot = to.nextSlot();
      int end = slot + Region.slotsOf(length);
      if (end > most || closed || (end > to.allocatedSlots() && !space.mayGrow())) {
        return;
      }
      busySinceNanos = System.nanoTime() | 1;
      ByteBuffer bytes = readAgain(hit);
      if (bytes == null) {
        continue;
      }
      ByteBuffer stored =
          seal.seal(
              to.filling().key(), hit.object(), hit.chunk(), slot, bytes, sealed ? work(0) : bytes);
      Appended entry = new Appended(hit.object(), hit.chunk(), slot, seal.high(), seal.low());
      put(to, List.of(entry), stored);
      metrics.add(Counter.KEPT_BYTES, length);
    }
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
