// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.BlockId;
import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectVersion;
import io.s3e.buffer.BlockLease;
import io.s3e.client.LentBuffer;
import io.s3e.memory.Block;
import io.s3e.memory.Grant;
import io.s3e.memory.Residency;
import io.s3e.prefetch.RequestSizing;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where the bytes of one run land: its blocks, the memory granted for them, and how much of it is
 * filled. Blocks are published one by one as their last byte is known to be the object's, or all at
 * once out of a lent buffer. Until then bytes of an answer that has to end before anything of it is
 * believed ({@link Body}) lie behind the filled ones, in the same memory, and count as missing.
 *
 * <p><b>End of the object.</b> An answer may show that the object ends inside the run ({@link
 * #endsAt}): the block that holds its last byte becomes shorter, those behind it never land and
 * fail with the run's end.
 *
 * <p><b>Islands.</b> A block of the run that is in memory already is fetched once more and made a
 * second time, outside the index: the GET need not be cut for it. Once the first has left memory,
 * the second takes its name; else nobody wants it when it lands.
 *
 * <p><b>Ownership.</b> A pooled buffer is this landing's until its block is published, then the
 * block's slab's. A lent buffer goes straight to the slab, and with it the slot; where there are
 * pooled buffers as well, the bytes are copied into those and the lent buffer goes back at once.
 *
 * <p><b>Threads.</b> As those of a {@link Body}, each seeing what the one before did.
 */
final class Landing implements Body.Destination {
  private final Tenant tenant;
  private final Grant grant;
  private final VisibleBlocks memory;

  /** At least one once the run starts; adjacent, ascending. */
  final ArrayList<Block> blocks = new ArrayList<>();

  /** Those of them that are not in the index; empty as a rule. */
  private final Set<Block> islands = new HashSet<>(0);

  /** Written as told below, read by anybody. */
  volatile int published;

  /** How many of the blocks land: fewer than there are if the object ends before the run does. */
  private volatile int landingBlocks;

  private int filledInBlock;

  Landing(Tenant tenant, Grant grant) {
    this.tenant = tenant;
    this.grant = grant;
    this.memory = new VisibleBlocks(tenant);
  }

  /**
   * Makes the blocks of a run and enters them into the index, as many in a row as nobody else has
   * entered, or that are islands between such. False if that is none; the grant is given back then,
   * and also where this throws and there are no blocks.
   */
  boolean enter(BlockRange run, Origin origin) {
    ObjectHandle handle = origin.handle;
    long mostIslands = RequestSizing.mostIslands(run.count());
    int entered = 0;
    try {
      // What is in the index is in the list, which finds room before.
      blocks.ensureCapacity((int) run.count());
      for (long index = run.first(); index < run.end(); index++) {
        boolean mayBeIsland = index > run.first() && islands.size() < mostIslands;
        // Not entered apart, where nobody comes to read it once its reader sees what is there.
        boolean isOver = handle.apart != null && mayBeIsland && memory.isReady(handle, index);
        Block block = isOver ? null : entered(index, origin);
        if (block != null) {
          blocks.add(block);
          entered = blocks.size();
        } else if (isOver || (mayBeIsland && memory.isReady(handle, index))) {
          block = made(handle.block(index), origin);
          islands.add(block);
          blocks.add(block);
        } else {
          break;
        }
      }
    } finally {
      while (blocks.size() > entered) {
        islands.remove(blocks.remove(blocks.size() - 1));
      }
      landingBlocks = blocks.size();
      releaseLeases(blocks.size(), grant.leases().size());
      if (blocks.isEmpty()) {
        grant.leaveLane();
      }
    }
    return !blocks.isEmpty();
  }

  /** The block under its name, or apart where that is taken by one that its reader may not use. */
  private @Nullable Block entered(long index, Origin origin) {
    ObjectHandle handle = origin.handle;
    BlockId id = handle.block(index);
    boolean hasOtherNames = handle.apart != null || handle.announced != null;
    if (hasOtherNames && memory.isSeen(handle, index)) {
      // Entered while the run waited for memory.
      return null;
    }
    Block block = added(id, origin);
    ObjectVersion apart = block == null ? handle.apart : null;
    return apart == null || id.version().equals(apart) || memory.isSeen(handle, index)
        ? block
        : added(new BlockId(apart, index), origin);
  }

  private @Nullable Block added(BlockId id, Origin origin) {
    Block block = made(id, origin);
    return tenant.index.add(block) ? block : null;
  }

  private static Block made(BlockId id, Origin origin) {
    BlockLayout layout = origin.handle.layout;
    return new Block(id, layout.startOf(id.index()), layout.lengthOf(id.index()), origin);
  }

  /** Publishes the blocks of a slab. Whatever happens, {@code free} is the slab's or has run. */
  private void publish(Residency residency, List<Block> landed, ByteBuffer bytes, Runnable free) {
    boolean isTaken = false;
    try {
      // Those that lie ahead too: a reader that comes to one would ask for it once more.
      if (!islands.isEmpty()) {
        islands.removeIf(tenant.index::add);
      }
      isTaken = true;
      residency.publish(landed, islands, bytes, free);
    } catch (RuntimeException | Error e) {
      if (!isTaken) {
        free.run();
      }
      // Those that have not become ready never will: whoever waits is told.
      List<Block> lost = landed.stream().filter(Block::isFetching).toList();
      lost.forEach(tenant.index::remove);
      lost.forEach(block -> block.fail(new IOException(block.id() + " has no place: " + e, e)));
      throw e;
    }
    if (!islands.isEmpty()) {
      landed.forEach(islands::remove);
    }
  }

  ByteRange range() {
    return new ByteRange(blocks.get(0).start(), blocks.get(landingBlocks - 1).end());
  }

  @Override
  public void endsAt(long offset) {
    int landing = landingBlocks;
    while (blocks.get(landing - 1).start() >= offset) {
      landing--;
    }
    blocks.get(landing - 1).endAt(offset);
    landingBlocks = landing;
  }

  @Override
  public boolean isLent() {
    return grant.isLent();
  }

  boolean isComplete() {
    return published == landingBlocks;
  }

  /** The bytes that the next attempt has to ask for. */
  ByteRange missing() {
    return grant.isLent()
        ? range()
        : new ByteRange(blocks.get(published).start() + filledInBlock, range().end());
  }

  @Override
  public void put(int ahead, ByteBuffer chunk) {
    grant.put(published * tenant.config.blockBytes() + filledInBlock + ahead, chunk);
  }

  @Override
  public void filled(int count) {
    int left = count;
    while (left > 0) {
      int missing = blocks.get(published).length() - filledInBlock;
      if (left < missing) {
        filledInBlock += left;
        return;
      }
      left -= missing;
      publishNext();
    }
  }

  /** All of the next block is there. */
  private void publishNext() {
    int index = published;
    Grant granted = grant;
    BlockLease lease = granted.leases().get(index);
    List<Block> landed = List.of(blocks.get(index));
    Runnable free = () -> granted.release(lease);
    filledInBlock = 0;
    published = index + 1;
    publish(tenant.admission.pooled(), landed, lease.buffer(), free);
  }

  @Override
  public void take(LentBuffer buffer) {
    boolean isTheSlabs = false;
    try {
      if (published > 0) {
        // An error ended an attempt in the middle of its buffer; this one begins before that.
        throw new IllegalStateException("a lent buffer for blocks of which some are there");
      }
      ByteBuffer bytes = buffer.bytes();
      if (!grant.leases().isEmpty()) {
        int count = bytes.remaining();
        put(0, bytes.duplicate());
        filled(count);
        return;
      }
      Grant granted = grant;
      granted.landed();
      List<Block> landed = blocks.subList(0, landingBlocks);
      Runnable free =
          () -> {
            buffer.close();
            granted.releaseSlot();
          };
      isTheSlabs = true;
      published = landingBlocks;
      publish(tenant.account.carrier().lent(), landed, bytes, free);
    } finally {
      if (!isTheSlabs) {
        buffer.close();
      }
    }
  }

  /**
   * Nothing more lands: fails what has not been published, and ends the concurrency, and the slot
   * if no slab has it.
   *
   * @param failure why the run failed; null if it brought all there is
   */
  void end(@Nullable IOException failure) {
    if (published < blocks.size()) {
      fail(
          failure == null
              ? new ObjectTruncatedException("the object ends at offset " + range().end(), null)
              : failure);
    }
    boolean slotIsTheSlabs = grant.isLent() && grant.leases().isEmpty() && published > 0;
    if (!slotIsTheSlabs) {
      grant.leaveLane();
    }
  }

  /** Out of the index first, then the memory, then the readers. */
  private void fail(IOException why) {
    List<Block> unpublished = blocks.subList(published, blocks.size());
    try {
      Origin origin = Origin.of(unpublished.get(0));
      origin.lost(unpublished.get(0).start());
      // What came is in blocks that are published, but for this.
      tenant.discarded(origin.handle, filledInBlock);
    } finally {
      unpublished.forEach(tenant.index::remove);
      releaseLeases(published, grant.leases().isEmpty() ? 0 : blocks.size());
      unpublished.forEach(block -> block.fail(why));
    }
  }

  private void releaseLeases(int first, int end) {
    for (int i = first; i < end; i++) {
      grant.release(grant.leases().get(i));
    }
  }
}
