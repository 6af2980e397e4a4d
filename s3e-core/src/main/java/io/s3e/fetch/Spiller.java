// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.disk.ChunkRange;
import io.s3e.disk.StoredObject;
import io.s3e.disk.WriteBack;
import io.s3e.memory.Block;
import io.s3e.memory.BlockIndex;
import io.s3e.metrics.DiskMetrics.Counter;
import io.s3e.prefetch.AccessPattern;
import java.util.ArrayList;
import java.util.List;

/**
 * Which blocks go to local disk. What is worth it is offered as soon as it has come from S3, and
 * stays in memory until it is written, as far as readers can spare the memory ({@link Spill}).
 *
 * <p>A scan reads each block once and goes on: in a private cache its blocks are worth nothing,
 * unless the same ones were fetched before and stay until they are read again, or the mode is to
 * keep the front of each object. What comes before it is known how the reader goes is {@linkplain
 * ReaderProgress#withhold withheld}, in memory that anybody may have, and offered once the reader
 * has turned out not to scan, as far as it is still there. A reader that leaps about may never come
 * back: one MiB in {@value DiskTier#SAMPLE} of what it fetches is written, until the cache has
 * given back a tenth of what was written to it. In a shared cache everything is worth it, because
 * others may want it. Any thread; nothing here waits or touches the disk.
 */
record Spiller(DiskTier tier, BlockIndex index) {
  private static final int CHUNKS_OF_MIB = (1 << 20) / StoredObject.CHUNK_BYTES;

  /** What is to become of bytes that come from S3. */
  private enum Verdict {
    WRITTEN,
    /** It is not known yet how their reader goes. */
    WITHHELD,
    NOT_WRITTEN
  }

  /** A run has been entered: whether what it brings is worth writing, if that is known. */
  void fetches(Origin origin, ByteRange missing) {
    ChunkRange chunks = tier.chunksOf(origin.handle, missing);
    if (chunks != null) {
      origin.fetchedBefore = tier.missed(origin.handle, chunks, missing.length());
      origin.spilled = verdict(origin, chunks) == Verdict.WRITTEN;
    }
  }

  private Verdict verdict(Origin origin, ChunkRange chunks) {
    long bytes = (long) (chunks.end() - chunks.first()) * StoredObject.CHUNK_BYTES;
    if (tier.speed.isDiskSlower(bytes)) {
      return Verdict.NOT_WRITTEN;
    }
    if (tier.cache.isShared() || tier.keepsFronts) {
      return Verdict.WRITTEN;
    }
    AccessPattern reader = origin.handle.progress.pattern;
    boolean isWorth;
    if (origin.fetchedBefore) {
      isWorth = tier.judgeAgain(bytes, isSample(chunks));
    } else if (!origin.isOfScan() && reader.mayBeScan()) {
      return Verdict.WITHHELD;
    } else {
      isWorth = !origin.isOfScan() && (!reader.isRandom() || isSample(chunks) || paysOff());
    }
    return isWorth ? Verdict.WRITTEN : Verdict.NOT_WRITTEN;
  }

  /** The same for the same place, whoever asks. */
  private static boolean isSample(ChunkRange chunks) {
    return chunks.object().mixedWith(chunks.first() / CHUNKS_OF_MIB) % DiskTier.SAMPLE == 0;
  }

  private boolean paysOff() {
    long most = tier.metrics.get(Counter.HIT_BYTES) * DiskTier.MOST_WRITTEN_PER_HIT;
    return most > 0 && most >= tier.metrics.get(Counter.WRITTEN_BYTES);
  }

  /** A run is over, with these blocks: ready, and dirty if to be written. */
  void ended(List<Block> fetched) {
    if (fetched.isEmpty()) {
      return;
    }
    Origin origin = Origin.of(fetched.get(0));
    ByteRange bytes = rangeOf(fetched);
    ChunkRange chunks = tier.chunksOf(origin.handle, bytes);
    tier.speed.onStore(bytes.length(), origin.effort.elapsedNanos());
    if (chunks != null) {
      tier.cache.history.fetched(chunks);
    }
    if (origin.spilled) {
      offer(origin.handle, fetched);
    } else if (chunks != null && judge(origin, chunks, fetched) == Verdict.NOT_WRITTEN) {
      tier.metrics.add(Counter.NOT_ADMITTED_BYTES, bytes.length());
    }
  }

  /** Offers blocks that are marked dirty. */
  private void offer(ObjectHandle handle, List<Block> dirty) {
    ChunkRange chunks = dirty.isEmpty() ? null : tier.chunksOf(handle, rangeOf(dirty));
    if (chunks == null) {
      // The object has turned out to be another one than was told.
      dirty.forEach(Block::markClean);
    } else {
      tier.cache.offer(new WriteBack(chunks.object(), dirty.stream().map(Spill::new).toList()));
    }
  }

  /** From the first block to the last; there may be others between them. */
  private static ByteRange rangeOf(List<Block> blocks) {
    return new ByteRange(blocks.get(0).start(), blocks.get(blocks.size() - 1).end());
  }

  private void withhold(ObjectHandle handle, ByteRange bytes) {
    ReaderProgress reader = handle.progress;
    reader.withhold(
        () -> {
          long offered = reader.pattern.looksLikeScan() ? 0 : offerWithheld(handle, bytes);
          tier.metrics.add(Counter.NOT_ADMITTED_BYTES, bytes.length() - offered);
        });
  }

  /** Offers what is still in memory; how many bytes. */
  private long offerWithheld(ObjectHandle handle, ByteRange bytes) {
    BlockRange range = handle.layout.covering(bytes.start(), bytes.end());
    long offered = 0;
    List<Block> dirty = new ArrayList<>();
    for (long next = range.first(); next < range.end(); next++) {
      Block block = index.get(handle.block(next));
      boolean isHeld = block != null && block.isReady() && Origin.of(block).handle == handle;
      if (block != null && isHeld && block.markDirty()) {
        dirty.add(block);
        offered += block.length();
      }
    }
    offer(handle, dirty);
    return offered;
  }

  /** A block may have come before there was a cache: it is offered now, unless it is on disk. */
  void arrivedBefore(Block block) {
    Origin origin = Origin.of(block);
    ByteRange bytes = new ByteRange(block.start(), block.end());
    ChunkRange chunks = block.isReady() ? tier.chunksOf(origin.handle, bytes) : null;
    if (chunks != null && !origin.spilled && tier.cache.look(chunks) == 0) {
      Verdict unused = judge(origin, chunks, List.of(block));
    }
  }

  /** Decides on ready, clean blocks, whose run was sent without a cache, or undecided. */
  private Verdict judge(Origin origin, ChunkRange chunks, List<Block> blocks) {
    Verdict verdict = verdict(origin, chunks);
    if (verdict == Verdict.WRITTEN) {
      offer(origin.handle, blocks.stream().filter(Block::markDirty).toList());
    } else if (verdict == Verdict.WITHHELD) {
      withhold(origin.handle, rangeOf(blocks));
    }
    return verdict;
  }
}
