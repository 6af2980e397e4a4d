package io.s3e.fetch;

import io.s3e.block.BlockId;
import io.s3e.block.ObjectVersion;
import io.s3e.memory.Block;
import io.s3e.memory.BlockIndex;
import org.jspecify.annotations.Nullable;

/**
 * The blocks in memory and on their way there, as one tenant may see them.
 *
 * <p>A block that another tenant fetches or has fetched is seen only once S3 has answered this
 * tenant for the version. Before, the handle's blocks are held apart, so that its reader sends a
 * request of its own.
 *
 * <p>What the tenant fetched of an announced object has no ETag in its name. A handle that was told
 * of it looks there last.
 */
final class VisibleBlocks {
  private final Tenant tenant;
  private final BlockIndex index;

  VisibleBlocks(Tenant tenant) {
    this.tenant = tenant;
    this.index = tenant.index();
  }

  /** A stream is about to read through the handle: it profits from what was proven before. */
  void opened(ObjectHandle handle) {
    if (handle.hasCustomerKey()) {
      // Streams with another key, or with none, must not see the bytes that this key opens.
      handle.holdApart(handle.customerKey(tenant.holder()));
    } else if (tenant.proofs().has(handle.knownVersion())) {
      handle.proven();
    }
  }

  /** The block under this name, pinned; null if it is not in memory and not on its way. */
  @Nullable Block find(ObjectHandle handle, long block) {
    Block found = pinned(new BlockId(handle.version(), block));
    if (found != null && !mayRead(handle, found)) {
      found.unpin();
      found = null;
      handle.holdApart(tenant.holder());
    }
    ObjectVersion apart = found == null ? handle.apart() : null;
    if (apart != null) {
      found = pinned(new BlockId(apart, block));
    }
    ObjectVersion announced = found == null ? handle.announced() : null;
    return announced == null ? found : pinned(new BlockId(announced, block));
  }

  private @Nullable Block pinned(BlockId id) {
    for (; ; ) {
      Block found = index.get(id);
      if (found == null || found.tryPin()) {
        return found;
      }
      // Dead: evicted, or failed, a moment ago. The thread that killed it has removed it or is
      // about to.
      index.remove(found);
    }
  }

  /**
   * Whether the block is in memory or on its way. Where it is, but for others, it is held apart.
   */
  boolean isPresent(ObjectHandle handle, long block) {
    Block found = index.get(new BlockId(handle.version(), block));
    if (found != null) {
      if (mayRead(handle, found)) {
        return true;
      }
      handle.holdApart(tenant.holder());
    }
    return isEntered(handle.apart(), block) || isEntered(handle.announced(), block);
  }

  private boolean isEntered(@Nullable ObjectVersion version, long block) {
    return version != null && index.get(new BlockId(version, block)) != null;
  }

  /**
   * Another tenant's GET is not waited for when it is late: whatever hangs may hang for it alone.
   */
  private boolean mayRead(ObjectHandle handle, Block found) {
    Origin origin = Origin.of(found);
    return origin.isOf(tenant) || (handle.isProven() && (found.isReady() || !origin.isOverdue()));
  }
}
