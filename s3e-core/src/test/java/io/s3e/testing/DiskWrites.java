// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import static io.s3e.testing.Eventually.awaitTrue;

import io.s3e.S3E;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.util.Map;

/** What has become of bytes that were offered to a cache on local disk. */
public final class DiskWrites {
  private DiskWrites() {}

  /** Waits until the cache of the tenant is open, and all that was offered has come to its end. */
  public static void await(S3E tenant) throws InterruptedException {
    awaitTrue("there is a cache on local disk", () -> tenant.diskUse() != null);
    await(tenant.metrics().disk());
  }

  public static void await(DiskMetrics metrics) throws InterruptedException {
    awaitTrue("all that was offered is written or dropped", () -> waitingBytes(metrics) == 0);
  }

  /** Bytes that were offered, and are neither written nor dropped. */
  public static long waitingBytes(DiskMetrics metrics) {
    Map<Counter, Long> now = metrics.snapshot();
    long dropped =
        now.entrySet().stream()
            .filter(each -> each.getKey().name().startsWith("DROPPED_"))
            .mapToLong(Map.Entry::getValue)
            .sum();
    return now.get(Counter.OFFERED_BYTES) - now.get(Counter.WRITTEN_BYTES) - dropped;
  }
}
