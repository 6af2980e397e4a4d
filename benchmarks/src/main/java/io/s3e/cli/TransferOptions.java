// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import picocli.CommandLine.Option;

/** How much is done at once. */
abstract class TransferOptions {
  private static final int MAX_PARALLEL = 256;

  @Option(
      names = "--parallel",
      paramLabel = "N",
      description = "Requests in flight, 1 to 256; default 16.")
  private int parallel = 16;

  /**
   * @throws IllegalArgumentException if it is out of range
   */
  final int parallel() {
    if (parallel < 1 || parallel > MAX_PARALLEL) {
      throw new IllegalArgumentException(
          "--parallel is " + parallel + "; accepted is 1 to " + MAX_PARALLEL);
    }
    return parallel;
  }
}
