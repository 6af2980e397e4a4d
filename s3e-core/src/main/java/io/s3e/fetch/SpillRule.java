package io.s3e.fetch;

import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;

/**
 * Which of the blocks that leave memory are worth writing to disk. Pure.
 *
 * <p>A scan reads each block once, all of it, and goes on: its blocks are worth nothing, unless the
 * same ones were fetched before. Everything else is: blocks of readers that jump, as those of
 * columnar formats do, blocks of which a part is still unread, and what was prefetched and not
 * read.
 */
final class SpillRule {
  private SpillRule() {}

  /**
   * The facts about a block.
   *
   * @param start offset of its first byte in the object
   * @param isOfScan its reader went through the object in order when it was fetched
   * @param wasFetchedBefore it was fetched from S3 earlier as well
   * @param isFullyRead readers have taken all of its bytes
   */
  record Leaving(long start, boolean isOfScan, boolean wasFetchedBefore, boolean isFullyRead) {}

  /** Whether the mode lets a block that begins at {@code start} go to disk at all. */
  static boolean mayGo(DiskCacheConfig config, long start) {
    return config.mode() == Mode.DISK
        || (config.mode() == Mode.HYBRID && start < config.hybridBytes());
  }

  static boolean isWorth(DiskCacheConfig config, Leaving block) {
    if (!mayGo(config, block.start())) {
      return false;
    }
    return !block.isOfScan() || block.wasFetchedBefore() || !block.isFullyRead();
  }
}
