// SPDX-License-Identifier: Apache-2.0
package io.s3e.block;

import java.util.Objects;

/**
 * The grid that an object is cut into: blocks 0, 1, … of {@code blockSize} bytes, the last one
 * possibly shorter. All arithmetic between offsets and blocks is here.
 *
 * @param objectSize length of the object in bytes, 0 or more
 * @param blockSize size of a block in bytes, a power of two from 1 (tests) to 64 MiB
 */
public record BlockLayout(long objectSize, int blockSize) {
  public static final int MAX_BLOCK_BYTES = 64 << 20;

  public BlockLayout {
    if (objectSize < 0) {
      throw new IllegalArgumentException("object size " + objectSize + " is negative");
    }
    if (blockSize < 1 || blockSize > MAX_BLOCK_BYTES || Integer.bitCount(blockSize) != 1) {
      throw new IllegalArgumentException(
          "block size " + blockSize + " is not a power of two from 1 to " + MAX_BLOCK_BYTES);
    }
  }

  /** Number of blocks; 0 for an empty object. */
  public long blocks() {
    return blocksOver(objectSize);
  }

  /** The block that holds the byte at {@code offset}, which must be inside the object. */
  public long blockAt(long offset) {
    return Objects.checkIndex(offset, objectSize) >> shift();
  }

  public long startOf(long block) {
    return block << shift();
  }

  public long endOf(long block) {
    // The end of the grid may be beyond the longest long.
    return objectSize - startOf(block) <= blockSize ? objectSize : startOf(block) + blockSize;
  }

  public int lengthOf(long block) {
    return (int) (endOf(block) - startOf(block));
  }

  public ByteRange bytesOf(BlockRange run) {
    long start = startOf(run.first());
    return new ByteRange(start, run.isEmpty() ? start : endOf(run.end() - 1));
  }

  /** The blocks with any byte of {@code [start, end)}, clipped to the object; may be empty. */
  public BlockRange covering(long start, long end) {
    long from = Math.max(0, start);
    long to = Math.min(objectSize, end);
    if (from >= to) {
      long at = Math.min(blocks(), from >> shift());
      return new BlockRange(at, at);
    }
    return new BlockRange(from >> shift(), ((to - 1) >> shift()) + 1);
  }

  /** How many blocks {@code bytes} bytes fill, the last one possibly in part. */
  public long blocksOver(long bytes) {
    return bytes <= 0 ? 0 : ((bytes - 1) >> shift()) + 1;
  }

  private int shift() {
    return Integer.numberOfTrailingZeros(blockSize);
  }
}
