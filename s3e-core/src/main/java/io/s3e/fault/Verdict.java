// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

import io.s3e.client.Remedy;

/** What follows a failed request. */
public sealed interface Verdict {
  /**
   * A request for the same bytes is sent again, after {@code remedy} and {@code pauseNanos} ns.
   *
   * @param isHalf whether for half as much: the answer broke off or did not come, and a shorter one
   *     may get through
   */
  record SendAgain(long pauseNanos, boolean isHalf, Remedy remedy) implements Verdict {}

  /** No request would bring the bytes: the failure is the reader's error. */
  record Fail() implements Verdict {}
}
