// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.s3e.testing.Slow;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The cache on disk in real processes, through the file system that users have: bytes that one pass
 * or one JVM has read the next need not fetch. Every byte is compared, and no time is. The server
 * is slow, so that the disk of any machine keeps up: bytes that it drops would be fetched again.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Slow
class DiskCacheBenchTest {

  private static final String MEGABYTES = "fetchedMegabytes";

  @TempDir private Path temp;

  private static double median(JsonNode summary, String figure) {
    assertThat(summary.get("verdict").asText()).isEqualTo("ok, every byte right");
    return summary.get("medians").get(figure).asDouble();
  }

  private static long counter(JsonNode result, String name) {
    return result.get("counters").path(name).asLong();
  }

  /** Bytes that were offered and not written, for whatever reason. */
  private static long dropped(JsonNode result) {
    long bytes = 0;
    for (Map.Entry<String, JsonNode> counter : result.get("counters").properties()) {
      if (counter.getKey().startsWith("s3e_cache_dropped_")) {
        bytes += counter.getValue().asLong();
      }
    }
    return bytes;
  }

  private static JsonNode result(JsonNode summary) {
    return summary.get("runs").get(0).get("result");
  }

  @Test
  void laterPassesOverMoreThanMemoryHoldsAreReadFromDisk() throws Exception {
    BenchRun.Outcome outcome =
        new BenchRun(temp)
            .run(
                "--engines=s3e-host,s3e,s3e-nocache",
                "--workloads=back-3",
                "--memory-budget=32",
                "--size=48",
                "--seek-size=48",
                "--ttfb=5",
                "--total-bandwidth=60",
                "--rounds=1");

    double bytes = (48 << 20) / 1e6;
    double withoutDisk = median(outcome.pass("back-3", 3, "s3e-nocache"), MEGABYTES);
    assertThat(withoutDisk).as("memory alone does not hold it").isGreaterThan(bytes / 2);
    assertThat(median(outcome.pass("back-3", 1, "s3e-host"), MEGABYTES)).isGreaterThan(bytes / 2);

    JsonNode shared = outcome.pass("back-3", 3, "s3e-host");
    assertThat(median(shared, MEGABYTES)).isLessThan(bytes / 100);
    assertThat(counter(result(shared), "s3e_cache_hit_bytes") / 1e6).isGreaterThan(bytes / 3);
    JsonNode own = outcome.pass("back-3", 3, "s3e");
    assertThat(median(own, MEGABYTES)).isLessThan(withoutDisk);
    assertThat(counter(result(own), "s3e_cache_hits")).isPositive();
  }

  @Test
  void whatWasReadByAnotherJvmOrEarlierIsNotFetched() throws Exception {
    BenchRun.Outcome outcome =
        new BenchRun(temp)
            .run(
                "--engines=s3e-host",
                "--workloads=share-2,parquet-2",
                "--size=48",
                // Where memory holds less, blocks leave it unwritten while the processors are busy.
                "--memory-budget=96",
                "--jvm-option=-XX:MaxDirectMemorySize=512m",
                "--scale=0.005",
                "--ttfb=10",
                "--total-bandwidth=60",
                "--stagger=5",
                "--rounds=1");

    JsonNode summary = outcome.summary("share-2", "s3e-host");
    assertThat(summary.get("verdict").asText()).isEqualTo("ok, every byte right");
    JsonNode processes = summary.get("runs").get(0).get("processes");
    // What the first cannot write in time it drops, and a busy machine leaves it little time. The
    // second begins when the first has read, and finds whatever was written.
    long written = counter(processes.get(0), "s3e_cache_written_bytes");
    assertThat(written).isBetween(8L << 20, 48L << 20);
    // Where the disk answers later than the store for a while, blocks are not offered.
    long leftOut = counter(processes.get(0), "s3e_cache_not_admitted_bytes");
    long offered = counter(processes.get(0), "s3e_cache_offered_bytes");
    assertThat(offered + leftOut).as("%s", processes.get(0)).isEqualTo(48L << 20);
    // The rest waits for the disk when its reader has ended, and is written or dropped after that.
    assertThat(written + dropped(processes.get(0))).isLessThanOrEqualTo(offered);
    long found = counter(processes.get(1), "s3e_cache_hit_bytes");
    assertThat(found).isBetween(written / 2, offered);
    // Blocks that are written while the second's GET for them is on its way are both: its reader
    // takes them from disk, which has them sooner.
    assertThat(found + counter(processes.get(1), "s3e_cache_miss_bytes"))
        .isBetween(48L << 20, 56L << 20);
    assertThat(processes).hasSize(2);
    assertThat(result(summary).get("bytesUsed").asLong()).isEqualTo(2 * (48L << 20));
    assertThat(median(outcome.pass("parquet-2", 1, "s3e-host"), "gets")).isPositive();
    assertThat(median(outcome.pass("parquet-2", 2, "s3e-host"), "gets")).isZero();
  }
}
