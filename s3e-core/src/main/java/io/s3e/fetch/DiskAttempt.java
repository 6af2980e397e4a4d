package io.s3e.fetch;

import io.s3e.client.Fence;
import io.s3e.disk.ChunkRange;
import io.s3e.disk.DiskCache;
import io.s3e.disk.DiskRead;
import io.s3e.disk.StoredObject;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The look at the disk of a {@link RunFetch}, before its first GET: for its bytes, or, in a shared
 * cache, for what other processes have done about them. One after the other, if the run goes over
 * more than one directory.
 *
 * <p>As with an {@link Attempt}, bytes land inside the {@link Fence}, and the attempt ends once, by
 * whoever closes it: the last read, the deadline, or a cancel. A disk that hangs meanwhile holds
 * nothing but its own thread and its own buffer. However it ends, what has landed stays, and {@link
 * Rest} says what becomes of the rest.
 */
final class DiskAttempt implements DiskRead.Receiver {
  /**
   * How long a reader waits for what another process fetches: some times what a GET takes. A guess
   * waits as long as the cache's own patience, since it keeps nobody waiting.
   */
  private static final long BUSY_PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** The run that looks: hears of the end, once, when nothing can touch the memory any more. */
  interface Seeker {
    /** Whether some reader waits or has waited for it. */
    boolean isDemanded();

    /**
     * The look is over.
     *
     * @param rest what becomes of the bytes that it has not brought
     * @param claim what other processes wait for now
     */
    void lookedOnDisk(Rest rest, @Nullable ChunkRange claim);
  }

  /** The fate of the bytes that a look has not brought. */
  enum Rest {
    /** There are none. */
    NONE,
    /** One GET brings them. */
    FETCHED,
    /** The run ends without them, which is nobody's error: who wants them finds them on disk. */
    LEFT
  }

  private final Seeker run;
  private final Landing landing;
  private final DiskTier disk;
  private final ObjectHandle handle;
  private final Source source;
  private final long patienceNanos;
  private final Fence fence = new Fence();

  /** When this look at the disk began. */
  private volatile long lookingSinceNanos = System.nanoTime();

  /** When another process was found to be fetching; 0 if none was. */
  private volatile long busySinceNanos;

  private volatile @Nullable DiskRead looking;
  private final AtomicInteger looks = new AtomicInteger();

  /** Which look {@link #looking} is. Guarded by this. */
  private int lastLook;

  // Touched inside the fence, or by what follows its closing.
  private @Nullable ChunkRange chunks;
  private long landed;

  /**
   * @param source of the run, not S3 alone
   */
  DiskAttempt(Seeker run, Landing landing, DiskTier disk, ObjectHandle handle, Source source) {
    this.run = run;
    this.landing = landing;
    this.disk = disk;
    this.handle = handle;
    this.source = source;
    this.patienceNanos = disk.cache().config().readDeadline().toNanos();
  }

  void begin() {
    if (!fence.enter()) {
      return;
    }
    DiskCache cache = disk.cache();
    int look = looks.incrementAndGet();
    ChunkRange next;
    try {
      ChunkRange missing = disk.chunksOf(handle, landing.missing());
      next = missing == null ? null : cache.inStripe(missing);
      chunks = next;
      lookingSinceNanos = System.nanoTime();
    } finally {
      fence.exit();
    }
    if (next == null) {
      boolean unused = close(Rest.FETCHED, null);
      return;
    }
    int blockChunks = Math.max(1, handle.layout().blockSize() / StoredObject.CHUNK_BYTES);
    DiskRead started =
        source == Source.DISK ? cache.read(next, this) : cache.claim(next, blockChunks, this);
    lookBegan(look, started);
    if (fence.isClosed()) {
      started.cancel();
    }
  }

  /** It may be over already, and the look at the next directory have begun. */
  private synchronized void lookBegan(int look, DiskRead started) {
    if (look > lastLook) {
      lastLook = look;
      looking = started;
    }
  }

  /** Ends the attempt; false if it has ended. */
  private boolean close(Rest rest, @Nullable ChunkRange claimed) {
    return fence.close(
        () -> {
          boolean complete = landing.isComplete();
          countHit(complete);
          run.lookedOnDisk(complete ? Rest.NONE : rest, claimed);
        });
  }

  private void countHit(boolean complete) {
    if (source == Source.DISK) {
      disk.hit(handle, landed, complete);
    }
  }

  /** Called about every 100 ms; leaves a disk behind that is too slow, or another process. */
  void checkDeadline(long now) {
    DiskRead late = looking;
    long busySince = busySinceNanos;
    if (now - lookingSinceNanos > patienceNanos) {
      if (close(Rest.FETCHED, null) && late != null) {
        late.giveUp();
      }
    } else if (busySince != 0 && now - busySince > BUSY_PATIENCE_NANOS && run.isDemanded()) {
      if (close(Rest.FETCHED, null) && late != null) {
        late.cancel();
      }
    }
  }

  /** Ends the attempt because nobody wants the run any more. */
  void withdraw(Runnable then) {
    DiskRead unwanted = looking;
    boolean closed =
        fence.close(
            () -> {
              countHit(false);
              then.run();
            });
    if (closed && unwanted != null) {
      unwanted.cancel();
    }
  }

  @Override
  public boolean onBytes(ByteBuffer bytes) {
    if (!fence.enter()) {
      return false;
    }
    try {
      landed += bytes.remaining();
      landing.accept(bytes);
      return true;
    } finally {
      fence.exit();
    }
  }

  @Override
  public void onBusy() {
    long now = System.nanoTime();
    lookingSinceNanos = now;
    if (busySinceNanos == 0) {
      busySinceNanos = now;
    }
  }

  @Override
  public void onEnd(DiskRead.End end) {
    if (source == Source.DISK) {
      if (end == DiskRead.End.HIT && !landing.isComplete()) {
        // The run goes on in another directory.
        begin();
      } else {
        boolean unused = close(Rest.FETCHED, null);
      }
      return;
    }
    switch (end) {
      case HIT -> {
        boolean unused = close(Rest.LEFT, null);
      }
      case MISS -> {
        boolean unused = close(Rest.FETCHED, null);
      }
      case CLAIMED -> {
        ChunkRange claimed = chunks;
        if (!close(Rest.FETCHED, claimed) && claimed != null) {
          // The run has gone on without it.
          disk.cache().claimEnded(claimed);
        }
      }
    }
  }
}
