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
    source = null;
    try {
      split = asked == null ? split : asked.split();
    } catch (RuntimeException e) {
      // The application's code: the reader reads on as if its split were not known.
    }
    if (group < first(layout) || group >= end(layout)) {
      split = null;
    }
  }

  boolean isEndKnown() {
    return split != null;
  }

  /** The first group of the split; of the file, where no split is known. */
  int first(FileLayout layout) {
    return split == null ? 0 : layout.groupFrom(split.start());
  }

  /** The group after the last one of the split; of the file, where no split is known. */
  int end(FileLayout layout) {
    return split == null ? layout.groups : layout.groupFrom(split.end());
  }
}
