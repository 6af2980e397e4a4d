// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.columnar.PlaceFacts.FileShape;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the readers of the files in one place found their column data, and so where the next one is
 * likely to: tables of many small files, of which each has one group, are written alike. The data
 * can then be asked for together with the footer that says where it is, by a stream that reads
 * both.
 *
 * <p>Places are taken in proportion to the lengths of the files without their footers, which are
 * about equally long. Each file that is read shows by how much its like was missed, and ranges are
 * guessed longer by twice that at each end. Nothing is guessed before two files in a row were
 * alike; nor where that would take more blocks than the ranges do, by a tenth or by one block,
 * whichever is more; nor more than {@value #MOST_BYTES} bytes, beside which a round trip is little.
 *
 * <p>Any thread; holds its lock for arithmetic alone.
 */
final class AlikeFiles {
  private static final long MOST_BYTES = 16 << 20;

  /** Readers of more columns that lie apart find nothing here. */
  private static final int MOST_RANGES = 16;

  /** Ranges that are guessed may take one part in so many more than they did before. */
  private static final int SPARE_PART = 10;

  /** Bounds that were missed by more than this share of the file are those of another table. */
  private static final double MOST_MISSED = 0.05;

  /** In place of a larger share. */
  private static final double UNLIKE = 1;

  /** The latest files, the last of them last; none since one showed nothing. */
  private List<FileShape> latest = List.of();

  private int seen;

  /** By what share of its length the last was missed; {@link #UNLIKE} unless two were alike. */
  private double missed = UNLIKE;

  /**
   * A stream has read a file: {@code shape} has no ranges if it read none, or those of more than
   * one group, or only a part.
   */
  synchronized void onRead(FileShape shape) {
    List<ByteRange> ranges = shape.ranges();
    boolean isShown =
        !ranges.isEmpty()
            && ranges.size() <= MOST_RANGES
            && ranges.stream().mapToLong(ByteRange::length).sum() <= MOST_BYTES;
    FileShape last = latest.isEmpty() ? null : latest.get(latest.size() - 1);
    double before = missed == UNLIKE ? 0 : missed;
    double now = isShown && last != null ? missedBy(last, shape) : UNLIKE;
    // Files differ more than two of them show.
    missed = Math.max(now, before / 2);
    latest = !isShown ? List.of() : last == null ? List.of(shape) : List.of(last, shape);
    seen++;
  }

  /** Whether it takes more files to tell anything of the next one. */
  synchronized boolean isNew() {
    return seen < 2;
  }

  synchronized List<FileShape> latest() {
    return latest;
  }

  private static double missedBy(FileShape guess, FileShape shape) {
    if (guess.ranges().size() != shape.ranges().size()) {
      return UNLIKE;
    }
    long most = 0;
    for (int i = 0; i < shape.ranges().size(); i++) {
      ByteRange from = guess.ranges().get(i);
      ByteRange to = shape.ranges().get(i);
      most = Math.max(most, Math.abs(guess.moved(from.start(), shape.objectSize()) - to.start()));
      most = Math.max(most, Math.abs(guess.moved(from.end(), shape.objectSize()) - to.end()));
    }
    double share = (double) most / shape.objectSize();
    return share <= MOST_MISSED ? share : UNLIKE;
  }

  /** The runs of blocks to ask for in a file whose footer is not known; none if in any doubt. */
  synchronized List<BlockRange> guess(BlockLayout blocks) {
    if (missed == UNLIKE) {
      return List.of();
    }
    FileShape shape = latest.get(latest.size() - 1);
    long size = blocks.objectSize();
    long spare = (long) (2 * missed * size);
    List<ByteRange> least = new ArrayList<>();
    List<ByteRange> ranges = new ArrayList<>();
    for (ByteRange range : shape.ranges()) {
      long start = shape.moved(range.start(), size);
      long end = Math.min(size, shape.moved(range.end(), size));
      if (start < end) {
        least.add(new ByteRange(start, end));
        ranges.add(new ByteRange(Math.max(0, start - spare), Math.min(size, end + spare)));
      }
    }
    List<BlockRange> runs = Filters.runsOver(ranges, blocks);
    long most = BlockRange.count(Filters.runsOver(least, blocks));
    most += Math.max(1, most / SPARE_PART);
    boolean isCheap = BlockRange.count(runs) <= Math.min(most, MOST_BYTES / blocks.blockSize());
    return isCheap ? runs : List.of();
  }
}
