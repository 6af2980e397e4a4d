// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import static io.s3e.testing.Eventually.awaitTrue;

import io.s3e.S3E;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.time.Duration;
import java.util.Map;

/** What has become of bytes that were offered to a cache on local disk. */
public final class DiskWrites {
  private DiskWrites() {}

  /** Waits until the cache of the tenant is open, and all that was offered has come to its end. */
  public static void await(S3E tenant, Duration limit) throws InterruptedException {
    DiskMetrics metrics = tenant.metrics().disk();
    awaitTrue(
        "there is a cache on local disk, and all that was offered is written or dropped",
        limit,
        () -> tenant.diskUse() != null && waitingBytes(metrics) == 0);
  }

  public static void await(DiskMetrics metrics, Duration limit) throws InterruptedException {
    awaitTrue(
        "all that was offered is written or dropped", limit, () -> waitingBytes(metrics) == 0);
  }

  /** Bytes that were offered, and are neither written nor dropped. */
  public static long waitingBytes(DiskMetrics metrics) {
    return metrics.get(Counter.OFFERED_BYTES)
        - metrics.get(Counter.WRITTEN_BYTES)
        - droppedBytes(metrics);
  }

  /** Bytes that were offered and dropped, for whatever reason. */
  public static long droppedBytes(DiskMetrics metrics) {
    return metrics.snapshot().entrySet().stream()
        .filter(each -> each.getKey().name().startsWith("DROPPED_"))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }
}
