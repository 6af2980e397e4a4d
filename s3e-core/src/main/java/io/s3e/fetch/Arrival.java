// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.memory.Block;
import java.io.IOException;

/**
 * A block that a reader waits for: pinned, and ready, or on its way with the reader counted as
 * interested. Belongs to one thread at a time, and is closed once.
 *
 * @param isOfAnother whether another tenant fetches it
 * @param hasJoined whether the reader is counted as interested
 */
public record Arrival(Block block, boolean isOfAnother, boolean hasJoined)
    implements AutoCloseable {
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
    if (Origin.of(block).isPrefetch() || isOfAnother || Failures.isNobodysError(failure)) {
      return false;
    }
    throw Failures.asIoException(failure);
  }

  /** Whether another tenant still fetches it: only a waiting thread notices when it is late. */
  public boolean isAnothers() {
    return isOfAnother && !block.isReady();
  }

  /** Whether it is another tenant's, and late: whatever hangs may hang for that tenant alone. */
  boolean isOverdue() {
    return isOfAnother && Origin.of(block).isOverdue();
  }

  /** The error of a reader whose deadline passes now. */
  public IOException late() {
    return Origin.of(block).effort.deadlinePassed();
  }

  /** The reader waits no more, and the pin ends. */
  @Override
  public void close() {
    if (hasJoined) {
      Origin.of(block).leave();
    }
    block.unpin();
  }
}
