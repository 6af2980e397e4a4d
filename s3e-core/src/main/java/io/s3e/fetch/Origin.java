package io.s3e.fetch;

import io.s3e.memory.Block;
import io.s3e.memory.Purpose;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import java.util.concurrent.TimeUnit;

/**
 * The run that a block comes from, as readers and memory know it: a reader of the block joins the
 * run, and memory tells the run what becomes of the block. Lives as long as its blocks. Any thread.
 */
final class Origin implements Block.Fate {
  /** Some times what a GET takes. */
  private static final long OVERDUE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final Object tenant;
  private final EngineMetrics metrics;
  private final ObjectHandle handle;
  private final Purpose purpose;
  private final Interest interest;
  private final RunEffort effort;
  private final boolean ofScan;
  private volatile boolean fetchedBefore;
  private volatile boolean spilled;

  /**
   * @param tenant that sends the GETs of the run, told from others by identity
   * @param metrics of the tenant
   */
  Origin(
      Object tenant,
      EngineMetrics metrics,
      ObjectHandle handle,
      Purpose purpose,
      Interest interest,
      RunEffort effort) {
    this.tenant = tenant;
    this.metrics = metrics;
    this.handle = handle;
    this.purpose = purpose;
    this.interest = interest;
    this.effort = effort;
    this.ofScan = handle.progress().pattern().isScanning();
  }

  /** The origin of a block of an engine's: all of those come from runs. */
  static Origin of(Block block) {
    return (Origin) block.fate();
  }

  ObjectHandle handle() {
    return handle;
  }

  Interest interest() {
    return interest;
  }

  RunEffort effort() {
    return effort;
  }

  /** Whether that tenant sends the GETs of the run. */
  boolean isOf(Object one) {
    return tenant == one;
  }

  /** Whether the run has been under way for longer than a reader of another tenant waits for it. */
  boolean isOverdue() {
    return effort.elapsedNanos() > OVERDUE_NANOS;
  }

  /**
   * Whether the run was started as a guess: then its failure is no reader's, even if one joined.
   */
  boolean isPrefetch() {
    return purpose == Purpose.GUESS;
  }

  /** Whether the reader went through the object in order when the run was started. */
  boolean isOfScan() {
    return ofScan;
  }

  /** Whether some of its bytes had come from S3 before. */
  boolean wasFetchedBefore() {
    return fetchedBefore;
  }

  /** The first GET of the run is about to be sent, for bytes that had come from S3 before. */
  void fetchesAgain() {
    fetchedBefore = true;
  }

  /** What comes from S3 is to be written. */
  void spill() {
    spilled = true;
  }

  /** Whether what comes from S3 is to be written: then its blocks are dirty from the start. */
  boolean isSpilled() {
    return spilled;
  }

  @Override
  public void onReady(Block block) {
    if (spilled) {
      boolean unused = block.markDirty();
    }
    metrics.add(Counter.HELD_BYTES, block.length());
    if (isPrefetch()) {
      metrics.add(Counter.PREFETCHED_BYTES, block.length());
      handle.listener().onPrefetched(block.length());
    }
  }

  @Override
  public void onFirstRead(Block block) {
    metrics.add(Counter.HELD_BYTES, -block.length());
    metrics.add(Counter.USED_BYTES, block.length());
    if (isPrefetch()) {
      metrics.add(Counter.PREFETCH_USED_BYTES, block.length());
    }
    handle.listener().onUsed(block.length(), isPrefetch());
  }

  @Override
  public void onDroppedUnread(Block block) {
    metrics.add(Counter.HELD_BYTES, -block.length());
    metrics.add(Counter.WASTED_BYTES, block.length());
    if (isPrefetch()) {
      metrics.add(Counter.PREFETCH_WASTED_BYTES, block.length());
    }
    handle.listener().onWasted(block.length(), isPrefetch());
  }

  @Override
  public long lastReadNanos() {
    return handle.progress().lastReadNanos();
  }
}
