package io.s3e.fetch;

import io.s3e.disk.DiskBlockId;
import io.s3e.disk.DiskRead;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The look on disk for the bytes of a {@link RunFetch}, before its first GET: one read after the
 * other, of one disk block each.
 *
 * <p>As with an {@link Attempt}, bytes land inside the {@link Fence}, and the attempt ends once, by
 * whoever closes it: the last read, the deadline, or a cancel. A disk that hangs meanwhile holds
 * nothing but its own thread and its own buffer. However it ends, what has landed stays, and the
 * rest is fetched.
 */
final class DiskAttempt implements DiskRead.Receiver {
  private final RunFetch run;
  private final Landing landing;
  private final DiskTier disk;
  private final ObjectHandle handle;
  private final long patienceNanos;
  private final Fence fence = new Fence();
  private volatile long lastWordNanos = System.nanoTime();
  private volatile @Nullable DiskRead reading;

  // Written by one read after the other.
  private DiskTier.@Nullable Piece piece;
  private int landed;

  DiskAttempt(RunFetch run, Landing landing, DiskTier disk, ObjectHandle handle) {
    this.run = run;
    this.landing = landing;
    this.disk = disk;
    this.handle = handle;
    this.patienceNanos = disk.cache().config().readDeadline().toNanos();
  }

  void begin() {
    DiskTier.Piece next = disk.firstPiece(handle, landing.missing());
    if (next == null) {
      fence.close(() -> run.lookedOnDisk(null));
      return;
    }
    piece = next;
    landed = 0;
    DiskRead started =
        disk.cache().read(next.id(), next.first(), next.end(), next.isWorthClaiming(), this);
    reading = started;
    if (fence.isClosed()) {
      started.cancel();
    }
  }

  boolean isLate(long now) {
    return now - lastWordNanos > patienceNanos;
  }

  /** Ends the attempt that has become silent; the run goes on to S3. */
  void giveUp() {
    DiskRead late = reading;
    if (fence.close(() -> run.lookedOnDisk(null)) && late != null) {
      late.giveUp();
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
      lastWordNanos = System.nanoTime();
      if (landing.isLent() && !landing.exchange(run.isPrefetch())) {
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
    lastWordNanos = System.nanoTime();
  }

  @Override
  public void onEnd(DiskRead.End end) {
    DiskTier.Piece done = piece;
    if (done != null && landed > 0) {
      disk.hit(handle, done, landed);
    }
    if (end == DiskRead.End.HIT && !landing.isComplete()) {
      begin();
      return;
    }
    DiskBlockId claimed = done != null && end == DiskRead.End.CLAIMED ? done.id() : null;
    if (!fence.close(() -> run.lookedOnDisk(claimed)) && claimed != null) {
      // The run has gone on without it.
      disk.cache().fetched(claimed);
    }
  }
}
