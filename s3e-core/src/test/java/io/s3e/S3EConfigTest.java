// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.s3e.fault.FaultPolicy;
import java.time.Duration;
import java.util.Map;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class S3EConfigTest {
  private static final Duration YEAR = Duration.ofDays(365);

  /** The times, by what errors call them. */
  private static final Map<String, BiFunction<S3EConfig.Builder, Duration, S3EConfig.Builder>>
      TIMES =
          Map.of(
              "first retry pause", S3EConfig.Builder::retryBase,
              "stall timeout", S3EConfig.Builder::stallTimeout,
              "read timeout", S3EConfig.Builder::readTimeout,
              "age of a proof of access", S3EConfig.Builder::accessMaxAge);

  private static S3EConfig with(
      BiFunction<S3EConfig.Builder, Duration, S3EConfig.Builder> set, Duration value) {
    return set.apply(S3EConfig.DEFAULTS.toBuilder(), value).build();
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT-1S", "PT8760H0.000000001S", "P109500D", "PT2562047788015215H"})
  void aTimeOutOfRangeIsNamedWithWhatIsAccepted(Duration value) {
    TIMES.forEach(
        (name, set) ->
            assertThatIllegalArgumentException()
                .isThrownBy(() -> with(set, value))
                .withMessageStartingWith(name + " " + value + ": expected ")
                .withMessageEndingWith("0 to " + YEAR));
  }

  @Test
  void aYearIsAcceptedAndNothingOfItOverflows() {
    TIMES.values().forEach(set -> assertThat(with(set, YEAR)).isNotEqualTo(S3EConfig.DEFAULTS));
    assertThat(FaultPolicy.from(YEAR).cap().toNanos()).isPositive();
  }

  @Test
  void onlyTimeoutsMustBeMoreThanZero() {
    assertThat(with(S3EConfig.Builder::retryBase, Duration.ZERO).retryBase()).isZero();
    assertThat(with(S3EConfig.Builder::accessMaxAge, Duration.ZERO).accessMaxAge()).isZero();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> with(S3EConfig.Builder::readTimeout, Duration.ZERO))
        .withMessage("read timeout PT0S: expected more than 0 to " + YEAR);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> with(S3EConfig.Builder::stallTimeout, Duration.ZERO))
        .withMessage("stall timeout PT0S: expected more than 0 to " + YEAR);
  }
}
