// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.BlockId;
import io.s3e.block.ObjectVersion;
import io.s3e.memory.Block;
import org.jspecify.annotations.Nullable;

/**
 * The blocks in memory and on their way there, as one tenant may see them.
 *
 * <p>A block that is in memory, or that another tenant fetches, is seen only while S3's answer to
 * this tenant for the version is a proof ({@link Proofs}); a GET of the tenant's own that is under
 * way may be joined without. A block that is not seen counts as present: nobody guesses it, and a
 * run ends before it. A reader that waits for one sends a GET of its own, whose block is held
 * apart.
 *
 * <p>What the tenant fetched of an announced object has no ETag in its name. A handle that was told
 * of it looks there last.
 */
record VisibleBlocks(Tenant tenant) {
  void opened(ObjectHandle handle) {
    if (handle.hasCustomerKey) {
      // Streams with another key, or with none, must not see the bytes that this key opens.
      handle.holdApart(handle.customerKey(tenant.holder));
    } else if (tenant.config.store() != null) {
      handle.sharedBy(tenant.config.store());
    }
    boolean unused = tenant.proofs.isProven(handle);
  }

  /** The block under this name, pinned; null if it is not in memory and not on its way. */
  @Nullable Block find(ObjectHandle handle, long block) {
    Block found = visible(handle, sharedName(handle), block);
    found = found == null ? visible(handle, handle.apart, block) : found;
    return found == null ? visible(handle, handle.announced, block) : found;
  }

  /** Null for who has a customer's key, and neither reads nor awaits what has come without it. */
  private static @Nullable ObjectVersion sharedName(ObjectHandle handle) {
    return handle.hasCustomerKey ? null : handle.name();
  }

  private @Nullable Block visible(
      ObjectHandle handle, @Nullable ObjectVersion version, long block) {
    Block found = version == null ? null : pinned(new BlockId(version, block));
    if (found != null && !mayRead(handle, found)) {
      found.unpin();
      return null;
    }
    return found;
  }

  private @Nullable Block pinned(BlockId id) {
    for (; ; ) {
      Block found = tenant.index.get(id);
      if (found == null || found.tryPin()) {
        return found;
      }
      // Evicted or failed a moment ago: who killed it has removed it, or is about to.
      tenant.index.remove(found);
    }
  }

  /**
   * Whether the block is in memory or on its way, seen or not. What the handle will never see does
   * not count; the handle's own is held apart then.
   */
  boolean isPresent(ObjectHandle handle, long block) {
    Block found = entered(sharedName(handle), block);
    if (found != null) {
      if (Origin.of(found).isOf(tenant) || isForOthers(handle, found)) {
        return true;
      }
      handle.holdApart(tenant.holder);
    }
    return entered(handle.apart, block) != null || entered(handle.announced, block) != null;
  }

  /** Whether the block is in memory, seen or not, under a name that the handle's may have. */
  boolean isReady(ObjectHandle handle, long block) {
    return isReady(entered(sharedName(handle), block))
        || isReady(entered(handle.apart, block))
        || isReady(entered(handle.announced, block));
  }

  private static boolean isReady(@Nullable Block block) {
    return block != null && block.isReady();
  }

  private @Nullable Block entered(@Nullable ObjectVersion version, long block) {
    return version == null ? null : tenant.index.get(new BlockId(version, block));
  }

  /** Whether the handle sees the block, under any of its names. */
  boolean isSeen(ObjectHandle handle, long block) {
    Block found = find(handle, block);
    if (found != null) {
      found.unpin();
    }
    return found != null;
  }

  private boolean mayRead(ObjectHandle handle, Block found) {
    Origin origin = Origin.of(found);
    boolean isCandidate = origin.isOf(tenant) || isForOthers(handle, found);
    boolean isAsked = origin.isOf(tenant) && found.isFetching();
    return isAsked || (isCandidate && tenant.proofs.isProven(handle));
  }

  /**
   * Whether a block of another tenant's may be read once there is a proof. Another's GET is not
   * waited for when it is late: whatever hangs may hang for that tenant alone.
   */
  private static boolean isForOthers(ObjectHandle handle, Block found) {
    return !handle.hasCustomerKey && (found.isReady() || !Origin.of(found).isOverdue());
  }

  /**
   * A reader is about to ask for a block that it did not see: where there is one that it may not
   * read it is left to others, and the reader's own is held apart; whether there is any.
   */
  boolean makeWay(ObjectHandle handle, long block) {
    Block other = entered(handle.name(), block);
    if (handle.apart == null && other != null && !mayRead(handle, other)) {
      handle.holdApart(tenant.holder);
    }
    Block own = entered(handle.apart, block);
    if (own != null && !mayRead(handle, own)) {
      // Nobody but this tenant's streams, none of which may read it.
      tenant.index.remove(own);
    }
    return own != null || isPresent(handle, block);
  }
}
