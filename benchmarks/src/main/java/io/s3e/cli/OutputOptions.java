// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The output of a command: how much, and in which form. */
final class OutputOptions {
  @Option(names = "--json", description = "One JSON document on standard output as the result.")
  private boolean json;

  @Option(
      names = "--progress",
      negatable = true,
      description =
          "Progress bar on standard error, or none. Default: a bar if that is a terminal.")
  private @Nullable Boolean progress;

  @Option(names = "--verbose", description = "Stack traces of failures, and the libraries' log.")
  private boolean verbose;

  boolean json() {
    return json;
  }

  boolean verbose() {
    return verbose;
  }

  boolean progress(boolean isTerminal) {
    return progress == null ? isTerminal : progress;
  }
}
