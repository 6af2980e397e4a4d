package io.s3e.hadoop.conf;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.CapturedLog;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UnknownKeysTest {
  private final Configuration conf = new Configuration(false);

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
    try (CapturedLog log = new CapturedLog()) {
      UnknownKeys.tell("s3a://logs", conf, "logs");
      assertThat(log.lines("secret")).isEmpty();
      assertThat(log.lines("WARN"))
          .hasSize(1)
          .first()
          .asString()
          .contains(
              "S3E of s3a://logs does not know, and ignores:"
                  + " fs.s3a.bucket.logs.s3e.cache.dir (from programmatically):"
                  + " did you mean fs.s3a.bucket.logs.s3e.cache.dirs?;"
                  + " fs.s3a.s3e.MEMORY.BUGET (from core-site.xml):"
                  + " did you mean fs.s3a.s3e.memory.budget?");
    }
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
    "client.thread, client.threads",
    "cache.encrypted, cache.encryption",
    "stall-timeout, stall.timeout",
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
