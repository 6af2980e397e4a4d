// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

/** The reason why a run is fetched: what it may take for that, and how its end counts. */
public enum Purpose {
  /** A reader waits for the bytes. */
  DEMAND,
  /** A reader has asked for the bytes and waits for others first: they may take what is spare. */
  ASKED,
  /**
   * A reader waits for the bytes, and the GET that is to bring them is late: they may take what is
   * spare, and the place that the late one has left.
   */
  HEDGE,
  /** Nobody has asked yet: the bytes are a guess at what will be read. Counted as prefetch. */
  GUESS
}
