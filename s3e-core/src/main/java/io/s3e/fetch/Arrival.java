// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.memory.Block;
import java.io.IOException;

/**
 * A block that a reader waits for: pinned, and ready, or on its way with the reader counted as
 * interested. Belongs to one thread at a time, and is closed once.
 */
public final class Arrival implements AutoCloseable {
  private final Block block;
  private final Origin origin;
  private final boolean isAnothers;
  private final boolean hasJoined;

  /** {@code block} is pinned; {@code hasJoined} if the reader is counted as interested. */
  Arrival(Block block, boolean isAnothers, boolean hasJoined) {
    this.block = block;
    this.origin = Origin.of(block);
    this.isAnothers = isAnothers;
    this.hasJoined = hasJoined;
  }

  public Block block() {
    return block;
  }

  /**
   * Whether the block, which has settled, is ready; false if its fetch was a guess or was
   * cancelled, and the reader should ask for the block itself.
   *
   * @throws IOException if a fetch for a reader failed
   */
  boolean isReady() throws IOException {
    Exception failure = block.failure();
    if (failure == null) {
      return true;
    }
    // Another tenant's failure says nothing of this one's credentials and connections.
    if (origin.isPrefetch() || isAnothers || Failures.isNobodysError(failure)) {
      return false;
    }
    throw Failures.asIoException(failure);
  }

  /**
   * Whether another tenant fetches the block and it is not ready: only a thread that waits notices
   * when it is late.
   */
  public boolean isAnothers() {
    return isAnothers && !block.isReady();
  }

  /** Whether it is another tenant's, and late: whatever hangs may hang for that tenant alone. */
  boolean isOverdue() {
    return isAnothers && origin.isOverdue();
  }

  /** The error of a reader whose deadline passes now. */
  public IOException late() {
    return origin.effort.deadlinePassed();
  }

  /** The reader waits no more, and the pin ends. */
  @Override
  public void close() {
    if (hasJoined) {
      origin.leave();
    }
    block.unpin();
  }
}
