package io.s3e.fetch;

import io.s3e.block.ByteRange;
import io.s3e.disk.ChunkRange;
import io.s3e.disk.DiskCache;
import io.s3e.memory.Block;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which blocks go to local disk. What is worth it is offered as soon as it has come from S3, and
 * stays in memory until it is written, as far as readers can spare the memory ({@link Spill}).
 *
 * <p>A scan reads each block once and goes on: in a private cache its blocks are worth nothing,
 * unless the same ones were fetched before. In a shared cache everything is, because others may be
 * waiting for it. Any thread; nothing here waits or touches the disk.
 */
final class Spiller {
  private final DiskTier tier;
  private final DiskCache cache;
  private final DiskMetrics metrics;

  Spiller(DiskTier tier, DiskMetrics metrics) {
    this.tier = tier;
    this.cache = tier.cache();
    this.metrics = metrics;
  }

  /**
   * A run of the handle's is over.
   *
   * @param claimed what other processes wait for, or null
   * @param fetched its blocks that have come from S3, ready
   */
  void ended(ObjectHandle handle, @Nullable ChunkRange claimed, List<Block> fetched) {
    Runnable whenEnded =
        () -> {
          if (claimed != null) {
            cache.claimEnded(claimed);
          }
        };
    if (fetched.isEmpty()) {
      whenEnded.run();
      return;
    }
    ByteRange bytes = new ByteRange(fetched.get(0).start(), fetched.get(fetched.size() - 1).end());
    ChunkRange chunks = tier.chunksOf(handle, bytes);
    Origin origin = Origin.of(fetched.get(0));
    if (chunks == null) {
      whenEnded.run();
    } else if (!isWorth(origin)) {
      metrics.add(Counter.NOT_ADMITTED_BYTES, bytes.length());
      whenEnded.run();
    } else {
      spill(fetched, chunks, isOfScan(origin), whenEnded);
    }
  }

  private boolean isWorth(Origin origin) {
    return cache.isShared() || !isOfScan(origin) || origin.wasFetchedBefore();
  }

  private static boolean isOfScan(Origin origin) {
    return origin.isOfScan() || origin.handle().progress().isScanning();
  }

  /** Offers blocks, those of each directory apart. */
  private void spill(List<Block> blocks, ChunkRange chunks, boolean ofScan, Runnable whenEnded) {
    ChunkRange part = cache.inStripe(chunks);
    if (part.end() == chunks.end()) {
      offer(blocks, part, ofScan, whenEnded);
      return;
    }
    long end = part.endOffset();
    int next = 0;
    while (next < blocks.size() && blocks.get(next).end() <= end) {
      next++;
    }
    // A block that lies in two directories is not worth the trouble.
    int rest = next < blocks.size() && blocks.get(next).start() < end ? next + 1 : next;
    if (rest == blocks.size()) {
      offer(blocks.subList(0, next), part, ofScan, whenEnded);
      return;
    }
    offer(blocks.subList(0, next), part, ofScan, () -> {});
    List<Block> others = blocks.subList(rest, blocks.size());
    ByteRange bytes = new ByteRange(others.get(0).start(), others.get(others.size() - 1).end());
    spill(
        others,
        ChunkRange.covering(chunks.object(), bytes.start(), bytes.end()),
        ofScan,
        whenEnded);
  }

  private void offer(List<Block> blocks, ChunkRange chunks, boolean ofScan, Runnable whenEnded) {
    List<Block> dirty = new ArrayList<>(blocks.size());
    for (Block block : blocks) {
      if (block.markDirty()) {
        dirty.add(block);
      } else {
        metrics.add(Counter.OFFERED_BYTES, block.length());
        metrics.add(Counter.DROPPED_EVICTED_BYTES, block.length());
      }
    }
    if (dirty.isEmpty()) {
      whenEnded.run();
    } else {
      cache.offer(new Spill(chunks.object(), dirty, ofScan, whenEnded), chunks);
    }
  }

  /**
   * A block may have come from S3 before there was a cache: it is offered now, unless it is on
   * disk.
   */
  void arrivedBefore(ObjectHandle handle, Block block) {
    if (block.isReady()) {
      ChunkRange chunks = tier.chunksOf(handle, new ByteRange(block.start(), block.end()));
      if (chunks != null && cache.presentFrom(chunks) == 0) {
        ended(handle, null, List.of(block));
      }
    }
  }
}
