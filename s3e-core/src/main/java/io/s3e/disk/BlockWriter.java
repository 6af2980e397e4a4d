package io.s3e.disk;

import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what is offered into one directory, on a thread of its own, as long as that works.
 *
 * <p>A failed write costs what was to be written. After some failures, or one that the next write
 * would meet as well (no space, read-only), the {@link Breaker} drops what is offered, until its
 * pause is over: the next block is then the probe. A write that has not come back for {@link
 * #HUNG_NANOS} counts as such a failure, and is found by whoever offers something meanwhile.
 *
 * <p><b>Offers to come.</b> What need not be copied at once is offered {@linkplain #later later},
 * by the thread itself when it has nothing to write. So what waits to be written costs readers no
 * time, and no memory but that which it is in anyway; if that is needed meanwhile, the offer finds
 * nothing.
 *
 * <p>No method but {@link #awaitIdle} and {@link #close} waits for the disk. Any thread.
 */
final class BlockWriter implements AutoCloseable {
  /** What the writer works on. */
  record Target(BlockFiles files, Shelf shelf, CacheSpace space, String name) {}

  private static final Logger LOG = LoggerFactory.getLogger(BlockWriter.class);

  /** Writing 1 MiB into a page cache takes 1 ms; a disk that is behind throttles, for seconds. */
  private static final long HUNG_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final Duration QUEUE_AGE = Duration.ofSeconds(5);

  /** More than fits into the memory that the blocks of the offers are in. */
  private static final int MOST_OFFERS = 1 << 14;

  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long MEASURE_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long CLOSE_MILLIS = 500;

  private final Target target;
  private final DiskMetrics metrics;
  private final Breaker breaker;
  private final WriteQueue queue;
  private final Consumer<DiskBlockId> ended;

  /** The shelf of a private cache, whose capacity is looked after here; null if shared. */
  private final @Nullable PrivateShelf table;

  private final Queue<Runnable> offers = new ConcurrentLinkedQueue<>();

  /** Offers that are to come, or under way. */
  private final AtomicInteger offersLeft = new AtomicInteger();

  /** Files that have no place on the shelf and could not be deleted. */
  private final Queue<DiskBlockId> undeleted = new ConcurrentLinkedQueue<>();

  private final ByteBuffer scratch = ByteBuffer.allocateDirect(BlockFiles.READ_SCRATCH_BYTES);
  private final Thread thread = Background.daemon("s3e-disk-writer", this::run);

  /** When the write began that is under way, by {@link System#nanoTime()}; 0 if there is none. */
  private volatile long writingSinceNanos;

  private volatile boolean closed;

  /**
   * @param ended told of each block that was written or dropped; must not block
   */
  BlockWriter(
      Target target,
      DiskCacheConfig config,
      long queueBytes,
      RateLimiter rate,
      DiskMetrics metrics,
      Consumer<DiskBlockId> ended) {
    this.target = target;
    this.metrics = metrics;
    this.ended = ended;
    this.table = target.shelf() instanceof PrivateShelf shelf ? shelf : null;
    this.breaker =
        new Breaker(
            config.breakerPause(), System::nanoTime, metrics, "Writing to " + target.name());
    this.queue = new WriteQueue(queueBytes, QUEUE_AGE, rate, metrics, System::nanoTime, ended);
  }

  void start() {
    thread.start();
  }

  /** Takes a copy of a chunk, or drops it, counts that and returns false. */
  boolean offer(DiskBlockId id, int chunk, ByteBuffer bytes) {
    if (closed || !isWorthOffering()) {
      metrics.add(Counter.DROPPED_FAULT_BYTES, bytes.remaining());
      return false;
    }
    return queue.offer(id, chunk, bytes);
  }

  /**
   * Has the writer's thread offer something when it has nothing to write.
   *
   * @param offering calls {@link #offer}, for what is still there then; does not block
   * @return false if too many wait
   */
  boolean later(Runnable offering) {
    if (closed || !isWorthOffering() || offersLeft.get() >= MOST_OFFERS) {
      return false;
    }
    offersLeft.incrementAndGet();
    offers.add(offering);
    queue.wake();
    return true;
  }

  /** Whether a chunk waits to be written, or is being written. */
  boolean isPending(DiskBlockId id, int chunk) {
    return queue.isPending(id, chunk);
  }

  private boolean isWorthOffering() {
    long since = writingSinceNanos;
    if (since != 0 && System.nanoTime() - since > HUNG_NANOS) {
      breaker.failure(Breaker.Cause.HUNG);
      return false;
    }
    return breaker.allows() || breaker.isDue();
  }

  /** Whether what is fetched now would probably be written; a look, nothing is set aside. */
  boolean mayWrite() {
    return !closed && breaker.allows() && target.shelf().isOpen();
  }

  /**
   * No more chunks of a block are expected.
   *
   * @return false if there is nothing of it to be written
   */
  boolean flush(DiskBlockId id) {
    return queue.flush(id);
  }

  /** Waits until everything that was offered is written or dropped; false if that took longer. */
  boolean awaitIdle(Duration limit) throws InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    while (offersLeft.get() > 0) {
      if (closed || System.nanoTime() - deadline > 0) {
        return false;
      }
      TimeUnit.MILLISECONDS.sleep(1);
    }
    return queue.awaitIdle(Duration.ofNanos(deadline - System.nanoTime()));
  }

  private void run() {
    long measured = 0;
    while (!closed) {
      try {
        if (table != null && (measured == 0 || System.nanoTime() - measured > MEASURE_NANOS)) {
          measured = System.nanoTime();
          measure(table);
        }
        PendingBlock block = queue.take(offers.isEmpty() ? POLL_NANOS : 0);
        if (block != null) {
          write(block);
        } else {
          offerNext();
        }
      } catch (InterruptedException e) {
        // Only close interrupts.
        return;
      } catch (RuntimeException | Error e) {
        // Without this thread nothing would ever be written or let go again.
        LOG.warn("Writing to {} failed", target.name(), e);
      }
    }
  }

  private void offerNext() {
    Runnable next = offers.poll();
    if (next != null) {
      try {
        next.run();
      } finally {
        offersLeft.decrementAndGet();
      }
    }
  }

  /** Fits a private cache into what the disk has left. */
  private void measure(PrivateShelf shelf) {
    try {
      shelf.setCapacity(target.space().refresh(shelf.bytes()));
    } catch (IOException e) {
      failed("look at the space of " + target.name(), e);
    }
    for (int left = undeleted.size(); left > 0; left--) {
      DiskBlockId id = undeleted.poll();
      if (id != null) {
        delete(id);
      }
    }
  }

  private void write(PendingBlock block) {
    DiskBlockId id = block.id();
    writingSinceNanos = System.nanoTime();
    try {
      if (!hasRoomFor(block)) {
        metrics.add(Counter.DROPPED_SPACE_BYTES, block.bytes());
      } else if (!breaker.allows() && !breaker.tryProbe()) {
        metrics.add(Counter.DROPPED_FAULT_BYTES, block.bytes());
      } else {
        writeOver(id, block);
        breaker.success();
      }
    } catch (IOException e) {
      failed("write of " + id, e);
    } finally {
      writingSinceNanos = 0;
      queue.done(block);
      ended.accept(id);
    }
  }

  private boolean hasRoomFor(PendingBlock block) {
    // The file joins what is on disk already, which may be all of the block.
    long bytes = BlockFiles.bytesOnDisk(block.id(), -1);
    return (table == null || target.space().mayWrite()) && target.shelf().hasRoomFor(bytes);
  }

  private void writeOver(DiskBlockId id, PendingBlock block) throws IOException {
    BlockFiles.Written written;
    try {
      written = target.files().write(id, block, scratch);
    } catch (InvalidBlockException e) {
      // What stood in its place, and does no more.
      LOG.debug("{} dropped", id, e);
      metrics.count(Counter.CORRUPTIONS);
      target.shelf().gone(id);
      written = target.files().write(id, block, scratch);
    }
    if (written.mask() != 0) {
      metrics.count(Counter.WRITES);
      metrics.add(Counter.WRITTEN_BYTES, block.bytes());
      target.shelf().written(id, written.mask(), written.bytesOnDisk());
    }
  }

  /** Deletes the file of a block that the shelf of a private cache has no place for. */
  void delete(DiskBlockId id) {
    try {
      // It may have been written again since.
      if (target.shelf().believed(id) == 0) {
        target.files().delete(id);
      }
    } catch (IOException e) {
      undeleted.add(id);
      failed("deletion of " + id, e);
    }
  }

  /** Something that changes the directory has failed. */
  void failed(String what, IOException cause) {
    LOG.debug("{} failed", what, cause);
    metrics.count(Counter.WRITE_ERRORS);
    breaker.failure(Breaker.Cause.of(cause));
  }

  /**
   * Writes what others wait for in a shared cache, and then nothing more. Waits a bounded time; a
   * thread that hangs is left behind.
   */
  @Override
  public void close() {
    if (table == null && breaker.allows()) {
      try {
        boolean unused = queue.awaitIdle(Duration.ofMillis(CLOSE_MILLIS));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    closed = true;
    queue.close();
    thread.interrupt();
    if (!Background.await(thread, CLOSE_MILLIS)) {
      LOG.warn("Writing to {} hangs; left behind", target.name());
    }
    // What they offer is refused now, but they give back what they hold.
    while (!offers.isEmpty()) {
      offerNext();
    }
  }
}
