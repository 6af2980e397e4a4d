// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import io.s3e.hadoop.reliability.Load.Read;
import java.util.Collection;

/** How long reads took. */
final class Percentiles {
  private final long[] nanos;

  private Percentiles(long[] nanos) {
    this.nanos = nanos;
  }

  static Percentiles of(Collection<Read> reads) {
    return new Percentiles(reads.stream().mapToLong(Read::nanos).sorted().toArray());
  }

  /** In milliseconds, of a share from 0 to 1; 0 without reads. */
  double millis(double share) {
    return nanos.length == 0 ? 0 : nanos[(int) (share * (nanos.length - 1))] / 1e6;
  }

  Figures addTo(Figures figures) {
    return figures
        .add("reads", nanos.length)
        .add("p50 ms", millis(0.5))
        .add("p99 ms", millis(0.99))
        .add("p99.9 ms", millis(0.999))
        .add("slowest ms", millis(1));
  }
}
