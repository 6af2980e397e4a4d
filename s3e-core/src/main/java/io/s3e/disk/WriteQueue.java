package io.s3e.disk;

import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What waits to be written to disk: copies of chunks, collected into disk blocks, in an arena of
 * direct buffers that never grows beyond its bound. What finds no room in it is dropped; nobody
 * ever waits for the disk.
 *
 * <p>A disk block is in one of these states, changed under {@link #lock} only:
 *
 * <ul>
 *   <li><b>collecting</b> ({@link #collecting}, oldest first; at most one per id): takes chunks. A
 *       chunk is claimed under the lock, copied outside of it, and counted among the block's
 *       copiers meanwhile; a block with copiers is neither handed out nor dropped.
 *   <li><b>being written</b> ({@link #writing}; at most one per id): handed out by {@link #take}.
 *       Other chunks of the same id collect in a second block, which is not handed out before the
 *       first is done: two writers of one file would each miss what the other wrote.
 *   <li>gone: done, or dropped because it is older than the limit. Its buffer is free again.
 * </ul>
 *
 * <p>Every buffer is at any time either free, or in one block that collects or is being written; it
 * is allocated when it is first needed and stays for as long as the queue.
 *
 * <p>A full block is handed out at once. A partial one waits for the rest, until no chunk has come
 * for {@link #lingerNanos}, or buffers run out, or somebody {@linkplain #flush asks} for it.
 *
 * <p>{@link #offer} is called by readers: one copy of a chunk, and the lock for a look at the
 * table; the oldest blocks are looked at too if there is no free buffer. {@link #take} and {@link
 * #done} are the writers'. Any thread.
 */
final class WriteQueue {
  private static final Logger LOG = LoggerFactory.getLogger(WriteQueue.class);

  /** Long enough for the rest of a block that is read in one go, short beside the age limit. */
  private static final long LINGER_NANOS = 50_000_000L;

  private final long ageNanos;
  private final long lingerNanos;
  private final RateLimiter rate;
  private final DiskMetrics metrics;
  private final LongSupplier nanoClock;
  private final Consumer<DiskBlockId> dropped;

  /** Dropped, and to be told. */
  private final Queue<DiskBlockId> untold = new ConcurrentLinkedQueue<>();

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<DiskBlockId, PendingBlock> collecting = new LinkedHashMap<>();
  private final Map<DiskBlockId, PendingBlock> writing = new HashMap<>();
  private final Deque<ByteBuffer> free = new ArrayDeque<>();

  /** The most buffers there may be. */
  private int buffers;

  /** Buffers that exist or are being allocated; at most {@link #buffers}. */
  private int allocated;

  /** Whether {@link #allocated} is less than {@link #buffers}; false forever once it is false. */
  private volatile boolean mayGrow = true;

  /** Who waits for the queue to be idle. */
  private int flushers;

  /** Whoever waits in {@link #take} is wanted elsewhere. */
  private boolean woken;

  private boolean closed;

  /**
   * @param bytes the most that all buffers may take; room for one at least
   * @param age what has waited longer is dropped
   * @param rate how fast chunks may come in
   * @param metrics told of what is dropped
   * @param nanoClock time in ns, as {@link System#nanoTime}
   * @param dropped told of each block that is dropped, outside of all locks; must not block
   */
  WriteQueue(
      long bytes,
      Duration age,
      RateLimiter rate,
      DiskMetrics metrics,
      LongSupplier nanoClock,
      Consumer<DiskBlockId> dropped) {
    this.buffers = (int) Math.min(Integer.MAX_VALUE, bytes / DiskBlockId.BLOCK_BYTES);
    if (buffers < 1) {
      throw new IllegalArgumentException(
          "write queue of " + bytes + " bytes: expected " + DiskBlockId.BLOCK_BYTES + " or more");
    }
    this.ageNanos = age.toNanos();
    this.lingerNanos = Math.min(LINGER_NANOS, ageNanos / 2);
    this.rate = rate;
    this.metrics = metrics;
    this.nanoClock = nanoClock;
    this.dropped = dropped;
  }

  /**
   * Takes a copy of a chunk: {@code bytes} from position to limit, both unchanged. Never waits for
   * the disk.
   *
   * @return whether the chunk is on its way to disk, by this call or by another; false if it was
   *     dropped, which is counted
   * @throws IllegalArgumentException if {@code bytes} is not as long as the chunk
   */
  boolean offer(DiskBlockId id, int chunk, ByteBuffer bytes) {
    if (chunk < 0 || chunk >= id.chunks() || bytes.remaining() != id.chunkLength(chunk)) {
      throw new IllegalArgumentException(
          bytes.remaining() + " bytes are not chunk " + chunk + " of " + id);
    }
    if (mayGrow && reserve(id)) {
      allocate();
    }
    PendingBlock block;
    lock.lock();
    try {
      if (isOnItsWay(id, chunk)) {
        return true;
      }
      block = blockFor(id, bytes.remaining());
      if (block == null) {
        return false;
      }
      block.claimed |= 1 << chunk;
      block.copiers++;
    } finally {
      lock.unlock();
      tell();
    }
    boolean copied = false;
    try {
      block.copy(chunk, bytes);
      copied = true;
    } finally {
      copyEnded(block, chunk, copied);
    }
    return true;
  }

  /** Whether a chunk waits to be written, or is being written. */
  boolean isPending(DiskBlockId id, int chunk) {
    lock.lock();
    try {
      return isOnItsWay(id, chunk);
    } finally {
      lock.unlock();
    }
  }

  private boolean isOnItsWay(DiskBlockId id, int chunk) {
    PendingBlock collected = collecting.get(id);
    if (collected != null && (collected.claimed & 1 << chunk) != 0) {
      return true;
    }
    PendingBlock written = writing.get(id);
    return written != null && (written.mask() & 1 << chunk) != 0;
  }

  /** The block that takes a chunk of {@code id}; null if it has to be dropped. */
  private @Nullable PendingBlock blockFor(DiskBlockId id, int bytes) {
    if (closed) {
      return null;
    }
    PendingBlock block = collecting.get(id);
    ByteBuffer memory = null;
    if (block == null) {
      memory = freeBuffer();
      if (memory == null) {
        metrics.add(Counter.DROPPED_FULL_BYTES, bytes);
        return null;
      }
    }
    if (!rate.tryAcquire(bytes)) {
      metrics.add(Counter.DROPPED_RATE_BYTES, bytes);
      if (memory != null) {
        free.push(memory);
      }
      return null;
    }
    if (block == null && memory != null) {
      if (collecting.isEmpty()) {
        // Who waits has to look again after the linger.
        changed.signalAll();
      }
      block = new PendingBlock(id, memory, nanoClock.getAsLong());
      collecting.put(id, block);
    }
    return block;
  }

  private @Nullable ByteBuffer freeBuffer() {
    if (free.isEmpty()) {
      dropAged();
    }
    return free.poll();
  }

  /** Whether a chunk of {@code id} needs a buffer that does not exist yet; if so it is reserved. */
  private boolean reserve(DiskBlockId id) {
    lock.lock();
    try {
      boolean missing = free.isEmpty() && !collecting.containsKey(id);
      if (closed || !missing || allocated == buffers) {
        return false;
      }
      allocated++;
      mayGrow = allocated < buffers;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Allocates a reserved buffer, outside of the lock: that clears 1 MiB, or waits for the GC. */
  private void allocate() {
    ByteBuffer memory = null;
    try {
      memory = ByteBuffer.allocateDirect(DiskBlockId.BLOCK_BYTES);
    } catch (OutOfMemoryError e) {
      // The limit of direct memory, not of the heap. Each attempt costs a full GC, so this was the
      // last: the cache does with the buffers it has.
      LOG.warn(
          "No direct memory for another buffer of the disk cache: its queue stays at {} bytes",
          allocatedBytes() - DiskBlockId.BLOCK_BYTES,
          e);
    }
    lock.lock();
    try {
      if (memory == null) {
        allocated--;
        buffers = allocated;
        mayGrow = false;
      } else {
        free.push(memory);
      }
    } finally {
      lock.unlock();
    }
  }

  private void copyEnded(PendingBlock block, int chunk, boolean copied) {
    lock.lock();
    try {
      block.copiers--;
      if (copied) {
        block.filled(chunk);
        block.lastChunkNanos = nanoClock.getAsLong();
      } else {
        block.claimed &= ~(1 << chunk);
      }
      if (closed && block.copiers == 0) {
        collecting.remove(block.id(), block);
        free.push(block.release());
        changed.signalAll();
      } else if (block.copiers == 0 && (block.isFull() || hurries())) {
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * The next block to be written, which is the caller's until {@link #done}.
   *
   * @param nanos how long to wait for one, in ns; 0 or less not at all
   * @return null if none came in time, or the queue is closed
   */
  @Nullable PendingBlock take(long nanos) throws InterruptedException {
    long deadline = System.nanoTime() + nanos;
    lock.lockInterruptibly();
    try {
      while (!closed) {
        dropAged();
        PendingBlock ready = nextReady();
        if (ready != null) {
          collecting.remove(ready.id());
          writing.put(ready.id(), ready);
          return ready;
        }
        long left = deadline - System.nanoTime();
        if (left <= 0 || woken) {
          woken = false;
          return null;
        }
        // A partial block becomes ready by time alone, so somebody has to look.
        long nap = collecting.isEmpty() ? left : Math.min(left, lingerNanos);
        long unused = changed.awaitNanos(nap);
      }
      return null;
    } finally {
      lock.unlock();
      tell();
    }
  }

  /** The oldest full block, or the oldest partial one that need not wait for more. */
  private @Nullable PendingBlock nextReady() {
    boolean hurry = hurries();
    long now = nanoClock.getAsLong();
    PendingBlock partial = null;
    for (PendingBlock block : collecting.values()) {
      if (block.copiers > 0 || writing.containsKey(block.id())) {
        continue;
      }
      if (block.isFull()) {
        return block;
      }
      boolean waitedEnough = block.isAskedFor || now - block.lastChunkNanos >= lingerNanos;
      if (partial == null && (hurry || waitedEnough)) {
        partial = block;
      }
    }
    return partial;
  }

  /**
   * Whether partial blocks wait no longer: for their buffers, or because somebody waits for them.
   */
  private boolean hurries() {
    return flushers > 0 || (free.isEmpty() && allocated == buffers);
  }

  private void tell() {
    for (DiskBlockId id = untold.poll(); id != null; id = untold.poll()) {
      dropped.accept(id);
    }
  }

  private void dropAged() {
    long now = nanoClock.getAsLong();
    Iterator<PendingBlock> oldestFirst = collecting.values().iterator();
    while (oldestFirst.hasNext()) {
      PendingBlock block = oldestFirst.next();
      if (now - block.createdNanos <= ageNanos) {
        return;
      }
      if (block.copiers == 0) {
        oldestFirst.remove();
        metrics.add(Counter.DROPPED_AGED_BYTES, block.bytes());
        untold.add(block.id());
        free.push(block.release());
        changed.signalAll();
      }
    }
  }

  /**
   * Gives the buffer of a block back that {@link #take} handed out; the block must not be used any
   * more.
   *
   * @throws IllegalStateException if it is not being written
   */
  void done(PendingBlock block) {
    lock.lock();
    try {
      if (!writing.remove(block.id(), block)) {
        throw new IllegalStateException(block.id() + " is not being written");
      }
      free.push(block.release());
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Has {@link #take} look again whether there is something else to do. */
  void wake() {
    lock.lock();
    try {
      woken = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * No more chunks of a block are expected: it is handed out as it is.
   *
   * @return false if there is nothing of it here
   */
  boolean flush(DiskBlockId id) {
    lock.lock();
    try {
      PendingBlock block = collecting.get(id);
      if (block != null) {
        block.isAskedFor = true;
        changed.signalAll();
      }
      return block != null || writing.containsKey(id);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until everything is written or dropped, and lets no partial block wait for more
   * meanwhile.
   *
   * @return false if that took longer than {@code limit}
   */
  boolean awaitIdle(Duration limit) throws InterruptedException {
    long left = limit.toNanos();
    lock.lockInterruptibly();
    flushers++;
    try {
      changed.signalAll();
      while (!collecting.isEmpty() || !writing.isEmpty()) {
        if (left <= 0) {
          return false;
        }
        left = changed.awaitNanos(left);
      }
      return true;
    } finally {
      flushers--;
      lock.unlock();
    }
  }

  /** Drops what waits and takes nothing more. Blocks that are being written stay their writers'. */
  void close() {
    lock.lock();
    try {
      closed = true;
      Iterator<PendingBlock> blocks = collecting.values().iterator();
      while (blocks.hasNext()) {
        PendingBlock block = blocks.next();
        if (block.copiers == 0) {
          blocks.remove();
          free.push(block.release());
        }
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Bytes that its buffers take now. */
  long allocatedBytes() {
    lock.lock();
    try {
      return (long) allocated * DiskBlockId.BLOCK_BYTES;
    } finally {
      lock.unlock();
    }
  }

  /** Bytes of buffers that hold nothing now. */
  long freeBytes() {
    lock.lock();
    try {
      return (long) free.size() * DiskBlockId.BLOCK_BYTES;
    } finally {
      lock.unlock();
    }
  }
}
