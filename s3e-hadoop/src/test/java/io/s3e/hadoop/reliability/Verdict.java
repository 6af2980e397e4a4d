// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

/** How a job ended. */
enum Verdict {
  /** All bytes are those that were asked for. */
  RIGHT,
  /** An exception, and no byte that is wrong. */
  CLEAR_ERROR,
  /** Bytes that are not the object's, or an end where the object has none. */
  WRONG_BYTES,
  /** No end within the limit. */
  HANG,
  /** The stream does not have this kind of read. */
  UNSUPPORTED
}
