// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.raw;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RawCeilingTest {

  @ParameterizedTest
  @EnumSource
  void isFoundByItsName(RawClientKind client) {
    RawCeiling ceiling = new RawCeiling(client, 16);

    assertThat(RawCeiling.parse(ceiling.name())).contains(ceiling);
  }

  @Test
  void aClientsNameMayHoldADash() {
    assertThat(RawCeiling.parse("raw-crt-bytes-32"))
        .contains(new RawCeiling(RawClientKind.CRT_BYTES, 32));
  }

  @ParameterizedTest
  @ValueSource(strings = {"raw", "raw-crt", "raw-crt-0", "raw-16", "raw-nobody-16", "crt-16"})
  void otherNamesAreNone(String name) {
    assertThat(RawCeiling.parse(name)).isEmpty();
  }
}
