// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.columnar.StreamPlanner;
import io.s3e.fetch.Fetcher;
import io.s3e.fetch.ObjectHandle;
import io.s3e.fetch.Patience;
import io.s3e.memory.Block;
import io.s3e.memory.Purpose;
import io.s3e.prefetch.Ahead;
import io.s3e.prefetch.Ahead.Change;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.prefetch.RequestSizing;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of one opened object as its reads use them: which are in memory, which GETs are sent
 * for those that are not, and what the planner is shown of them. Whoever reads goes through an
 * {@link Ask}; {@link Pump} keeps prefetch ahead of the reads.
 *
 * <p>Any thread.
 */
public final class BlockReader {
  /** What is announced of a longer object: enough for the footer of most columnar files. */
  private static final int END_BYTES = 64 << 10;

  /** A random positioned read of less than this part of a small object does not fetch all of it. */
  private static final int SMALL_PART = 4;

  final StreamSource source;
  final Fetcher fetcher;
  final ObjectHandle handle;
  final Pump pump;
  private final BlockLayout layout;

  /** {@code ahead} is of a reader that has read nothing. */
  public BlockReader(StreamSource source, ObjectHandle handle, StreamPlanner planner, Ahead ahead) {
    this.source = source;
    this.fetcher = source.fetcher();
    this.handle = handle;
    this.layout = handle.layout;
    this.pump = new Pump(source, handle, planner, ahead);
  }

  ReadFailures failures() {
    return new ReadFailures(source, handle);
  }

  /** The block with {@code position}, pinned, if ready in memory; null if not. Starts nothing. */
  @Nullable Block peek(long position) {
    Block block = fetcher.find(handle, layout.blockAt(position));
    if (block == null) {
      return null;
    }
    if (!block.isReady() || position >= block.end()) {
      block.unpin();
      return null;
    }
    return block;
  }

  /** Copies what a pinned block has from {@code position} on and fits; how many bytes. */
  static int copy(Block block, long position, ByteBuffer target) {
    int offset = (int) (position - block.start());
    int count = Math.min(target.remaining(), block.length() - offset);
    block.copyTo(offset, target, count);
    return count;
  }

  /**
   * Shows the planner what it wants to see, as far as {@code target} has just taken it, bytes
   * {@code [start, end)}, or memory has it: before the next read then, it knows what a footer says.
   * Fetches nothing.
   */
  void showPlanner(long start, long end, ByteBuffer target) {
    for (ByteRange range = pump.wanted; range != null; range = pump.wanted) {
      boolean wasRead = range.start() >= start && range.end() <= end;
      byte[] bytes = wasRead ? new byte[(int) range.length()] : inMemory(range);
      if (bytes == null) {
        return;
      }
      if (wasRead) {
        target.get(target.position() - (int) (end - range.start()), bytes);
      }
      pump.show(range, bytes);
      keep(range);
    }
  }

  /** Blocks that say where the others lie stay longest: the next reader begins with them. */
  private void keep(ByteRange range) {
    BlockRange blocks = layout.covering(range.start(), range.end());
    for (long index = blocks.first(); index < blocks.end(); index++) {
      Block block = peek(layout.startOf(index));
      if (block != null) {
        block.keep();
        block.unpin();
      }
    }
  }

  /** The reader takes bytes of a block that is pinned and ready: from now on it may be evicted. */
  void touch(Block block) {
    block.touch();
    if (block.end() > pump.tailStart) {
      block.keep();
    }
  }

  /** A copy of bytes of the object; null if one of them is not in memory. */
  private byte @Nullable [] inMemory(ByteRange range) {
    // From the end, which comes first: what is copied for nothing would be copied at each read.
    for (long i = layout.blockAt(range.end() - 1); i >= layout.blockAt(range.start()); i--) {
      Block block = peek(layout.startOf(i));
      if (block == null) {
        return null;
      }
      block.unpin();
    }
    ByteBuffer target = ByteBuffer.allocate((int) range.length());
    while (target.hasRemaining()) {
      long next = range.start() + target.position();
      Block block = peek(next);
      if (block == null) {
        return null;
      }
      copy(block, next, target);
      block.unpin();
    }
    return target.array();
  }

  /** Whether a positioned read of so many bytes will hardly need the rest of a small object. */
  boolean isGlance(long bytes) {
    return pump.policy() == ReadPolicy.RANDOM && bytes * SMALL_PART < handle.size();
  }

  /**
   * Starts fetching the first block of {@code wanted}, pinned, and waits for room; null if it must
   * be looked up.
   *
   * @param ahead what is to be started behind the read, and was not yet
   * @param pieces how what is wanted is cut
   * @param mayBeWhole whether all of a small object that is absent comes by the same GET
   */
  @Nullable Block demand(
      BlockRange wanted, Change ahead, Pieces pieces, boolean mayBeWhole, Patience patience)
      throws IOException {
    boolean whole = mayBeWhole && isSmall();
    long first = firstAbsent(wanted.first(), whole ? 0 : ahead.alongFrom(wanted));
    int count = pieces.count(wanted, layout);
    long piece = count > 1 ? Pieces.piece(wanted, 0, count).end() : ahead.alongUntil(wanted);
    long end = whole ? wholeObject().end() : piece;
    long until = ahead.aheadUntil(Math.max(end, wanted.end()));
    BlockRange asked = new BlockRange(first, Math.max(wanted.first() + 1, end));
    Block block = fetcher.demand(handle, asked, wanted.first(), until, patience, pump.runs);
    if (block == null || first == wanted.first()) {
      return block;
    }
    block.unpin();
    return fetcher.find(handle, wanted.first());
  }

  /** The first block, from {@code from} on, of those before {@code block} that are all absent. */
  private long firstAbsent(long block, long from) {
    // The block itself may be there for others: then it is asked for alone.
    long first = block + 1;
    while (first > from && fetcher.isAbsent(handle, first - 1)) {
      first--;
    }
    return Math.min(first, block);
  }

  /**
   * A read will come to these blocks: what is there and was read is not to leave meanwhile, as far
   * as the GET for the first one goes.
   */
  void touchRest(BlockRange wanted) {
    long most = wanted.first() + layout.blocksOver(fetcher.tenant.config.requestBytes());
    for (long index = wanted.first() + 1; index < Math.min(most, wanted.end()); index++) {
      Block block = peek(layout.startOf(index));
      if (block != null) {
        block.touchAgain();
        block.unpin();
      }
    }
  }

  /**
   * Starts fetching what somebody will read in a moment.
   *
   * @return the offset up to which all of it is there or on its way; the start of {@code range} if
   *     its first block had no room
   */
  long announce(ByteRange range, Pieces pieces) {
    BlockRange read = layout.covering(range.start(), range.end());
    BlockRange asked = isSmall() && !range.isEmpty() ? wholeObject() : read;
    long reached = asked.isEmpty() ? asked.end() : startAsked(asked, asked.first(), pieces);
    return reached >= read.end() ? range.end() : Math.max(range.start(), layout.startOf(reached));
  }

  /** Whether all of the range is in memory, on disk or on its way. */
  boolean isThere(ByteRange range) {
    BlockRange blocks = layout.covering(range.start(), range.end());
    return LongStream.range(blocks.first(), blocks.end()).allMatch(pump.isThere);
  }

  /** The end of the object, or all of a small one: what is fetched for those who will open it. */
  BlockRange announced() {
    long size = handle.size();
    return isSmall() ? wholeObject() : layout.covering(Math.max(0, size - END_BYTES), size);
  }

  /**
   * Starts what is missing of {@code asked} from a block on, in pieces, until one has no room.
   *
   * @return the first block that is neither there nor on its way; {@code asked.end()} if all are
   */
  long startAsked(BlockRange asked, long from, Pieces pieces) {
    int count = pieces.count(asked, layout);
    for (int i = 0; i < count; i++) {
      BlockRange piece = Pieces.piece(asked, i, count);
      BlockRange rest =
          new BlockRange(Math.min(piece.end(), Math.max(piece.first(), from)), piece.end());
      long stopped = fetcher.prefetch(handle, rest, Purpose.ASKED, pump.runs);
      if (stopped < piece.end()) {
        return stopped;
      }
    }
    return asked.end();
  }

  /** Whether one GET brings all of the object as soon as a part of it. */
  private boolean isSmall() {
    return handle.size() <= RequestSizing.SMALL_OBJECT_BYTES;
  }

  private BlockRange wholeObject() {
    return layout.covering(0, handle.size());
  }
}
