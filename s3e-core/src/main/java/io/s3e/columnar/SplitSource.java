// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.ByteRange;
import org.jspecify.annotations.Nullable;

/**
 * Tells which bytes of a file the present reader is to read, where its opener did not. Asked once
 * by each stream, at its first read of columns, on the thread that reads.
 */
@FunctionalInterface
public interface SplitSource {
  /** Knows nothing. */
  SplitSource UNKNOWN = () -> null;

  /** The split; null if it is not known. Does not wait. */
  @Nullable ByteRange split();
}
