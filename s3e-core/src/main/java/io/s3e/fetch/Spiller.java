package io.s3e.fetch;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.s3e.block.ByteRange;
import io.s3e.disk.DiskBlockId;
import io.s3e.disk.DiskCache;
import io.s3e.memory.Block;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Which blocks go to local disk, and when they are offered to it.
 *
 * <p><b>Private cache.</b> Nothing is offered.
 *
 * <p><b>Shared cache.</b> What S3 sent is offered as soon as it has come, because others may be
 * waiting for it; what is known to be waited for stays in memory until it is written.
 *
 * <p>What need not be copied at once is offered later, by a thread of the cache. Any thread;
 * nothing here waits or touches the disk.
 */
final class Spiller {
  /** Disk blocks that are remembered to have been offered: 64 GiB of them. */
  private static final int REMEMBERED = 1 << 16;

  private final DiskTier tier;
  private final DiskCache cache;
  private final int mostHeldRuns;

  /** Disk blocks that this engine has offered to a shared cache, and which chunks of them. */
  private final Cache<DiskBlockId, Integer> offered =
      Caffeine.newBuilder().maximumSize(REMEMBERED).build();

  /** Runs whose blocks are kept in memory until they are written. */
  private final AtomicInteger heldRuns = new AtomicInteger();

  /**
   * @param requests how many GETs may be in flight
   */
  Spiller(DiskTier tier, int requests) {
    this.tier = tier;
    this.cache = tier.cache();
    this.mostHeldRuns = requests - requests / 4;
  }

  private int offeredChunks(DiskBlockId id) {
    Integer chunks = offered.getIfPresent(id);
    return chunks == null ? 0 : chunks;
  }

  /**
   * A run of the handle's is over.
   *
   * @param claimed what other processes wait for, or null
   * @param fetched its blocks that have come from S3, ready
   */
  void ended(ObjectHandle handle, @Nullable DiskBlockId claimed, List<Block> fetched) {
    Piece first =
        cache.isShared() && !fetched.isEmpty()
            ? tier.firstPiece(handle, new ByteRange(fetched.get(0).start(), fetched.get(0).end()))
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

  /** A block may have come from S3 before there was a cache: a shared one is offered it now. */
  void arrivedBefore(ObjectHandle handle, Block block) {
    Piece piece =
        cache.isShared() && block.isReady()
            ? tier.firstPiece(handle, new ByteRange(block.start(), block.end()))
            : null;
    if (piece != null) {
      boolean unused = cache.offerLater(piece.id(), () -> arrived(handle, block));
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
    if (tier.usableVersion(handle, block.start()) != null && block.tryPin()) {
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
    for (Piece piece = tier.firstPiece(handle, range); piece != null; ) {
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
      piece = next < range.end() ? tier.firstPiece(handle, new ByteRange(next, range.end())) : null;
    }
  }
}
