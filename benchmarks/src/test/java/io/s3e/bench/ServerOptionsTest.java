// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class ServerOptionsTest {

  private static ServerSettings parse(String... arguments) {
    return CommandLine.populateCommand(new ServerOptions(), arguments).settings();
  }

  @Test
  void everyOptionIsTold() {
    assertThat(parse().description())
        .isEqualTo("plain HTTP, 30 ms to the first byte, 60 MB/s a connection");
    assertThat(
            parse(
                    "--tls",
                    "--ttfb=12.5",
                    "--jitter=2",
                    "--tail=0.015x10",
                    "--bandwidth=0",
                    "--total-bandwidth=100")
                .description())
        .isEqualTo(
            "TLS, 12.5 ± 2 ms to the first byte (1.5 % of them x 10),"
                + " unlimited bandwidth a connection, 100 MB/s in total");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--ttfb=-1 | --ttfb must be between 0 and 60000 ms and is -1",
        "--ttfb=NaN | --ttfb must be between 0 and 60000 ms and is NaN",
        "--jitter=31 | --jitter must be between 0 and --ttfb, 30 ms, and is 31",
        "--jitter=-1 | --jitter must be between 0 and --ttfb, 30 ms, and is -1",
        "--tail=2x3 | --tail must be a share from 0 to 1, an x and a factor from 1 to 1000,"
            + " like 0.01x10, and is 2x3",
        "--tail=0.1x0.5 | --tail must be a share from 0 to 1, an x and a factor from 1 to 1000,"
            + " like 0.01x10, and is 0.1x0.5",
        "--tail=often | --tail must be a share from 0 to 1, an x and a factor from 1 to 1000,"
            + " like 0.01x10, and is often",
        "--bandwidth=-1 | --bandwidth must be between 0 and 1000000 MB/s and is -1",
        "--total-bandwidth=2e6 | --total-bandwidth must be between 0 and 1000000 MB/s and is"
            + " 2000000",
      })
  void optionsThatMakeNoSenseAreNamedWithValueAndRange(String argument, String message) {
    assertThatThrownBy(() -> parse(argument))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }
}
