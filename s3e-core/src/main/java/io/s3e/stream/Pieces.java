package io.s3e.stream;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;

/**
 * How blocks that somebody waits for are cut into GETs: several at once bring them sooner than a
 * long one, and each costs as much as any other. A range of at most {@value #UNCUT_BYTES} bytes is
 * not cut. Pieces are of the same length, but for a block.
 *
 * @param most how many pieces at most
 * @param leastBytes shortest piece, in bytes
 */
record Pieces(int most, long leastBytes) {
  /** Half of so little would come hardly sooner than all of it. */
  static final long UNCUT_BYTES = 1 << 20;

  /** Shorter ones cost more in requests than they save in time: 512 KiB take 9 ms at 60 MB/s. */
  private static final long LEAST_BYTES = 512 << 10;

  /** One read, positioned or not. */
  static final Pieces OF_READ = new Pieces(8, LEAST_BYTES);

  /** GETs that one vectored read sends at once by cutting; more ranges than that are not cut. */
  private static final int VECTORED_PARALLEL = 16;

  /** Columns are read in bulk, so that the requests are what counts: at most 1,000 GETs a GB. */
  private static final long VECTORED_LEAST_BYTES = 1 << 20;

  /** Each of so many groups of ranges that are read at once. */
  static Pieces ofGroups(int groups) {
    int share = (VECTORED_PARALLEL + groups - 1) / Math.max(1, groups);
    return new Pieces(Math.min(OF_READ.most, Math.max(1, share)), VECTORED_LEAST_BYTES);
  }

  /** Number of pieces of {@code wanted}. */
  int count(BlockRange wanted, BlockLayout layout) {
    if (wanted.count() <= layout.blocksOver(UNCUT_BYTES)) {
      return 1;
    }
    return (int) Math.max(1, Math.min(most, wanted.count() * layout.blockSize() / leastBytes));
  }

  /** The {@code i}th of {@code count} pieces of {@code wanted}, from 0. */
  static BlockRange piece(BlockRange wanted, int i, int count) {
    return new BlockRange(
        wanted.first() + i * wanted.count() / count,
        wanted.first() + (i + 1) * wanted.count() / count);
  }
}
