package io.s3e.fetch;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectVersion;
import io.s3e.disk.DiskBlockId;
import io.s3e.disk.DiskCache;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import org.jspecify.annotations.Nullable;

/**
 * The cache on local disk as a tenant's runs see it: where their bytes are to be looked for.
 *
 * <p><b>Private cache.</b> Memory knows what is on disk, so a run is from disk or from S3 as a
 * whole.
 *
 * <p><b>Shared cache.</b> Other processes write too, so that the disk has to be asked: a run is at
 * most one disk block, is looked for on disk first and then, claimed, fetched from S3.
 *
 * <p><b>Authorization.</b> Nothing that others have written is taken before a GET of this tenant,
 * with its own credentials, has been answered for that very version ({@link Proofs}). Until then
 * one GET at a time is sent, for what a reader waits for, and nothing is prefetched.
 *
 * <p>Any thread; nothing here waits or touches the disk.
 */
final class DiskTier {
  /** Disk blocks that are remembered to have been fetched: 64 GiB of them. */
  private static final int REMEMBERED = 1 << 16;

  /** As much of a disk block is most of it. */
  private static final int LEAST_CLAIM_BYTES = DiskBlockId.BLOCK_BYTES / 2;

  private final TenantDisk disk;
  private final DiskCache cache;
  private final Proofs proofs;
  private final DiskMetrics metrics;

  /** Disk blocks of which chunks were fetched from S3, and which. */
  private final Cache<DiskBlockId, Integer> fetched =
      Caffeine.newBuilder().maximumSize(REMEMBERED).executor(Runnable::run).build();

  DiskTier(TenantDisk disk, Proofs proofs, DiskMetrics metrics) {
    this.disk = disk;
    this.cache = disk.cache();
    this.proofs = proofs;
    this.metrics = metrics;
  }

  DiskCache cache() {
    return cache;
  }

  /** The tenant's settings. */
  DiskCacheConfig config() {
    return disk.config();
  }

  /**
   * Whether only a reader that waits may fetch, because the disk may have the block and S3 has not
   * yet answered for the version.
   */
  boolean awaitsProof(ObjectHandle handle, long block) {
    if (disk.isAlone().getAsBoolean()) {
      return false;
    }
    long start = handle.layout().startOf(block);
    ObjectVersion version = usableVersion(handle, start);
    if (version == null) {
      // Without an ETag in its answer there is no version to be proven.
      return handle.knownVersion() == null && !handle.isAnswered();
    }
    return !isProven(version) && cache.believed(id(version, start)) != 0;
  }

  private boolean isProven(ObjectVersion version) {
    return disk.isAlone().getAsBoolean() || proofs.has(version);
  }

  /** Where a block of the handle's is to be looked for. */
  Source sourceOf(ObjectHandle handle, long block) {
    BlockLayout layout = handle.layout();
    ObjectVersion version = usableVersion(handle, layout.startOf(block));
    if (version == null || !isProven(version)) {
      return Source.S3;
    }
    ByteRange bytes = layout.bytesOf(new BlockRange(block, block + 1));
    if (cache.isShared()) {
      return cache.believed(id(version, bytes.start())) != 0 ? Source.DISK_OR_S3 : Source.S3;
    }
    for (Piece piece = Piece.of(id(version, bytes.start()), bytes); ; ) {
      if ((cache.believed(piece.id()) & piece.mask()) != piece.mask()) {
        return Source.S3;
      }
      if (piece.endOffset() >= bytes.end()) {
        return Source.DISK;
      }
      piece = Piece.of(id(version, piece.endOffset()), bytes);
    }
  }

  /** A claim makes others wait, which only pays where they will want about the same bytes. */
  boolean isWorthClaiming(ObjectHandle handle, long bytes) {
    return handle.progress().isInOrder() || bytes >= LEAST_CLAIM_BYTES;
  }

  /** The version to know the handle's bytes by on disk; null if they have no place there. */
  @Nullable ObjectVersion usableVersion(ObjectHandle handle, long start) {
    boolean mayGo = SpillRule.mayGo(config(), start) && !handle.hasCustomerKey();
    return mayGo ? handle.knownVersion() : null;
  }

  private DiskBlockId id(ObjectVersion version, long offset) {
    return new DiskBlockId(disk.store(), version, offset / DiskBlockId.BLOCK_BYTES);
  }

  /** The part of {@code bytes} from its beginning on that one disk block holds. */
  @Nullable Piece firstPiece(ObjectHandle handle, ByteRange bytes) {
    ObjectVersion version = handle.knownVersion();
    return version == null ? null : Piece.of(id(version, bytes.start()), bytes);
  }

  /** So many bytes of a piece came from disk. */
  void hit(ObjectHandle handle, Piece piece, int bytes) {
    if (bytes == piece.bytes()) {
      metrics.count(Counter.HITS);
    }
    metrics.add(Counter.HIT_BYTES, bytes);
    cache.accessed(piece.id(), bytes);
    handle.listener().onDiskHit(bytes);
  }

  /**
   * Bytes are about to be fetched from S3.
   *
   * @return whether some of them were fetched before
   */
  boolean missed(ObjectHandle handle, ByteRange bytes) {
    if (usableVersion(handle, bytes.start()) == null) {
      return false;
    }
    boolean before = false;
    for (Piece piece = firstPiece(handle, bytes); piece != null; ) {
      metrics.count(Counter.MISSES);
      cache.accessed(piece.id(), piece.bytes());
      before |= remember(piece);
      long next = piece.endOffset();
      piece = next < bytes.end() ? firstPiece(handle, new ByteRange(next, bytes.end())) : null;
    }
    metrics.add(Counter.MISS_BYTES, bytes.length());
    handle.listener().onDiskMiss(bytes.length());
    return before;
  }

  private boolean remember(Piece piece) {
    Integer chunks = fetched.getIfPresent(piece.id());
    int before = chunks == null ? 0 : chunks;
    fetched.put(piece.id(), before | piece.mask());
    return (before & piece.mask()) != 0;
  }
}
