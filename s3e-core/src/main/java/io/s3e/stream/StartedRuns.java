package io.s3e.stream;

import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.fetch.ObjectHandle;
import io.s3e.fetch.RunFetch;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The runs that one reader has started and that are under way or hold blocks that nobody has read;
 * and the blocks that were to come and did not, until the planner hears of them. Any thread.
 */
final class StartedRuns implements Consumer<RunFetch> {
  private final ObjectHandle handle;
  private final boolean hearsOfLoss;
  private final Queue<RunFetch> runs = new ConcurrentLinkedQueue<>();
  private final Queue<BlockRange> lost = new ConcurrentLinkedQueue<>();

  /** Holds the queue alone: a run must not keep a forgotten stream alive. */
  private final Consumer<BlockRange> noteLoss = lost::add;

  /**
   * @param hearsOfLoss whether there is a planner to be told
   */
  StartedRuns(ObjectHandle handle, boolean hearsOfLoss) {
    this.handle = handle;
    this.hearsOfLoss = hearsOfLoss;
  }

  /** A run that has not begun. */
  @Override
  public void accept(RunFetch run) {
    if (hearsOfLoss) {
      run.onLoss(noteLoss);
    }
    runs.removeIf(RunFetch::isSpent);
    runs.add(run);
    if (handle.isClosed() && runs.remove(run)) {
      run.abandon();
    }
  }

  /** These blocks were asked for, and are not in memory nor on their way. */
  void lost(BlockRange blocks) {
    lost.add(blocks);
  }

  /** Blocks that were lost, once; null if there are no more. */
  @Nullable BlockRange pollLost() {
    return lost.poll();
  }

  /** Nobody wants {@code range} any more, which is made of whole blocks. */
  void abandon(ByteRange range) {
    for (RunFetch run : runs) {
      boolean inside = run.range().start() >= range.start() && run.range().end() <= range.end();
      if (!inside) {
        run.abandon(range);
      } else if (runs.remove(run)) {
        run.abandon();
      }
    }
  }

  /** Nobody wants anything of it any more. */
  void abandonAll() {
    for (RunFetch run = runs.poll(); run != null; run = runs.poll()) {
      run.abandon();
    }
  }
}
