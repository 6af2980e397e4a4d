// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.S3EConfig;
import io.s3e.client.aws.AwsClientSettings;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What S3E takes over from settings for S3A. */
class S3ADefaultTest {
  private static final String ESTABLISH = "fs.s3a.connection.establish.timeout";
  private static final String SOCKET = "fs.s3a.connection.timeout";
  private static final String REQUEST = "fs.s3a.connection.request.timeout";
  private static final String CONNECTIONS = "fs.s3a.connection.maximum";

  private final Configuration conf = new Configuration();

  private AdapterConfig read() {
    return AdapterConfig.read(S3AUtils.propagateBucketOptions(conf, "logs"), "logs");
  }

  private void assertDefaults() {
    AdapterConfig config = read();
    assertThat(config.connectTimeout()).isEqualTo(Duration.ofSeconds(5));
    assertThat(config.maxConnections()).isEqualTo(OptionalInt.empty());
    assertThat(config.engine()).isEqualTo(S3EConfig.DEFAULTS);
  }

  @Test
  void whatHadoopCannotReadIsNamed() {
    for (String key : List.of(CONNECTIONS, SOCKET, "fs.s3a.retry.limit", "fs.s3a.retry.interval")) {
      conf.set(key, "many");
      assertThatThrownBy(this::read)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(key + " = \"many\": expected a ");
      conf.unset(key);
    }
  }

  @Test
  void hadoopsDefaultsAreNobodysWish() {
    assertDefaults();
  }

  /** As distributions do, and programs that copy a configuration value by value. */
  @Test
  void hadoopsDefaultsWrittenOutAreNobodysWish() {
    conf.set(ESTABLISH, "30000");
    conf.set(SOCKET, "200s");
    conf.set(REQUEST, "1m");
    conf.set(CONNECTIONS, "500");
    assertDefaults();
    conf.set(REQUEST, "0");
    assertDefaults();
  }

  @ParameterizedTest
  @CsvSource({
    "45000, 45s",
    "45s, 45s",
    "45000ms, 45s",
    "2m, 120s",
    "1d, 600s",
    "20ms, 15s",
    "0, 15s"
  })
  void theWaitForAConnectionIsS3As(String value, String expected) {
    conf.set(ESTABLISH, value);
    assertThat(read().connectTimeout()).isEqualTo(ConfigValues.duration(expected));
  }

  @ParameterizedTest
  @CsvSource({
    "60s, 60s, 8m",
    "1000, 15s, 8m",
    "0, 15s, 8m",
    // A GET is sent again before its read ends.
    "10m, 10m, 20m",
    "3h, 1h, 6h",
    "30d, 1h, 24h",
  })
  void aGetMayBeSilentAsLongAsS3AsSocket(String value, String stall, String read) {
    conf.set(SOCKET, value);
    assertThat(read().engine().stallTimeout()).isEqualTo(ConfigValues.duration(stall));
    assertThat(read().engine().readTimeout()).isEqualTo(ConfigValues.duration(read));
  }

  @ParameterizedTest
  @CsvSource({"10s, 8m", "0, 8m", "20m, 20m", "2000000, 2000s", "30d, 24h"})
  void aRequestsTimeoutMakesReadsLongerAndNeverShorter(String value, String expected) {
    conf.set(REQUEST, value);
    assertThat(read().engine().readTimeout()).isEqualTo(ConfigValues.duration(expected));
    assertThat(read().engine().stallTimeout()).isEqualTo(S3EConfig.DEFAULTS.stallTimeout());
    assertThat(read().reach().build().stallTimeout())
        .as("as long as the engine waits for a GET that it sends again and again")
        .isEqualTo(S3EConfig.DEFAULTS.stallTimeout().multipliedBy(16));
  }

  @ParameterizedTest
  @CsvSource({
    // 10 s is the silence of an attempt, which all of these have.
    "0, 500ms, 0, 500ms, 0, 10s",
    "3, 1s, 0, 500ms, 0, 47s",
    "0, 500ms, 5, 2s, 0, 72s",
    "1, 100, 2, 200, 2, 60700ms",
    "0, 1, 0, 1, 1, 20s",
    "7, 500ms, 20, 500ms, 5, 8m",
    "2000, 1h, 2000, 1h, 2000, 8m",
    "-1, -1, -1, -1, -1, 10s",
  })
  void aReadHasThePatienceOfS3AsRetries(
      String limit,
      String interval,
      String throttles,
      String throttleInterval,
      String attempts,
      String expected) {
    conf.set("fs.s3a.retry.limit", limit);
    conf.set("fs.s3a.bucket.logs.retry.interval", interval);
    conf.set("fs.s3a.retry.throttle.limit", throttles);
    conf.set("fs.s3a.retry.throttle.interval", throttleInterval);
    conf.set("fs.s3a.attempts.maximum", attempts);
    assertThat(read().engine().readTimeout()).isEqualTo(ConfigValues.duration(expected));
  }

  @Test
  void thePatienceCountsTheSilenceThatIsConfigured() {
    conf.set("fs.s3a.retry.limit", "1");
    conf.set("fs.s3a.retry.interval", "0");
    conf.set("fs.s3a.retry.throttle.limit", "0");
    conf.set("fs.s3a.attempts.maximum", "2");
    conf.set("fs.s3a.bucket.logs.connection.timeout", "20s");
    assertThat(read().engine().readTimeout()).isEqualTo(Duration.ofSeconds(120));
  }

  @Test
  void theLimitOfConnectionsOnlyLowers() {
    conf.set(CONNECTIONS, "20");
    assertThat(read().maxConnections()).hasValue(20);
    conf.set(CONNECTIONS, "1000");
    assertThat(read().maxConnections()).isEmpty();
    assertThat(AwsClientSettings.builder().build().maxConnections())
        .isEqualTo(S3ADefault.CLIENT_CONNECTIONS);
  }

  @Test
  void oneBucketsValuesAreItsOwn() {
    conf.set("fs.s3a.bucket.logs.connection.timeout", "50s");
    conf.set("fs.s3a.bucket.others.connection.timeout", "70s");
    assertThat(read().engine().stallTimeout()).isEqualTo(Duration.ofSeconds(50));
  }

  @Test
  void s3esOwnKeyWins() {
    conf.set(SOCKET, "40m");
    conf.set(REQUEST, "40m");
    conf.set("fs.s3a.bucket.logs.s3e.read.timeout", "5s");
    assertThat(read().engine().readTimeout()).isEqualTo(Duration.ofSeconds(5));
  }
}
