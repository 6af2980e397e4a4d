// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.memory.Block;
import io.s3e.memory.Purpose;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The run that a block comes from, as readers and memory know it: a reader of the block joins the
 * run, and memory tells the run what becomes of the block. Lives as long as its blocks.
 *
 * <p><b>Interest.</b> The stream that started the run counts one, each reader that waits on a block
 * of the run counts one. Once the last has left no reader can join: a latecomer fetches anew. A run
 * that no reader has ever waited for is a guess, whose failure concerns nobody. What a reader has
 * asked for counts as waited for from the start.
 *
 * <p>Any thread.
 */
final class Origin implements Block.Fate {
  /** Some times what a GET takes. */
  private static final long OVERDUE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final Object tenant;
  private final EngineMetrics metrics;
  final ObjectHandle handle;
  private final Purpose purpose;
  final RunEffort effort;
  private final Runnable unwanted;
  private final boolean ofScan;
  final AtomicInteger interested = new AtomicInteger(1);
  private final AtomicInteger waiting = new AtomicInteger();

  /** The GETs of the run, whose bytes its blocks are; empty where GETs are not kept. */
  private final List<GetRecord> gets = new CopyOnWriteArrayList<>();

  /** Why they are sent: the purpose of the run, or the kind of guess. */
  volatile Enum<?> reason;

  /** Whether some reader waits or has waited. */
  volatile boolean demanded;

  /** Whether the run was entered for bytes that had come from S3 before. */
  volatile boolean fetchedBefore;

  /** Whether what comes from S3 is to be written: then its blocks are dirty from the start. */
  volatile boolean spilled;

  /** Calls {@code unwanted} once, when the last who was interested has left. */
  Origin(
      Object tenant,
      EngineMetrics metrics,
      ObjectHandle handle,
      Purpose purpose,
      RunEffort effort,
      Runnable unwanted) {
    this.tenant = tenant;
    this.metrics = metrics;
    this.handle = handle;
    this.purpose = purpose;
    this.reason = purpose;
    this.effort = effort;
    this.unwanted = unwanted;
    this.demanded = purpose != Purpose.GUESS;
    this.ofScan = handle.progress.pattern.isScanning();
  }

  /** The origin of a block of an engine's: all of those come from runs. */
  static Origin of(Block block) {
    return (Origin) block.fate();
  }

  /** One GET more brings bytes of the run, before any of them lands. */
  void asksBy(GetRecord get) {
    if (get.isKept()) {
      gets.add(get);
    }
  }

  /** The run is over, and what came from {@code offset} on is in no block. */
  void lost(long offset) {
    gets.forEach(get -> get.lost(offset, Long.MAX_VALUE));
  }

  /** One more reader is about to wait. False if the run has been given up. */
  boolean join() {
    for (int now = interested.get(); now != 0; now = interested.get()) {
      if (interested.compareAndSet(now, now + 1)) {
        waiting.incrementAndGet();
        demanded = true;
        return true;
      }
    }
    return false;
  }

  /** A reader that has joined waits no more. */
  void leave() {
    waiting.decrementAndGet();
    abandon();
  }

  /** The stream that started the run gives it up. */
  void abandon() {
    if (interested.decrementAndGet() == 0) {
      unwanted.run();
    }
  }

  /** Whether some reader waits now. */
  boolean isAwaited() {
    return waiting.get() > 0;
  }

  /** Whether a failure concerns a reader. */
  boolean isForAReader() {
    return demanded && interested.get() > 0;
  }

  boolean isOf(Object one) {
    return tenant == one;
  }

  /** Whether the run has been under way for longer than a reader of another tenant waits for it. */
  boolean isOverdue() {
    return effort.elapsedNanos() > OVERDUE_NANOS;
  }

  /** Whether the run began as a guess: then its failure is no reader's, even if one joined. */
  boolean isPrefetch() {
    return purpose == Purpose.GUESS;
  }

  /** Whether the reader goes through the object in order, or did when the run was started. */
  boolean isOfScan() {
    return ofScan || handle.progress.pattern.isScanning();
  }

  @Override
  public void onReady(List<Block> blocks) {
    long bytes = 0;
    for (Block block : blocks) {
      bytes += block.length();
      boolean unused = spilled && block.markDirty();
    }
    metrics.add(Counter.HELD_BYTES, bytes);
    if (isPrefetch()) {
      handle.count(Counter.PREFETCHED_BYTES, bytes);
    }
  }

  @Override
  public void onFirstRead(Block block) {
    count(block, Counter.USED_BYTES, Counter.PREFETCH_USED_BYTES);
    gets.forEach(get -> get.read(block.start(), block.end()));
  }

  @Override
  public void onDroppedUnread(Block block) {
    count(block, Counter.WASTED_BYTES, Counter.PREFETCH_WASTED_BYTES);
    gets.forEach(get -> get.lost(block.start(), block.end()));
  }

  private void count(Block ended, Counter all, Counter guessed) {
    metrics.add(Counter.HELD_BYTES, -ended.length());
    handle.count(all, ended.length());
    if (isPrefetch()) {
      handle.count(guessed, ended.length());
    }
  }

  @Override
  public long lastReadNanos() {
    return handle.progress.lastReadNanos;
  }
}
