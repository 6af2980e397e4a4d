// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.ByteRange;
import java.util.BitSet;
import java.util.List;

/**
 * What readers have learnt of the files in one place, for those of another JVM. Only guesses are
 * made of it, and they lie inside the object whatever it says.
 *
 * @param footerBytes of the end of a file that hold its footer; 0 if that is not known
 * @param files the latest that were read whole in one group, the latest last
 * @param scans which columns were read together, the latest last
 */
public record PlaceFacts(long footerBytes, List<FileShape> files, List<ColumnScan> scans) {
  /**
   * The data that one stream read of a file: ascending, disjoint ranges before {@code dataEnd},
   * where all data of the file ends.
   */
  public record FileShape(long objectSize, long dataEnd, List<ByteRange> ranges) {
    /** Where an offset lies in a file of that length. */
    long moved(long offset, long size) {
      long otherEnd = size - (objectSize - dataEnd);
      return Math.max(0, Math.round((double) offset / dataEnd * otherEnd));
    }
  }

  /** Columns by ordinal that one stream read of files with that schema; not to be changed. */
  public record ColumnScan(long schema, BitSet columns) {}
}
