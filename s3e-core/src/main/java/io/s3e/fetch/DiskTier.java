// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.disk.ChunkRange;
import io.s3e.disk.DiskCache;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.disk.DiskRead;
import io.s3e.disk.StoredObject;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import io.s3e.metrics.EngineMetrics;
import java.nio.ByteBuffer;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The cache on local disk as a tenant sees it: a reader takes from it what is there, and what is
 * there is not asked of S3. Memory knows what is on disk; what other processes have written is
 * known a moment later.
 *
 * <p><b>Authorization.</b> Nothing is taken, whoever has written it, before a GET of this tenant,
 * with its own credentials, has been answered for that very version ({@link Proofs}). Until then
 * one GET at a time is sent, for what a reader waits for, and nothing of what may be on disk is
 * prefetched.
 *
 * <p>Any thread; nothing here waits or touches the disk.
 */
final class DiskTier {
  /** As much of a read is looked for at a time: 4 MiB. */
  private static final long MOST_BYTES = 64L * StoredObject.CHUNK_BYTES;

  /** With the chunk that it ends in, a read in order brings as much as one read of a file. */
  private static final long AHEAD_BYTES = 3L * StoredObject.CHUNK_BYTES;

  /** So many MiB of a reader that leaps about give one that is written. */
  static final int SAMPLE = 8;

  /** Bytes that may be written for each that was read from disk. */
  static final long MOST_WRITTEN_PER_HIT = 10;

  final DiskCache cache;
  private final Proofs proofs;
  final DiskMetrics metrics;

  /** Whether all that is in the cache was fetched by this tenant. */
  private final BooleanSupplier isAlone;

  /** Whether the mode is to keep the front of each object, whoever reads it. */
  final boolean keepsFronts;

  /** As many bytes from the front of an object may go to disk. */
  private final long frontBytes;

  private final String store;
  final DiskSpeed speed = new DiskSpeed();

  // Guarded by this: of what was fetched before.
  private boolean isThrashed;
  private long judgedWritten;
  private long judgedHit;
  private long leftOutBytes;

  DiskTier(
      DiskCache cache,
      DiskCacheConfig config,
      BooleanSupplier isAlone,
      String store,
      Proofs proofs,
      DiskMetrics metrics) {
    this.cache = cache;
    this.isAlone = isAlone;
    this.proofs = proofs;
    this.metrics = metrics;
    this.keepsFronts = config.mode() == Mode.HYBRID;
    this.frontBytes = keepsFronts ? config.hybridBytes() : Long.MAX_VALUE;
    this.store = store;
    // The cache may be older than the tenant.
    this.judgedWritten = metrics.get(Counter.WRITTEN_BYTES);
    this.judgedHit = metrics.get(Counter.HIT_BYTES);
  }

  /** How many of the chunks are on disk; 0 where S3 gives them sooner. */
  private int look(ChunkRange chunks) {
    return speed.isDiskSlower() ? 0 : cache.look(chunks);
  }

  /**
   * Whether only a reader that waits may fetch, because the disk may have the block and S3 has not
   * yet answered for the version.
   */
  boolean awaitsProof(ObjectHandle handle, long block) {
    ChunkRange chunks = chunksOf(handle, handle.layout.bytesOf(new BlockRange(block, block + 1)));
    if (chunks == null) {
      // Without an ETag in its answer there is no version to be proven.
      return handle.knownVersion() == null && handle.proof == null && !isAlone.getAsBoolean();
    }
    return !proofs.isProven(handle) && look(chunks) > 0;
  }

  /**
   * The block up to which all bytes from {@code first} on are on disk and may be taken, but not
   * beyond {@code end}: {@code first} if that block is not.
   */
  long look(ObjectHandle handle, long first, long end) {
    // Asked first: a scan asks twice for each of its blocks, and nothing of it is written.
    if (cache.isEmpty() || !proofs.isProven(handle)) {
      return first;
    }
    BlockLayout layout = handle.layout;
    ChunkRange wanted = chunksOf(handle, layout.bytesOf(new BlockRange(first, end)));
    int present = wanted == null ? 0 : look(wanted);
    if (wanted == null || present == 0) {
      return first;
    }
    long until = firstOf(wanted, present).endOffset();
    return until == layout.objectSize() ? end : Math.min(end, layout.blockAt(until));
  }

  /** Bytes of the handle's by their names on disk; null if they have no place there. */
  @Nullable ChunkRange chunksOf(ObjectHandle handle, ByteRange bytes) {
    if (handle.hasCustomerKey || bytes.start() >= frontBytes) {
      return null;
    }
    StoredObject object = handle.stored(store);
    return object == null ? null : ChunkRange.covering(object, bytes.start(), bytes.end());
  }

  /** The block up to which a run from {@code block} on may go: to the border of mode HYBRID. */
  long border(ObjectHandle handle, long block) {
    boolean isInFront = keepsFronts && handle.layout.startOf(block) < frontBytes;
    return isInFront ? handle.layout.blocksOver(frontBytes) : Long.MAX_VALUE;
  }

  /** As {@link Fetcher#fromDisk}, by whole chunks, whether they are in memory or not. */
  @Nullable DiskRead read(ObjectHandle handle, long position, ByteBuffer target, boolean goesOn) {
    if (!proofs.isProven(handle)) {
      return null;
    }
    long end = position + Math.min(target.remaining(), MOST_BYTES);
    long ahead = goesOn && handle.progress.pattern.isInOrder() ? AHEAD_BYTES : 0;
    ByteRange wanted = new ByteRange(position, Math.max(end, Math.min(handle.size(), end + ahead)));
    ChunkRange chunks = chunksOf(handle, wanted);
    int present = chunks == null ? 0 : cache.look(chunks);
    return chunks == null || present == 0 || speed.leavesDisk(target.remaining())
        ? null
        : cache.read(firstOf(chunks, present), position, target);
  }

  private static ChunkRange firstOf(ChunkRange chunks, int count) {
    return new ChunkRange(chunks.object(), chunks.first(), chunks.first() + count);
  }

  /**
   * Whether bytes that were fetched before are to be written: all are, or {@code ofSample} alone,
   * one in {@value #SAMPLE}. What is read in turns and is more than the cache holds leaves it
   * before it is read again, but a part of it stays. Judged each time that as much was written as
   * the cache holds of it; and all are tried again after so many times what it holds were left out.
   */
  synchronized boolean judgeAgain(long bytes, boolean ofSample) {
    long capacity = cache.capacityBytes();
    long written = metrics.get(Counter.WRITTEN_BYTES) - judgedWritten;
    long hit = metrics.get(Counter.HIT_BYTES) - judgedHit;
    boolean isTold = written >= capacity / (isThrashed ? SAMPLE : 1);
    if (isTold || leftOutBytes >= SAMPLE * capacity) {
      isThrashed = isTold && hit * MOST_WRITTEN_PER_HIT < written;
      judgedWritten += written;
      judgedHit += hit;
      leftOutBytes = 0;
    }
    boolean isWorth = !isThrashed || ofSample;
    leftOutBytes += isWorth ? 0 : bytes;
    return isWorth;
  }

  /** A reader has taken so many bytes from disk. */
  void taken(ObjectHandle handle, long bytes, boolean complete) {
    count(handle, Counter.HITS, complete ? 1 : 0);
    count(handle, Counter.HIT_BYTES, bytes);
    handle.count(EngineMetrics.Counter.USED_BYTES, bytes);
  }

  /** So many bytes are about to be fetched from S3; whether some of them were before. */
  boolean missed(ObjectHandle handle, ChunkRange chunks, long bytes) {
    count(handle, Counter.MISSES, 1);
    count(handle, Counter.MISS_BYTES, bytes);
    return cache.history.wasFetched(chunks);
  }

  private void count(ObjectHandle handle, Counter counter, long amount) {
    metrics.add(counter, amount);
    handle.listener.onDiskCount(counter, amount);
  }
}
