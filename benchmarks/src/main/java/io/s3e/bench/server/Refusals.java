// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Picks the GETs of objects that are answered by 503 {@code SlowDown}: of each twenty in a row, as
 * they arrive, one. Which one it is changes from twenty to twenty and is the same in each run. Any
 * thread.
 */
final class Refusals {
  /** A share of 5 %. */
  private static final int ONE_IN = 20;

  /** 2^64 divided by the golden ratio: consecutive numbers, multiplied by it, lie far apart. */
  private static final long SCATTER = 0x9E3779B97F4A7C15L;

  private final @Nullable String path;
  private final AtomicLong gets = new AtomicLong();

  /**
   * @param buckets what the names of the buckets begin with; null for no refusals
   */
  Refusals(@Nullable String buckets) {
    path = buckets == null ? null : '/' + buckets;
  }

  /** Whether this GET is refused; counts it if its bucket refuses any. */
  boolean next(HttpHead request) {
    if (path == null || !request.rawPath().startsWith(path)) {
      return false;
    }
    long number = gets.getAndIncrement();
    long refused = Long.remainderUnsigned(((number / ONE_IN + 1) * SCATTER) >>> 32, ONE_IN);
    return number % ONE_IN == refused;
  }
}
