package io.s3e.fetch;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectVersion;
import io.s3e.cache.Block;
import io.s3e.cache.BlockIndex;
import io.s3e.cache.Spill;
import io.s3e.disk.DiskBlockId;
import io.s3e.disk.DiskCache;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What the fetcher asks of the cache on local disk: where the bytes of a run are to be looked for,
 * and which blocks are worth writing.
 *
 * <p><b>Private cache.</b> Memory knows what is on disk, so a run is from disk or from S3 as a
 * whole. Blocks are written when they leave memory or will before long, if they are worth it
 * ({@link SpillRule}).
 *
 * <p><b>Shared cache.</b> Other processes write too, so that the disk has to be asked: a run is at
 * most one disk block, is looked for on disk first and then, claimed, fetched from S3. What S3 sent
 * is written as soon as it has come, because others may be waiting for it.
 *
 * <p><b>Authorization.</b> Nothing is taken from a shared cache before a GET of this engine, with
 * its own credentials, has been answered for that very version ({@link #proven}). Until then one
 * GET at a time is sent, for what a reader waits for, and nothing is prefetched.
 *
 * <p>Any thread; nothing here waits or touches the disk.
 */
final class DiskTier implements Spill {
  /** Versions that answers are remembered of; a table of so many files is a large one. */
  private static final int PROOFS = 100_000;

  /** Credentials may be taken away; S3A's and the CLI's own caches of them live as long. */
  private static final Duration PROOF_LIFE = Duration.ofMinutes(15);

  /** Disk blocks that are remembered to have been fetched: 64 GiB of them. */
  private static final int REMEMBERED = 1 << 16;

  /** As much of a disk block is most of it. */
  private static final int LEAST_CLAIM_BYTES = DiskBlockId.BLOCK_BYTES / 2;

  /** Where the bytes of a block are to be looked for. */
  enum Source {
    /** In S3. */
    S3,
    /** On disk, and in S3 if they are not there. */
    DISK
  }

  private final DiskCache cache;
  private final BlockIndex index;
  private final DiskMetrics metrics;

  /** Versions that S3 has answered for; present or not. */
  private final Cache<ObjectVersion, Boolean> proofs =
      Caffeine.newBuilder().maximumSize(PROOFS).expireAfterWrite(PROOF_LIFE).build();

  /** Disk blocks of which chunks were fetched from S3, and which. */
  private final Cache<DiskBlockId, Integer> fetched =
      Caffeine.newBuilder().maximumSize(REMEMBERED).build();

  /** Disk blocks that this engine has offered to a shared cache, and which chunks of them. */
  private final Cache<DiskBlockId, Integer> offered =
      Caffeine.newBuilder().maximumSize(REMEMBERED).build();

  private final int mostHeldRuns;

  /** Runs whose blocks are kept in memory until they are written. */
  private final AtomicInteger heldRuns = new AtomicInteger();

  /**
   * @param index the blocks in memory
   * @param requests how many GETs may be in flight
   */
  DiskTier(DiskCache cache, BlockIndex index, int requests, DiskMetrics metrics) {
    this.cache = cache;
    this.index = index;
    this.mostHeldRuns = requests - requests / 4;
    this.metrics = metrics;
  }

  DiskCache cache() {
    return cache;
  }

  /** A GET of this engine was answered for what {@code handle} reads. */
  void proven(ObjectHandle handle) {
    ObjectVersion version = handle.knownVersion();
    if (cache.isShared() && version != null) {
      proofs.put(version, Boolean.TRUE);
    }
  }

  /**
   * Whether only a reader that waits may fetch, because the disk may have the block and S3 has not
   * yet answered for the version.
   */
  boolean awaitsProof(ObjectHandle handle, long block) {
    if (!cache.isShared()) {
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

  private boolean isProven(@Nullable ObjectVersion version) {
    return version != null && proofs.getIfPresent(version) != null;
  }

  /** Where a block of the handle's is to be looked for. */
  Source sourceOf(ObjectHandle handle, long block) {
    BlockLayout layout = handle.layout();
    ObjectVersion version = usableVersion(handle, layout.startOf(block));
    if (version == null) {
      return Source.S3;
    }
    ByteRange bytes = layout.bytesOf(new BlockRange(block, block + 1));
    if (cache.isShared()) {
      boolean mayAsk = isProven(version) && cache.believed(id(version, bytes.start())) != 0;
      return mayAsk ? Source.DISK : Source.S3;
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

  /** The block after the last one that a run from disk may hold if it begins at {@code first}. */
  long endOfDiskRun(ObjectHandle handle, long first) {
    BlockLayout layout = handle.layout();
    long end = (layout.startOf(first) / DiskBlockId.BLOCK_BYTES + 1) * DiskBlockId.BLOCK_BYTES;
    return Math.max(first + 1, Math.min(layout.blocks(), end / layout.blockSize()));
  }

  /**
   * The block up to which a run that ends at {@code end} is to go on. Of a shared cache that is the
   * end of the disk block, where others will want all of it: who claims a disk block had better
   * fetch all of it.
   */
  long roundedUp(ObjectHandle handle, long first, long end) {
    boolean claims =
        cache.isShared()
            && isWorthClaiming(handle, (end - first) * handle.layout().blockSize())
            && sourceOf(handle, first) == Source.DISK;
    return claims ? endOfDiskRun(handle, end - 1) : end;
  }

  /** A claim makes others wait, which only pays where they will want about the same bytes. */
  boolean isWorthClaiming(ObjectHandle handle, long bytes) {
    return handle.isInOrder() || bytes >= LEAST_CLAIM_BYTES;
  }

  /** The version to know the handle's bytes by on disk; null if they have no place there. */
  private @Nullable ObjectVersion usableVersion(ObjectHandle handle, long start) {
    boolean mayGo = SpillRule.mayGo(cache.config(), start) && !handle.hasCustomerKey();
    return mayGo ? handle.knownVersion() : null;
  }

  private DiskBlockId id(ObjectVersion version, long offset) {
    return new DiskBlockId(cache.config().store(), version, offset / DiskBlockId.BLOCK_BYTES);
  }

  /** The part of {@code bytes} from its beginning on that one disk block holds. */
  @Nullable Piece firstPiece(ObjectHandle handle, ByteRange bytes) {
    ObjectVersion version = handle.knownVersion();
    return version == null ? null : Piece.of(id(version, bytes.start()), bytes);
  }

  /**
   * Chunks of a disk block.
   *
   * @param end after the last chunk
   */
  record Piece(DiskBlockId id, int first, int end) {
    /** The part of {@code bytes} in the disk block; the object's blocks begin where chunks do. */
    static Piece of(DiskBlockId id, ByteRange bytes) {
      long from = Math.max(bytes.start(), id.start()) - id.start();
      long to = Math.min(bytes.end(), id.start() + id.length()) - id.start();
      int chunk = DiskBlockId.CHUNK_BYTES;
      return new Piece(id, (int) (from / chunk), (int) ((to + chunk - 1) / chunk));
    }

    int mask() {
      return (int) ((1L << end) - (1L << first));
    }

    /** Offset in the object after the last byte. */
    long endOffset() {
      return Math.min(id.start() + id.length(), id.start() + (long) end * DiskBlockId.CHUNK_BYTES);
    }

    int bytes() {
      return (int) (endOffset() - id.start() - (long) first * DiskBlockId.CHUNK_BYTES);
    }
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
    handle.listener().onDiskMiss(bytes.length());
    return before;
  }

  private boolean remember(Piece piece) {
    Integer chunks = fetched.getIfPresent(piece.id());
    int before = chunks == null ? 0 : chunks;
    fetched.put(piece.id(), before | piece.mask());
    return (before & piece.mask()) != 0;
  }

  @Override
  public void settled(Block block) {
    // Its first reader has only just come to it, so what is unread now says nothing.
    Piece worth = worthSpilling(block, true);
    if (worth != null && !isOffered(worth)) {
      boolean unused = cache.offerLater(worth.id(), () -> spillIfThere(block, worth.id()));
    }
  }

  private void spillIfThere(Block block, DiskBlockId id) {
    if (block.tryPin()) {
      try {
        spill(block, id);
      } finally {
        block.unpin();
      }
    }
  }

  @Override
  public void leaving(Block block) {
    if (!block.isReady()) {
      return;
    }
    Piece worth = worthSpilling(block, !block.isPartlyRead());
    if (worth == null) {
      metrics.add(Counter.NOT_ADMITTED_BYTES, block.length());
    } else if (!isOffered(worth)) {
      spill(block, worth.id());
    }
  }

  /** The first part of a block that is worth spilling; null if it is not. */
  private @Nullable Piece worthSpilling(Block block, boolean fullyRead) {
    RunFetch run = (RunFetch) block.fate();
    ObjectHandle handle = run.handle();
    SpillRule.Leaving leaving =
        new SpillRule.Leaving(
            block.start(),
            block.end(),
            handle.position(),
            run.isOfScan() || handle.isScanning(),
            run.wasFetchedBefore(),
            fullyRead);
    boolean worth = !handle.hasCustomerKey() && SpillRule.isWorth(cache.config(), leaving);
    return worth ? firstPiece(handle, new ByteRange(block.start(), block.end())) : null;
  }

  /**
   * Offers a block that stays where it is meanwhile, and with it what else is in memory of the same
   * disk block: to write a file once is cheaper than to join it piece by piece.
   */
  private void spill(Block block, DiskBlockId id) {
    ObjectHandle handle = ((RunFetch) block.fate()).handle();
    // It may be out of the index already.
    offer(handle, block);
    offerAround(handle, id);
  }

  /** Whether the chunks of a piece are on disk or on their way there. */
  private boolean isOffered(Piece piece) {
    int there = cache.isShared() ? offeredChunks(piece.id()) : cache.believed(piece.id());
    return (there & piece.mask()) == piece.mask() || cache.isPending(piece.id(), piece.first());
  }

  private int offeredChunks(DiskBlockId id) {
    Integer chunks = offered.getIfPresent(id);
    return chunks == null ? 0 : chunks;
  }

  private void offerAround(ObjectHandle handle, DiskBlockId id) {
    BlockLayout layout = handle.layout();
    BlockRange around = layout.covering(id.start(), id.start() + id.length());
    for (long at = around.first(); at < around.end(); at++) {
      Block block = index.get(handle.block(at));
      if (block != null && block.isReady() && block.tryPin()) {
        try {
          offer(handle, block);
        } finally {
          block.unpin();
        }
      }
    }
  }

  /**
   * A run is over.
   *
   * @param claimed what other processes wait for, or null
   * @param fetched its blocks that have come from S3, ready
   */
  void ended(RunFetch run, @Nullable DiskBlockId claimed, List<Block> fetched) {
    ObjectHandle handle = run.handle();
    Piece first =
        cache.isShared() && !fetched.isEmpty()
            ? firstPiece(handle, new ByteRange(fetched.get(0).start(), fetched.get(0).end()))
            : null;
    if (first == null) {
      endClaim(claimed);
      return;
    }
    boolean holds = claimed != null && cache.isAwaited(claimed) && tryHold();
    List<Block> held = holds ? fetched.stream().filter(Block::tryPin).toList() : List.of();
    Runnable release =
        () -> {
          held.forEach(Block::unpin);
          if (holds) {
            heldRuns.decrementAndGet();
          }
          endClaim(claimed);
        };
    boolean isLater =
        cache.offerLater(
            first.id(),
            () -> {
              try {
                fetched.forEach(block -> arrived(handle, block));
              } finally {
                release.run();
              }
            });
    if (!isLater) {
      release.run();
    }
  }

  /**
   * Others wait for what has been claimed, so it had better not leave memory before it is written;
   * which holds the fetching ahead back to what the disk takes. A part of what may be in flight is
   * never held: readers go on whatever the disk does.
   */
  private boolean tryHold() {
    if (heldRuns.incrementAndGet() <= mostHeldRuns) {
      return true;
    }
    heldRuns.decrementAndGet();
    return false;
  }

  /**
   * Whether so much is kept for others until it is written that nothing should be fetched ahead for
   * now.
   */
  boolean isBackedUp() {
    return heldRuns.get() >= mostHeldRuns;
  }

  private void endClaim(@Nullable DiskBlockId claimed) {
    if (claimed != null) {
      cache.claimEnded(claimed);
    }
  }

  private void arrived(ObjectHandle handle, Block block) {
    if (usableVersion(handle, block.start()) != null && block.tryPin()) {
      try {
        offer(handle, block);
      } finally {
        block.unpin();
      }
    }
  }

  /** Offers what is not on disk yet of a block, which stays where it is meanwhile. */
  private void offer(ObjectHandle handle, Block block) {
    ByteBuffer bytes = block.bytes();
    ByteRange range = new ByteRange(block.start(), block.end());
    for (Piece piece = firstPiece(handle, range); piece != null; ) {
      int there = cache.isShared() ? offeredChunks(piece.id()) : cache.believed(piece.id());
      int taken = there;
      for (int chunk = piece.first(); chunk < piece.end(); chunk++) {
        int length = piece.id().chunkLength(chunk);
        bytes.limit(bytes.position() + length);
        if ((there & (1 << chunk)) == 0 && cache.offer(piece.id(), chunk, bytes)) {
          taken |= 1 << chunk;
        }
        bytes.position(bytes.limit());
      }
      if (cache.isShared() && taken != there) {
        offered.put(piece.id(), taken);
      }
      long next = piece.endOffset();
      piece = next < range.end() ? firstPiece(handle, new ByteRange(next, range.end())) : null;
    }
  }
}
