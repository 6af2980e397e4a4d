// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

/** Is told what became of guesses. Any thread. */
public interface GuessJudge {
  /** A guess is over, of which so many bytes were used and wasted. */
  void settle(GuessKind kind, long usedBytes, long wastedBytes);
}
