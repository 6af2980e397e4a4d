// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.aws;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class AwsClientSettingsTest {
  private final AwsClientSettings.Builder builder = AwsClientSettings.builder();

  @Test
  void badValuesAreNamedWithWhatIsAccepted() {
    refused(() -> builder.endpoint(URI.create("ftp://x")), "endpoint", "ftp://x", "http://host");
    // It would go out in the clear, as part of the header Host.
    refused(() -> builder.endpoint(URI.create("http://me:secret@x")), "endpoint", "***@x", "http:");
    assertThatThrownBy(() -> builder.endpoint(URI.create("http://me:secret@x")))
        .message()
        .doesNotContain("secret");
    refused(() -> builder.endpoint(URI.create("store:9000")), "endpoint", "store:9000", "https://");
    refused(() -> builder.region(" "), "region", "' '", "eu-central-1");
    refused(() -> builder.targetGbps(0), "targetGbps", "'0.0'", "1000");
    refused(() -> builder.targetGbps(Double.NaN), "targetGbps", "NaN", "1000");
    refused(() -> builder.maxConnections(0), "maxConnections", "'0'", "1 to 4096");
    refused(() -> builder.connectTimeout(Duration.ZERO), "connectTimeout", "PT0S", "1 ms to 1 h");
    refused(() -> builder.requestTimeout(Duration.ofDays(1)), "requestTimeout", "PT24H", "1 h");
    refused(() -> builder.stallTimeout(Duration.ofMillis(-1)), "stallTimeout", "-", "1 ms");
    refused(() -> builder.userAgentSuffix("a\nb"), "userAgentSuffix", "a\nb", "ASCII");
    refused(() -> builder.header("", "x"), "header", "''", "name");
  }

  @Test
  void aStoreIsNamedByWhatReachesIt() {
    assertThat(storeName("https://Gateway.example:443/Tenant1/"))
        .isEqualTo("https://gateway.example:443/Tenant1")
        .isNotEqualTo(storeName("https://gateway.example:443/Tenant2"));
    assertThat(storeName("http://Store:9000/")).isEqualTo("http://store:9000");
    assertThat(storeName("https://me:s%40cret@Store:9000/a@b")).isEqualTo("https://store:9000/a@b");
    assertThat(AwsClients.storeName(Optional.empty(), "eu-west-1"))
        .isEqualTo("https://s3.eu-west-1.amazonaws.com");
  }

  private static String storeName(String endpoint) {
    return AwsClients.storeName(Optional.of(URI.create(endpoint)), null);
  }

  @Test
  void aBuilderStartsFromSettings() {
    AwsClientSettings settings =
        builder
            .endpoint(URI.create("https://store.example"))
            .region("eu-central-1")
            .pathStyle(true)
            .anonymous(true)
            .targetGbps(50)
            .maxConnections(128)
            .connectTimeout(Duration.ofSeconds(1))
            .requestTimeout(Duration.ofSeconds(2))
            .stallTimeout(Duration.ofSeconds(3))
            .caFile(Path.of("ca.pem"))
            .userAgentSuffix("app/1")
            .header("a", "b")
            .build();
    assertThat(settings.toBuilder().build()).usingRecursiveComparison().isEqualTo(settings);
    settings.toBuilder().header("c", "d").build();
    assertThat(settings.headers()).containsOnlyKeys("a");
  }

  private static void refused(ThrowingCallable setter, String key, String value, String accepted) {
    assertThatIllegalArgumentException()
        .isThrownBy(setter)
        .withMessageContaining(key)
        .withMessageContaining(value)
        .withMessageContaining(accepted);
  }
}
