// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.S3EConfig;
import io.s3e.columnar.ColumnarMode;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdapterConfigTest {
  private final Configuration conf = new Configuration(false);

  private AdapterConfig read() {
    return AdapterConfig.read(conf, "logs");
  }

  @Test
  void defaultsAreTheCores() {
    AdapterConfig config = read();
    assertThat(config.enabled()).isTrue();
    assertThat(config.client()).isEqualTo(ClientChoice.AUTO);
    assertThat(config.engine()).isEqualTo(S3EConfig.DEFAULTS);
  }

  /**
   * Each key is one more thing to know; one that comes takes the place of another. Twenty, three of
   * a job's history (ADR 48), and the secret of the cache.
   */
  @Test
  void thereAreAtMostTwentyFourKeys() {
    assertThat(UnknownKeys.KNOWN).doesNotHaveDuplicates().hasSizeLessThanOrEqualTo(24);
  }

  @ParameterizedTest
  @CsvSource({
    "'', RECENT,",
    "Recent, RECENT,",
    "OFF, OFF,",
    "Spans, SPANS,",
    "/var/log/s3e, ALL, /var/log/s3e",
  })
  void whatIsKeptOfGetsIsOneWordOrTheDirectoryOfAll(
      String value, ExplainSetting.Level level, Path directory) {
    conf.set("fs.s3a.s3e.explain", value);
    assertThat(read().explain()).isEqualTo(new ExplainSetting(level, directory));
  }

  @Test
  void allGoToTheJvmsTemporaryDirectoryWithoutAnother() {
    conf.set("fs.s3a.s3e.explain", "all");
    Path directory = read().explain().directory();
    assertThat(directory).isAbsolute().isEqualTo(Path.of(System.getProperty("java.io.tmpdir")));
  }

  @Test
  void readsHadoopsSuffixes() {
    conf.set("fs.s3a.s3e.block.size", "1M");
    conf.set("fs.s3a.s3e.request.size", " 16m ");
    conf.set("fs.s3a.s3e.memory.budget", "1g");
    conf.set("fs.s3a.s3e.read.timeout", "10m");
    conf.set("fs.s3a.s3e.access.age.max", "0");
    conf.set("fs.s3a.s3e.client", "S3a");
    AdapterConfig config = read();
    assertThat(config.engine().blockBytes()).isEqualTo(1 << 20);
    assertThat(config.engine().requestBytes()).isEqualTo(16 << 20);
    assertThat(config.engine().memoryBytes()).isEqualTo(1L << 30);
    assertThat(config.engine().readTimeout()).isEqualTo(Duration.ofMinutes(10));
    assertThat(config.engine().accessMaxAge()).isEqualTo(Duration.ZERO);
    assertThat(config.client()).isEqualTo(ClientChoice.S3A);
  }

  @ParameterizedTest
  @CsvSource({
    "enabled, yes, true or false",
    "client, netty, 'one of auto, crt, s3a'",
    "client, sdk-sync, 'one of auto, crt, s3a (sdk-sync and sdk-async are gone: s3a reads by S3A'",
    "block.size, 7M, 'a size from 64K to 64M (bytes, or with K, M, G, T), a power of two'",
    "block.size, 32K, 'a size from 64K to 64M (bytes, or with K, M, G, T), a power of two'",
    "block.size, big, 'a size from 64K to 64M (bytes, or with K, M, G, T), a power of two'",
    "request.size, 2G, 'a size from 64K to 1G (bytes, or with K, M, G, T)'",
    "memory.budget, -1, 'a size from 0 to 1T (bytes, or with K, M, G, T)'",
    "prefetch.enabled, 1, true or false",
    "columnar, on, 'one of auto, observe, off'",
    "read.timeout, 10 parsecs, 'a duration from 1s to 24h (with ms, s, m, h)'",
    "read.timeout, 1ms, 'a duration from 1s to 24h (with ms, s, m, h)'",
    "access.age.max, 2h, 'a duration from 0s to 1h (with ms, s, m, h)'",
    "throughput.target.gbps, 0, auto or a number from 0.1 to 1000",
    "explain, some, 'off, recent, all, spans or an absolute path'",
    "explain, ./lines, 'off, recent, all, spans or an absolute path'",
    "cache.mode, ram, 'one of memory, disk, hybrid'",
    "cache.scope, all, 'one of private, app, host'",
    "cache.dirs, 'cache,/ok', 'absolute paths, separated by commas'",
    "cache.dirs, file:relative, 'absolute paths, separated by commas'",
    "cache.capacity, -1, 'a size from 0 to 1024T (bytes, or with K, M, G, T)'",
    "cache.hybrid.size, some, 'a size from 0 to 1024T (bytes, or with K, M, G, T)'",
    "cache.encryption, aes, true or false",
  })
  void aBadValueNamesKeyValueBucketAndWhatIsAccepted(String key, String value, String accepted) {
    conf.set("fs.s3a.s3e." + key, value);
    assertThatThrownBy(this::read)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("fs.s3a.s3e." + key)
        .hasMessageContaining("\"" + value + "\"")
        .hasMessageContaining("bucket logs")
        .hasMessageContaining("expected " + accepted);
  }

  @ParameterizedTest
  @CsvSource({"block.size,7M", "cache.dirs,file:relative", "client,none"})
  void theWayOutDoesNotDependOnABadValue(String key, String value) {
    conf.set("fs.s3a.s3e." + key, value);
    conf.set("fs.s3a.s3e.enabled", "false");
    assertThat(read().enabled()).isFalse();
    conf.set("fs.s3a.s3e.enabled", "true");
    assertThatThrownBy(this::read).hasMessageContaining("fs.s3a.s3e." + key);
  }

  @Test
  void aBadValueOfOneBucketIsNamedAsItWasWritten() {
    conf.set("fs.s3a.bucket.logs.s3e.block.size", "7M");
    Configuration propagated = S3AUtils.propagateBucketOptions(conf, "logs");
    assertThatThrownBy(() -> AdapterConfig.read(propagated, "logs"))
        .hasMessageContaining("fs.s3a.bucket.logs.s3e.block.size = \"7M\"");
    assertThat(AdapterConfig.read(S3AUtils.propagateBucketOptions(conf, "others"), "others"))
        .isNotNull();
  }

  @Test
  void oneBucketMayOnlyBeObserved() {
    conf.set("fs.s3a.s3e.columnar", "off");
    conf.set("fs.s3a.bucket.logs.s3e.columnar", "Observe");
    Configuration logs = S3AUtils.propagateBucketOptions(conf, "logs");
    Configuration others = S3AUtils.propagateBucketOptions(conf, "others");
    assertThat(AdapterConfig.read(logs, "logs").engine().columnar())
        .isEqualTo(ColumnarMode.OBSERVE);
    assertThat(AdapterConfig.read(others, "others").engine().columnar())
        .isEqualTo(ColumnarMode.OFF);
  }

  @Test
  void contradictionsNameBothKeys() {
    conf.set("fs.s3a.s3e.block.size", "4M");
    conf.set("fs.s3a.s3e.request.size", "1M");
    assertThatThrownBy(this::read)
        .hasMessageContaining("fs.s3a.s3e.request.size = \"1M\"")
        .hasMessageContaining("fs.s3a.s3e.block.size (4M)");
    conf.set("fs.s3a.s3e.request.size", "8M");
    conf.set("fs.s3a.s3e.memory.budget", "4M");
    assertThatThrownBy(this::read)
        .hasMessageContaining("fs.s3a.s3e.memory.budget = \"4M\"")
        .hasMessageContaining("fs.s3a.s3e.block.size (4M)");
    conf.unset("fs.s3a.s3e.memory.budget");
    conf.set("fs.s3a.s3e.prefetch.window.max", "1M");
    assertThatThrownBy(this::read)
        .hasMessageContaining("fs.s3a.s3e.prefetch.window.max = \"1M\"")
        .hasMessageContaining("0 or at least fs.s3a.s3e.block.size (4M)");
  }
}
