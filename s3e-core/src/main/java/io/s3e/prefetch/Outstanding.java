package io.s3e.prefetch;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import java.util.ArrayList;
import java.util.List;

/**
 * The blocks of one stream that were asked for as prefetch and not yet read, refused or abandoned,
 * each with the cursor that wants it; and those that were abandoned since the last plan. Tells the
 * ledger how each of them ended. Not thread-safe.
 */
final class Outstanding {
  private final BlockPieces<Cursor> pieces = new BlockPieces<>();
  private final long blocks;
  private final int blockSize;
  private final WasteLedger ledger;
  private List<BlockRange> abandoned = new ArrayList<>();

  Outstanding(BlockLayout layout, WasteLedger ledger) {
    this.blocks = layout.blocks();
    this.blockSize = layout.blockSize();
    this.ledger = ledger;
  }

  /** Number of outstanding blocks. */
  long count() {
    return pieces.count();
  }

  /** Number of outstanding blocks that {@code owner} wants. */
  long countOf(Cursor owner) {
    return pieces.countOf(owner);
  }

  /** Block after the last one that {@code owner} wants; 0 if it wants none. */
  long endOf(Cursor owner) {
    return pieces.endOf(owner);
  }

  /** Whether {@code block} is outstanding. */
  boolean contains(long block) {
    return pieces.contains(block);
  }

  /** Whether {@code owner} wants {@code block}. */
  boolean isOwned(long block, Cursor owner) {
    return pieces.isOwned(block, owner);
  }

  /** The parts of {@code run} that are not outstanding, in order. */
  List<BlockRange> missingFrom(BlockRange run) {
    return pieces.missingFrom(run);
  }

  /** Records {@code run}, none of which is outstanding, as wanted by {@code owner}. */
  void add(BlockRange run, Cursor owner) {
    pieces.add(run, owner);
  }

  /** Gives what cursors that no longer prefetch want of {@code run} to {@code owner}. */
  void adopt(BlockRange run, Cursor owner) {
    pieces.give(run, each -> !each.active, owner);
  }

  /** Gives what {@code from} wants in {@code [start, end)} to {@code owner}. */
  void handOver(long start, long end, Cursor from, Cursor owner) {
    if (start < end) {
      pieces.give(new BlockRange(start, end), each -> each == from, owner);
    }
  }

  /** A read takes {@code run}: whatever of it is outstanding was worth its fetch. */
  void use(BlockRange run) {
    ledger.used(pieces.take(run, each -> true, (piece, owner) -> {}) * blockSize);
  }

  /** Blocks of {@code run} that {@code owner} wants were not sent or did not come; how many. */
  long takeBack(BlockRange run, Cursor owner) {
    return pieces.take(run, each -> each == owner, (piece, by) -> {});
  }

  /** Abandons what {@code owner} wants of {@code run}: nobody came to read it. */
  void abandon(BlockRange run, Cursor owner) {
    ledger.wasted(removeOwned(run, owner) * blockSize);
  }

  /** Abandons what {@code owner} wants at {@code first} and after it, to make room for others. */
  void yield(long first, Cursor owner) {
    removeOwned(from(first), owner);
  }

  /** Abandons all that {@code owner} wants: nobody came to read it. */
  void abandonAll(Cursor owner) {
    abandon(from(0), owner);
  }

  private BlockRange from(long first) {
    return new BlockRange(first, Math.max(first, blocks));
  }

  /** The runs abandoned since this was called last. */
  List<BlockRange> takeAbandoned() {
    if (abandoned.isEmpty()) {
      return List.of();
    }
    List<BlockRange> taken = abandoned;
    abandoned = new ArrayList<>();
    return taken;
  }

  private long removeOwned(BlockRange run, Cursor owner) {
    return pieces.take(run, each -> each == owner, (piece, by) -> appendRun(abandoned, piece));
  }

  /** Adds {@code run} to the end of {@code runs}, as one with the last if they touch. */
  private static void appendRun(List<BlockRange> runs, BlockRange run) {
    int last = runs.size() - 1;
    if (last >= 0 && runs.get(last).end() == run.first()) {
      runs.set(last, new BlockRange(runs.get(last).first(), run.end()));
    } else {
      runs.add(run);
    }
  }
}
