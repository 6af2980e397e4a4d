package io.s3e.stream;

import io.s3e.fetch.Arrival;
import io.s3e.fetch.Fetcher;
import io.s3e.memory.Block;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A block for a reader that has no thread waiting: pinned, ready or on its way with the reader
 * counted as interested. Belongs to one thread at a time, and is closed once.
 */
final class Expected implements AutoCloseable {
  private final Block block;

  /** Null if the block was ready at once. */
  private final @Nullable Arrival arrival;

  private final long sinceNanos = System.nanoTime();

  private Expected(Block block, @Nullable Arrival arrival) {
    this.block = block;
    this.arrival = arrival;
  }

  /** Takes a pin over; null if the block's fetch has been given up, and the pin is ended then. */
  static @Nullable Expected of(Fetcher fetcher, Block pinned) {
    Arrival arrival = pinned.isReady() ? null : fetcher.join(pinned);
    if (arrival != null || pinned.isReady()) {
      return new Expected(pinned, arrival);
    }
    pinned.unpin();
    return null;
  }

  Block block() {
    return block;
  }

  long waitedNanos() {
    return System.nanoTime() - sinceNanos;
  }

  /** Whether the settled block is ready; otherwise as {@link Arrival#isReady}. */
  boolean isReady() throws IOException {
    return arrival == null || arrival.isReady();
  }

  /** Why a reader whose deadline passes now gets nothing. */
  @Nullable IOException late() {
    return arrival == null ? null : arrival.late();
  }

  @Override
  public void close() {
    if (arrival != null) {
      arrival.close();
    }
    block.unpin();
  }
}
