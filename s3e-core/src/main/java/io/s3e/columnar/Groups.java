// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.ByteRange;
import org.jspecify.annotations.Nullable;

/** Which groups of a file one stream is to read, as far as that is known. Not thread-safe. */
final class Groups {
  /** Null once it was asked. */
  private @Nullable SplitSource source;

  private @Nullable ByteRange split;

  Groups(SplitSource source) {
    this.source = source;
  }

  /** The reader is at {@code group}: asks for its split, once, and believes it if it fits. */
  void at(int group, FileLayout layout) {
    SplitSource asked = source;
    if (asked != null) {
      source = null;
      split = splitOf(asked);
    }
    if (split != null
        && (group < layout.firstGroupOf(split) || group >= layout.endGroupOf(split))) {
      split = null;
    }
  }

  /** Null too where the application's code fails: the reader reads on as if it were not known. */
  private static @Nullable ByteRange splitOf(SplitSource source) {
    try {
      return source.split();
    } catch (RuntimeException e) {
      return null;
    }
  }

  boolean isEndKnown() {
    return split != null;
  }

  /** The first group of the split; of the file, where no split is known. */
  int first(FileLayout layout) {
    return split == null ? 0 : layout.firstGroupOf(split);
  }

  /** The group after the last one of the split; of the file, where no split is known. */
  int end(FileLayout layout) {
    return split == null ? layout.groups : layout.endGroupOf(split);
  }
}
