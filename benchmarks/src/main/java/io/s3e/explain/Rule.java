// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import java.util.List;

/**
 * Looks for some kinds of findings. A rule finds nothing where the facts do not show it, and does
 * not care whether a finding is worth telling: {@link Explanation} leaves out what saves little.
 */
interface Rule {
  /** How long S3 takes to begin an answer, as docs/BENCHMARKS.md has it. */
  long ROUND_TRIP_MILLIS = 30;

  List<Finding> find(Facts facts);
}
