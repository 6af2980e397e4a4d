// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.cost;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sizes as Spark takes them. */
class SizesTest {
  @ParameterizedTest
  @CsvSource({
    "4096, 4096",
    "134217728b, 134217728",
    "2k, 2048",
    "128m, 134217728",
    "128MB, 134217728",
    "1g, 1073741824",
    "1GiB, 1073741824"
  })
  void ofSettings(String text, long bytes) {
    assertThat(Sizes.parse(text)).isEqualTo(bytes);
  }

  @Test
  void forPeople() {
    assertThat(Sizes.bytes(1023)).isEqualTo("1023 B");
    assertThat(Sizes.bytes(128L << 20)).isEqualTo("128.0 MiB");
    assertThat(Sizes.percent(1, 3)).isEqualTo("33 %");
    assertThat(Sizes.percent(1, 0)).isEqualTo("0.0 %");
  }
}
