package io.s3e.fetch;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectVersion;
import io.s3e.disk.ChunkRange;
import io.s3e.disk.ChunkStream;
import io.s3e.disk.DiskCache;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.disk.StoredObject;
import io.s3e.memory.Purpose;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import io.s3e.metrics.EngineMetrics;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The cache on local disk as a tenant's runs see it: where their bytes are to be looked for. Memory
 * knows what is on disk, so a run is from disk or from S3 as a whole.
 *
 * <p><b>Shared cache.</b> Other processes write too, and what they have written is known a moment
 * later. So what is not known to be there is claimed before it is fetched, which looks once more.
 *
 * <p><b>Authorization.</b> Nothing is taken, whoever has written it, before a GET of this tenant,
 * with its own credentials, has been answered for that very version ({@link Proofs}). Until then
 * one GET at a time is sent, for what a reader waits for, and nothing of what may be on disk is
 * prefetched.
 *
 * <p>Any thread; nothing here waits or touches the disk.
 */
final class DiskTier {
  /** A shorter run is fetched unclaimed: others wait for it longer than they would fetch it. */
  private static final int LEAST_CLAIM_BYTES = 512 << 10;

  /** Reads that are shorter go through blocks, unless they are of whole chunks. */
  private static final int LEAST_STREAM_BYTES = 2 * StoredObject.CHUNK_BYTES;

  /** As much of a read is looked for at a time: 4 MiB. */
  private static final int MOST_STREAM_CHUNKS = 64;

  /** After so many bytes in a row nothing is guessed: a reader that finds a gap asks itself. */
  private static final long ALL_ON_DISK_BYTES = 8 << 20;

  private final TenantDisk disk;
  private final DiskCache cache;
  private final Proofs proofs;
  private final EngineMetrics ofTenant;
  private final DiskMetrics metrics;
  private final Function<ObjectVersion, @Nullable StoredObject> name;

  DiskTier(TenantDisk disk, Proofs proofs, EngineMetrics metrics) {
    this.disk = disk;
    this.cache = disk.cache();
    this.proofs = proofs;
    this.ofTenant = metrics;
    this.metrics = metrics.disk();
    this.name = version -> cache.object(disk.store(), version);
  }

  DiskCache cache() {
    return cache;
  }

  /**
   * Whether only a reader that waits may fetch, because the disk may have the block and S3 has not
   * yet answered for the version.
   */
  boolean awaitsProof(ObjectHandle handle, long block) {
    ChunkRange chunks = chunksOf(handle, handle.layout().bytesOf(new BlockRange(block, block + 1)));
    if (chunks == null) {
      // Without an ETag in its answer there is no version to be proven.
      return handle.knownVersion() == null
          && !handle.isAnswered()
          && !disk.isAlone().getAsBoolean();
    }
    return !isProven(handle) && cache.presentFrom(chunks) > 0;
  }

  private boolean isProven(ObjectHandle handle) {
    return proofs.isProven(handle);
  }

  /** Where a block of the handle's is to be looked for. */
  Source sourceOf(ObjectHandle handle, long block, Purpose purpose) {
    BlockLayout layout = handle.layout();
    ChunkRange chunks = chunksOf(handle, layout.bytesOf(new BlockRange(block, block + 1)));
    boolean isProven = isProven(handle);
    // The answer to what a reader asks for is the proof; guesses may wait for what others fetch.
    if (chunks == null || (!isProven && purpose != Purpose.GUESS)) {
      return Source.S3;
    }
    if (isProven && cache.presentFrom(chunks) == chunks.end() - chunks.first()) {
      return Source.DISK;
    }
    return cache.isShared() ? Source.S3_CLAIMED : Source.S3;
  }

  /** Whether other processes are to be told of a run: they will want about the same bytes. */
  boolean isWorthClaiming(ObjectHandle handle, long bytes) {
    return handle.progress().isInOrder() || bytes >= LEAST_CLAIM_BYTES;
  }

  /** Whether no other process is known to fetch the block, so that a run may go on over it. */
  boolean isUnclaimed(ObjectHandle handle, long block) {
    ChunkRange chunks = chunksOf(handle, handle.layout().bytesOf(new BlockRange(block, block + 1)));
    return chunks == null || cache.unclaimedFrom(chunks) > 0;
  }

  /**
   * Bytes of the handle's by the names that they have on disk; null if they have no place there.
   */
  @Nullable ChunkRange chunksOf(ObjectHandle handle, ByteRange bytes) {
    if (handle.hasCustomerKey() || !mayGo(bytes.start())) {
      return null;
    }
    StoredObject object = handle.stored(name);
    return object == null ? null : ChunkRange.covering(object, bytes.start(), bytes.end());
  }

  /** The block up to which a run from {@code block} on may go: to the border of mode HYBRID. */
  long border(ObjectHandle handle, long block) {
    DiskCacheConfig config = disk.config();
    BlockLayout layout = handle.layout();
    boolean isBefore = config.mode() == Mode.HYBRID && layout.startOf(block) < config.hybridBytes();
    return isBefore ? layout.blockAt(config.hybridBytes() - 1) + 1 : Long.MAX_VALUE;
  }

  /** Whether the mode is to keep the front of each object, whoever reads it. */
  boolean keepsFronts() {
    return disk.config().mode() == Mode.HYBRID;
  }

  /** Whether the mode lets bytes that begin at {@code start} go to disk at all. */
  private boolean mayGo(long start) {
    DiskCacheConfig config = disk.config();
    return config.mode() == Mode.DISK
        || (config.mode() == Mode.HYBRID && start < config.hybridBytes());
  }

  /**
   * The bytes of {@code [position, end)} that are on disk, from the first on and by whole chunks,
   * for a reader that takes them at once; null if there are none, or too few to be worth a way of
   * their own.
   */
  @Nullable ChunkStream stream(ObjectHandle handle, long position, long end) {
    ChunkRange chunks = isProven(handle) ? chunksOf(handle, new ByteRange(position, end)) : null;
    if (chunks == null) {
      return null;
    }
    if (end - position < LEAST_STREAM_BYTES) {
      // A part of a chunk would be read again when the reader comes to the rest of it.
      long chunk = StoredObject.CHUNK_BYTES;
      boolean isWhole = position % chunk == 0 && end - position >= chunk;
      chunks = isWhole ? new ChunkRange(chunks.object(), chunks.first(), chunks.first() + 1) : null;
    }
    if (chunks == null) {
      return null;
    }
    int last = Math.min(chunks.end(), chunks.first() + MOST_STREAM_CHUNKS);
    int present = cache.presentFrom(new ChunkRange(chunks.object(), chunks.first(), last));
    return present == 0
        ? null
        : cache.stream(new ChunkRange(chunks.object(), chunks.first(), chunks.first() + present));
  }

  /**
   * Whether a reader that takes from disk what is there needs no guess for a block: it is there, or
   * so much was that the rest will be as well.
   */
  boolean isAtHand(ObjectHandle handle, long block) {
    long taken = handle.progress().fromDiskBytes();
    return taken > 0
        && (taken >= ALL_ON_DISK_BYTES || sourceOf(handle, block, Purpose.GUESS) == Source.DISK);
  }

  /** A look at the disk is over, which has brought so many bytes. */
  void hit(ObjectHandle handle, long bytes, boolean complete) {
    if (complete) {
      metrics.count(Counter.HITS);
    }
    metrics.add(Counter.HIT_BYTES, bytes);
    handle.listener().onDiskHit(bytes);
  }

  /** A reader has taken so many bytes from disk itself. */
  void used(ObjectHandle handle, long bytes) {
    ofTenant.add(EngineMetrics.Counter.USED_BYTES, bytes);
    handle.listener().onUsed(bytes, false);
  }

  /**
   * Bytes are about to be fetched from S3.
   *
   * @return whether some of them were fetched before
   */
  boolean missed(ObjectHandle handle, ByteRange bytes) {
    ChunkRange chunks = chunksOf(handle, bytes);
    if (chunks == null) {
      return false;
    }
    metrics.count(Counter.MISSES);
    metrics.add(Counter.MISS_BYTES, bytes.length());
    handle.listener().onDiskMiss(bytes.length());
    return cache.fetched(chunks);
  }
}
