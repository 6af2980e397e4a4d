// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import io.s3e.block.ByteRange;
import io.s3e.fetch.ObjectHandle;
import io.s3e.fetch.RunFetch;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * All runs started for one reader that are under way, or hold blocks that nobody has read. Takes
 * each before it begins. Any thread.
 */
final class StartedRuns implements Consumer<RunFetch> {
  private final Queue<RunFetch> runs = new ConcurrentLinkedQueue<>();
  private final ObjectHandle handle;
  private final Runnable doubt;

  /** {@code doubt} runs when a run has not brought all of its blocks. */
  StartedRuns(ObjectHandle handle, Runnable doubt) {
    this.handle = handle;
    this.doubt = doubt;
  }

  @Override
  public void accept(RunFetch run) {
    run.onLoss(doubt);
    runs.removeIf(RunFetch::isSpent);
    runs.add(run);
    if (handle.isClosed()) {
      abandon(run);
    }
  }

  /** Gives up a run, unless somebody has. */
  void abandon(RunFetch run) {
    if (runs.remove(run)) {
      run.abandon();
    }
  }

  /**
   * Blocks of these bytes that nobody read are the first to make room. What was started for their
   * blocks alone, and {@code isWanted} does not want, is given up unless they are delivered.
   */
  void passOver(ByteRange bytes, boolean isDelivered, Predicate<ByteRange> isWanted) {
    ByteRange alone = handle.layout.bytesOf(handle.layout.covering(bytes.start(), bytes.end()));
    for (RunFetch run : runs) {
      ByteRange its = run.range();
      if (isDelivered || its.start() < alone.start() || its.end() > alone.end()) {
        run.abandon(isDelivered ? bytes : alone);
      } else if (!isWanted.test(its)) {
        abandon(run);
      }
    }
  }

  void abandonAll() {
    for (RunFetch run = runs.poll(); run != null; run = runs.poll()) {
      run.abandon();
    }
  }
}
