// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import io.s3e.hadoop.cost.ReadAdvice;
import java.util.List;

/**
 * Looks for some kinds of findings. A rule finds nothing where the facts do not show it, and does
 * not care whether a finding is worth telling: {@link Explanation} leaves out what saves little.
 */
interface Rule {
  long ROUND_TRIP_MILLIS = ReadAdvice.ROUND_TRIP_MILLIS;

  List<Finding> find(Facts facts);
}
