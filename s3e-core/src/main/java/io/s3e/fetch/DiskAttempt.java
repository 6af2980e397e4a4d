package io.s3e.fetch;

import io.s3e.client.Fence;
import io.s3e.disk.DiskBlockId;
import io.s3e.disk.DiskRead;
import io.s3e.memory.Purpose;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The look on disk for the bytes of a {@link RunFetch}, before its first GET: one read after the
 * other, of one disk block each.
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

    /** The purpose that more memory is asked for. */
    Purpose purposeNow();

    /**
     * The look is over.
     *
     * @param rest what becomes of the bytes that it has not brought
     * @param claim what other processes wait for now
     */
    void lookedOnDisk(Rest rest, @Nullable DiskBlockId claim);
  }

  /** What becomes of the bytes that a look has not brought. */
  enum Rest {
    /** There are none. */
    NONE,
    /** One GET brings them. */
    FETCHED,
    /** The run ends without them, which is nobody's error: who wants them asks anew. */
    LEFT
  }

  private final Seeker run;
  private final Landing landing;
  private final DiskTier disk;
  private final ObjectHandle handle;
  private final long patienceNanos;
  private final Fence fence = new Fence();

  /** When this look at the disk began. */
  private volatile long lookingSinceNanos = System.nanoTime();

  /** When another process was found to be fetching; 0 if none was. */
  private volatile long busySinceNanos;

  private volatile @Nullable DiskRead reading;

  // Touched inside the fence, or by what follows its closing.
  private @Nullable Piece piece;
  private int landed;

  /** The disk has bytes that there are no buffers for. */
  private boolean refused;

  DiskAttempt(Seeker run, Landing landing, DiskTier disk, ObjectHandle handle) {
    this.run = run;
    this.landing = landing;
    this.disk = disk;
    this.handle = handle;
    this.patienceNanos = disk.cache().config().readDeadline().toNanos();
  }

  void begin() {
    if (!fence.enter()) {
      return;
    }
    Piece next;
    try {
      next = disk.firstPiece(handle, landing.missing());
      piece = next;
      landed = 0;
      lookingSinceNanos = System.nanoTime();
    } finally {
      fence.exit();
    }
    if (next == null) {
      boolean unused = close(null);
      return;
    }
    DiskRead started =
        disk.cache()
            .read(
                next.id(),
                next.first(),
                next.end(),
                disk.isWorthClaiming(handle, next.bytes()),
                this);
    reading = started;
    if (fence.isClosed()) {
      started.cancel();
    }
  }

  /** Ends the attempt; false if it has ended. */
  private boolean close(@Nullable DiskBlockId claimed) {
    return fence.close(
        () -> {
          countHit();
          run.lookedOnDisk(rest(), claimed);
        });
  }

  private Rest rest() {
    if (landing.isComplete()) {
      return Rest.NONE;
    }
    // To fetch a guess that is on disk would only cost a request.
    return refused && !run.isDemanded() ? Rest.LEFT : Rest.FETCHED;
  }

  private void countHit() {
    Piece done = piece;
    if (done != null && landed > 0) {
      disk.hit(handle, done, landed);
    }
  }

  /** Called about every 100 ms; leaves a disk behind that is too slow, or another process. */
  void checkDeadline(long now) {
    DiskRead late = reading;
    long busySince = busySinceNanos;
    if (now - lookingSinceNanos > patienceNanos) {
      if (close(null) && late != null) {
        late.giveUp();
      }
    } else if (busySince != 0 && now - busySince > BUSY_PATIENCE_NANOS && run.isDemanded()) {
      if (close(null) && late != null) {
        late.cancel();
      }
    }
  }

  /** Ends the attempt because nobody wants the run any more. */
  void withdraw(Runnable then) {
    DiskRead unwanted = reading;
    if (fence.close(then) && unwanted != null) {
      unwanted.cancel();
    }
  }

  @Override
  public boolean onBytes(ByteBuffer bytes) {
    if (!fence.enter()) {
      return false;
    }
    try {
      // A run that may be in a shared cache is fetched as a rule, so it was granted what its GET
      // needs. That may be a slot, and a client lends slots for its own bytes alone; to grant
      // buffers as well would cost each GET its buffers.
      refused = refused || (landing.isLent() && !landing.exchange(run.purposeNow()));
      if (refused) {
        return false;
      }
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
    if (end == DiskRead.End.HIT && goesOn()) {
      begin();
      return;
    }
    Piece done = piece;
    DiskBlockId claimed = done != null && end == DiskRead.End.CLAIMED ? done.id() : null;
    if (!close(claimed) && claimed != null) {
      // The run has gone on without it.
      disk.cache().claimEnded(claimed);
    }
  }

  /** Whether there is another disk block to be read; counts the one that was. */
  private boolean goesOn() {
    if (!fence.enter()) {
      return false;
    }
    try {
      if (landing.isComplete()) {
        return false;
      }
      countHit();
      return true;
    } finally {
      fence.exit();
    }
  }
}
