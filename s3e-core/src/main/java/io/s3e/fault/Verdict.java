// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

import io.s3e.client.Remedy;

/** What follows a failed request. */
public sealed interface Verdict {

  /**
   * A request for the same bytes is sent again.
   *
   * @param pauseNanos time to wait before, in ns; 0 or more
   * @param part how much of what is missing it asks for
   * @param remedy brought about before the pause begins
   */
  record SendAgain(long pauseNanos, Part part, Remedy remedy) implements Verdict {}

  /** No request would bring the bytes: the failure is the reader's error. */
  record Fail() implements Verdict {}
}
