// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.S3EConfig;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.fault.FaultPolicy;
import io.s3e.prefetch.VectorPlanner;
import io.s3e.testing.CapturedLog;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UnknownKeysTest {
  private final Configuration conf = new Configuration(false);

  /** The one line that tells of keys, which shows no value. */
  private String theOnlyWarning() {
    // Others in each run: one JVM tells of them once.
    conf.set("fs.s3a.s3e.unknown-" + System.nanoTime(), "x");
    try (CapturedLog log = new CapturedLog()) {
      UnknownKeys.tell("s3a://logs", conf, "logs");
      assertThat(log.lines("secret")).isEmpty();
      assertThat(log.lines("WARN")).hasSize(1);
      return log.lines("WARN").get(0);
    }
  }

  @Test
  void allKnownKeysAreKnown() {
    for (ConfigKey<?> key : S3EKeys.ALL) {
      conf.set(key.name(), "x");
      conf.set(key.name().replace("fs.s3a.", "fs.s3a.bucket.logs."), "x");
    }
    conf.set("fs.s3a.s3e.cache.key", "x");
    conf.set("fs.s3a.bucket.logs.s3e.cache.key", "x");
    conf.set("fs.s3a.endpoint", "x");
    assertThat(UnknownKeys.in(conf, "logs")).isEmpty();
  }

  @Test
  void oneLineNamesAllWithTheirSourceAndNeighbourAndWithoutTheirValues() {
    conf.set("fs.s3a.s3e.MEMORY.BUGET", "secret-1", "core-site.xml");
    conf.set("fs.s3a.bucket.logs.s3e.cache.dir", "secret-2");
    conf.set("fs.s3a.bucket.others.s3e.cache.dir", "x");
    assertThat(theOnlyWarning())
        .contains(
            "S3E of s3a://logs does not know, and ignores:"
                + " fs.s3a.bucket.logs.s3e.cache.dir (from programmatically):"
                + " did you mean fs.s3a.bucket.logs.s3e.cache.dirs?;"
                + " fs.s3a.s3e.MEMORY.BUGET (from core-site.xml):"
                + " did you mean fs.s3a.s3e.memory.budget?");
  }

  @Test
  void whatToDoInPlaceOfAKeyThatHasGoneIsTold() {
    conf.set("fs.s3a.s3e.cache.write.rate", "secret-1", "core-site.xml");
    conf.set("fs.s3a.bucket.logs.s3e.stall.timeout", "secret-2");
    assertThat(theOnlyWarning())
        .contains(
            "fs.s3a.bucket.logs.s3e.stall.timeout (from programmatically):"
                + " it has gone; set fs.s3a.connection.timeout, at least 15 s;"
                + " fs.s3a.s3e.cache.write.rate (from core-site.xml):"
                + " it has gone; there is no limit");
    assertThat(UnknownKeys.GONE.keySet())
        .hasSize(11)
        .doesNotContainAnyElementsOf(UnknownKeys.KNOWN);
  }

  @Test
  void keysThatOtherFileSystemsHaveToldAreNotToldAgain() {
    conf.set("fs.s3a.s3e.cache.mod", "x");
    assertThat(theOnlyWarning()).contains("cache.mod");
    try (CapturedLog log = new CapturedLog()) {
      UnknownKeys.tell("s3a://others", conf, "others");
      assertThat(log.lines("WARN")).isEmpty();
      conf.set("fs.s3a.bucket.others.s3e.clent", "x");
      UnknownKeys.tell("s3a://others", conf, "others");
      assertThat(log.lines("WARN")).hasSize(1).first().asString().contains("clent");
    }
  }

  /** The values of keys that have gone, beside those that apply. */
  @Test
  void whatIsToldOfAKeyThatHasGoneIsTrue() {
    FaultPolicy retries = FaultPolicy.from(S3EConfig.DEFAULTS.retryBase());
    assertThat(UnknownKeys.GONE)
        .containsEntry("retry.interval", "it is " + retries.base().toMillis() + " ms")
        .containsEntry("retry.interval.max", "it is " + retries.cap().toSeconds() + " s")
        .containsEntry("vectored.gap.max", "it is " + VectorPlanner.MAX_GAP_BYTES / 1024 + " KiB")
        .containsEntry(
            "cache.read.timeout",
            "it is " + DiskCacheConfig.DEFAULTS.readDeadline().toMillis() + " ms");
  }

  @Test
  void nothingIsSaidWithoutAny() {
    try (CapturedLog log = new CapturedLog()) {
      UnknownKeys.tell("s3a://logs", conf, null);
      assertThat(log.lines("WARN")).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "blocksize, block.size",
    "memory, memory.budget",
    "prefetch, prefetch.enabled",
    "enable, enabled",
    "cache.encrypted, cache.encryption",
    "read-timeout, read.timeout",
  })
  void theNearestIsTheOneThatWasMeant(String written, String meant) {
    assertThat(UnknownKeys.nearest(written)).isEqualTo(meant);
  }

  @ParameterizedTest
  @CsvSource({"kitten, sitting, 3", "'', abc, 3", "abc, '', 3", "same, same, 0", "ab, ba, 2"})
  void distancesAreLevenshteins(String one, String other, int expected) {
    assertThat(UnknownKeys.distance(one, other)).isEqualTo(expected);
  }
}
