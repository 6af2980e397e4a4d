// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

/** The word of a stream's opener about the order of its reads. A hint: it never changes bytes. */
public enum ReadPolicy {
  /** Unknown: watch the reads and decide. */
  ADAPTIVE,
  /** From some offset forward, perhaps not to the end. */
  SEQUENTIAL,
  /** The whole object from the first byte to the last. */
  WHOLE_FILE,
  /** Offsets in no order; fetch what is asked for and nothing else. */
  RANDOM
}
