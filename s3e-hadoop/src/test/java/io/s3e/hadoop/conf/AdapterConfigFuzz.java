// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.hadoop.conf.Configuration;

/**
 * Lines of a number and a value: the value of the key with that number. Settings are read, or
 * refused by an error that names one of these keys.
 */
public final class AdapterConfigFuzz {
  private static final List<String> KEYS =
      S3EKeys.ALL.stream().map(ConfigKey::name).sorted().toList();

  private AdapterConfigFuzz() {}

  public static void fuzzerTestOneInput(byte[] input) {
    Configuration conf = new Configuration(false);
    for (String line : new String(input, StandardCharsets.UTF_8).split("\n")) {
      if (!line.isEmpty()) {
        conf.set(KEYS.get(line.charAt(0) % KEYS.size()), line.substring(1));
      }
    }
    try {
      AdapterConfig config = AdapterConfig.read(conf, "bucket");
      assertThat(config.engine().requestBytes())
          .isGreaterThanOrEqualTo(config.engine().blockBytes());
    } catch (IllegalArgumentException e) {
      assertThat(KEYS).anyMatch(key -> String.valueOf(e.getMessage()).contains(key));
    }
  }
}
