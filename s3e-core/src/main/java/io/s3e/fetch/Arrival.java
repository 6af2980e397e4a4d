package io.s3e.fetch;

import io.s3e.memory.Block;
import java.io.IOException;

/** The interest of one reader in one block. */
public final class Arrival implements AutoCloseable {
  private final Block block;
  private final Origin origin;
  private final boolean isAnothers;

  Arrival(Block block, Origin origin, boolean isAnothers) {
    this.block = block;
    this.origin = origin;
    this.isAnothers = isAnothers;
  }

  /**
   * Whether the block, which has settled, is ready; false if its fetch was a guess or was
   * cancelled, and the reader should ask for the block itself.
   *
   * @throws IOException if a fetch for a reader failed
   */
  public boolean isReady() throws IOException {
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

  /** Whether it is another tenant's, and late: whatever hangs may hang for that tenant alone. */
  boolean isOverdue() {
    return isAnothers && origin.isOverdue();
  }

  /** The error of a reader whose deadline passes now. */
  public IOException late() {
    return origin.effort().deadlinePassed();
  }

  /** The reader waits no more. */
  @Override
  public void close() {
    origin.interest().leave();
  }
}
