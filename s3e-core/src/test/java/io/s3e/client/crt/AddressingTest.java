// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.client.library.CrtSettings;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AddressingTest {

  @ParameterizedTest
  @CsvSource({
    ", us-east-1, false, data, https://data.s3.us-east-1.amazonaws.com, ''",
    ", eu-central-1, true, data, https://s3.eu-central-1.amazonaws.com, /data",
    ", eu-central-1, false, dotted.name, https://s3.eu-central-1.amazonaws.com, /dotted.name",
    ", cn-north-1, false, data, https://data.s3.cn-north-1.amazonaws.com.cn, ''",
    "http://127.0.0.1:9000, us-east-1, true, data, http://127.0.0.1:9000, /data",
    "http://127.0.0.1:9000, us-east-1, false, data, http://127.0.0.1:9000, /data",
    "https://store.example:8443, us-east-1, false, data, https://data.store.example:8443, ''",
    "https://store.example:8443, us-east-1, true, data, https://store.example:8443, /data",
    "http://store.example/base/, us-east-1, true, data, http://store.example, /base/data",
    "http://store.example, us-east-1, false, Under_Score, http://store.example, /Under_Score"
  })
  void findsTheHost(
      URI endpoint, String region, boolean pathStyle, String bucket, URI host, String prefix) {
    Addressing.Target target = addressing(endpoint, region, pathStyle).target(bucket);
    assertThat(target.endpoint()).isEqualTo(host);
    assertThat(target.host()).isEqualTo(host.getAuthority());
    assertThat(target.pathPrefix()).isEqualTo(prefix);
  }

  @ParameterizedTest
  @CsvSource({
    "https://store.example:443, store.example",
    "http://store.example:80, store.example",
    "HTTPS://store.example:80, store.example:80",
    "http://store.example:443, store.example:443",
    "http://store.example:8080, store.example:8080",
    "http://[::1]:80, [::1]"
  })
  void theSchemesOwnPortIsNotPartOfTheHost(URI endpoint, String host) {
    Addressing.Target target = addressing(endpoint, "us-east-1", true).target("data");
    assertThat(target.host()).isEqualTo(host);
    assertThat(target.endpoint().getPort()).isEqualTo(endpoint.getPort());
  }

  @Test
  void asksTheRulesOnceForEachBucket() {
    Addressing addressing = addressing(null, "us-east-1", false);
    assertThat(addressing.target("data")).isSameAs(addressing.target("data"));
  }

  @ParameterizedTest
  @CsvSource({
    "a/b.parquet, , /p/a/b.parquet",
    "a b+c, , /p/a%20b%2Bc",
    "a//b/../c/, , /p/a//b/../c/",
    "é~€, , /p/%C3%A9~%E2%82%AC",
    "k, v/1 +, /p/k?versionId=v%2F1%20%2B"
  })
  void encodesAsTheSignatureWants(String key, String versionId, String path) {
    Addressing.Target target =
        new Addressing.Target(URI.create("http://h"), "h", "/p", "us-east-1", false);
    assertThat(Addressing.path(target, new ObjectRef("b", key), versionId)).isEqualTo(path);
  }

  private static Addressing addressing(URI endpoint, String region, boolean pathStyle) {
    Duration second = Duration.ofSeconds(1);
    return new Addressing(
        new CrtSettings(
            endpoint, region, pathStyle, false, true, null, 10, 0, second, second, second,
            List.of(), "test", Map.of(), true));
  }
}
