// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

/** What an ask is a part of. */
enum ReadStep {
  /** Reads from a moving position: each begins where the last one ended, or after a jump. */
  MOVE,
  POSITIONED,
  /** A vectored read, of which the planner hears as a whole. */
  VECTORED
}
