package io.s3e.fetch;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.client.ClientLimits;
import io.s3e.disk.DiskBlockId;
import io.s3e.memory.Need;
import io.s3e.memory.Need.Kind;

/**
 * How long a run may be, and the memory that it needs. Arithmetic, no state.
 *
 * @param blockBytes block size in bytes
 * @param requestBytes longest GET that the tenant sends, in bytes
 * @param limits what its client carries
 */
record RunSizing(int blockBytes, int requestBytes, ClientLimits limits) {

  /** How many blocks one copied GET can bring. */
  int copiedBlocks() {
    return Math.max(1, Math.min(requestBytes, limits.copyRequestBytes()) / blockBytes);
  }

  /** How many blocks one lent GET can bring. */
  int lentBlocks() {
    return Math.max(1, Math.min(requestBytes, limits.lentSlotBytes()) / blockBytes);
  }

  /**
   * The block up to which a run from the first block of {@code wanted} on may go: as far as {@code
   * wanted}, one GET, and one disk block if the disk is to be asked.
   *
   * @param lends whether the client lends memory now
   */
  long limit(BlockLayout layout, BlockRange wanted, Source source, boolean lends) {
    // What may come from disk has to fit a copied GET, which is what the rest of it will be.
    boolean mayBeLent = lends && source != Source.DISK_OR_S3;
    long most = mayBeLent ? Math.max(copiedBlocks(), lentBlocks()) : copiedBlocks();
    long limit = Math.min(wanted.end(), wanted.first() + most);
    return source == Source.S3 ? limit : Math.min(limit, endOfDiskBlock(layout, wanted.first()));
  }

  /** The block after the last one that lies in the same disk block, or begins there. */
  long endOfDiskBlock(BlockLayout layout, long block) {
    long end = (layout.startOf(block) / DiskBlockId.BLOCK_BYTES + 1) * DiskBlockId.BLOCK_BYTES;
    return Math.max(block + 1, Math.min(layout.blocks(), end / blockBytes));
  }

  /**
   * The memory for a run. The contents of a shared cache are not known: as a rule the run is
   * fetched, so that its memory is what the GET needs.
   */
  Need need(BlockLayout layout, BlockRange run, Source source) {
    boolean isLong = layout.bytesOf(run).length() > limits.copyRequestBytes();
    Kind kind = isLong ? Kind.LONG : Kind.SHORT;
    return new Need(
        (int) Math.min(run.count(), copiedBlocks()), source == Source.DISK ? Kind.ON_DISK : kind);
  }
}
