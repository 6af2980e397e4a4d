// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.prefetch.RequestSizing;

/**
 * How blocks that somebody waits for are cut into GETs: several at once bring them sooner than a
 * long one, and each costs as much as any other. A range of at most {@value #UNCUT_BYTES} bytes is
 * not cut. Pieces are of the same length, but for a block.
 *
 * @param most how many pieces at most
 * @param leastBytes shortest piece, in bytes, where there are more than {@value #FEW}
 * @param leastOfFewBytes shortest piece of those few
 */
record Pieces(int most, long leastBytes, long leastOfFewBytes) {
  /** Half of so little would come hardly sooner than all of it. */
  private static final long UNCUT_BYTES = 5 << 18;

  private static final int FEW = 4;

  private static final long LEAST_BYTES = 1 << 20;

  /** Shorter ones cost more in requests than they save in time: 512 KiB take 9 ms at 60 MB/s. */
  private static final long LEAST_OF_FEW_BYTES = 512 << 10;

  /** One read, positioned or not. */
  static final Pieces OF_READ = new Pieces(8, LEAST_BYTES, LEAST_OF_FEW_BYTES);

  /**
   * GETs that one vectored read is cut into: pieces of about the same length, whatever the ranges,
   * since the read is over when the longest is there.
   */
  private static final int VECTORED_PARALLEL = 16;

  /** Each range of a vectored read of {@code bytes} bytes in all. */
  static Pieces ofVectored(long bytes) {
    long least = Math.max(RequestSizing.LEAST_OF_DATA_BYTES, bytes / VECTORED_PARALLEL);
    return new Pieces(VECTORED_PARALLEL, least, least);
  }

  int count(BlockRange wanted, BlockLayout layout) {
    if (wanted.count() <= layout.blocksOver(UNCUT_BYTES)) {
      return 1;
    }
    long bytes = wanted.count() * layout.blockSize();
    long pieces = Math.max(Math.min(FEW, bytes / leastOfFewBytes), bytes / leastBytes);
    return (int) Math.max(1, Math.min(most, pieces));
  }

  /** The {@code i}th of {@code count} pieces of {@code wanted}, from 0. */
  static BlockRange piece(BlockRange wanted, int i, int count) {
    return new BlockRange(
        wanted.first() + i * wanted.count() / count,
        wanted.first() + (i + 1) * wanted.count() / count);
  }
}
