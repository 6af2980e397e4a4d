package io.s3e.columnar;

import io.s3e.metrics.EngineMetrics.Counter;

/**
 * Hears what is guessed for one stream, and what becomes of it: the {@code COLUMNAR_…} counters.
 * Called while the planner's caller holds its lock; does not block or throw.
 *
 * <p>Each byte that was asked for is later used, wasted or withdrawn, exactly one of these.
 */
@FunctionalInterface
public interface ColumnarListener {
  /** Hears nothing. */
  ColumnarListener NONE = (counter, amount) -> {};

  /** {@code counter} has {@code amount} more. */
  void onCounted(Counter counter, long amount);
}
