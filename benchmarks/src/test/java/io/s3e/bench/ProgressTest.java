// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What stands on standard error where somebody watches, and in a log. */
class ProgressTest {
  private static final String TERMINAL = "s3e.terminal";

  @AfterEach
  void forget() {
    System.clearProperty(TERMINAL);
  }

  /** By the launcher, which knows. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void benchShowsItsBarsInPlaceWhereItsLauncherSeesATerminal(boolean isTerminal) {
    System.setProperty(TERMINAL, Boolean.toString(isTerminal));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream before = System.err;
    System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try (Progress.Bar bar =
        CommandLine.populateCommand(new BenchCommand()).progress().bytes("upload", 4L << 20)) {
      bar.at(4L << 20);
    } finally {
      System.setErr(before);
    }
    String shown = bytes.toString(StandardCharsets.UTF_8);
    assertThat(shown).contains("upload", "100%");
    assertThat(shown.contains("\r")).as("%s", shown).isEqualTo(isTerminal);
  }
}
