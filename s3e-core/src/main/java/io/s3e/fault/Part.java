// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

/** How much of what is missing the next request asks for. */
public enum Part {
  /** As much as the one that failed: it was refused as a whole. */
  WHOLE,
  /** Half as much: the answer broke off or did not come, and a shorter one may get through. */
  HALF
}
