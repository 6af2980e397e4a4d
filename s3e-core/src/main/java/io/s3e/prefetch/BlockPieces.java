package io.s3e.prefetch;

import io.s3e.block.BlockRange;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/**
 * Blocks of one object, each with an owner: adjacent blocks of one owner are one piece, or several.
 * Not thread-safe.
 *
 * <p>Invariants: pieces are disjoint and not empty; {@link #count()} is the sum of their lengths.
 *
 * @param <O> who wants a block
 */
public final class BlockPieces<O> {
  /** Adjacent blocks of one owner. */
  public record Piece<O>(BlockRange blocks, O owner) {}

  /** First block of each piece → the piece. */
  private final TreeMap<Long, Piece<O>> pieces = new TreeMap<>();

  private long count;

  /** Number of blocks. */
  public long count() {
    return count;
  }

  /** The pieces in order; a view. */
  public Collection<Piece<O>> pieces() {
    return pieces.values();
  }

  /** Whether {@code block} has an owner. */
  public boolean contains(long block) {
    Map.Entry<Long, Piece<O>> entry = pieces.floorEntry(block);
    return entry != null && block < entry.getValue().blocks.end();
  }

  /** Block after the last one before {@code block} that has an owner; 0 if none has. */
  long endBefore(long block) {
    Map.Entry<Long, Piece<O>> entry = pieces.lowerEntry(block);
    return entry == null ? 0 : Math.min(block, entry.getValue().blocks.end());
  }

  /** The parts of {@code run} that have no owner, in order. */
  public List<BlockRange> missingFrom(BlockRange run) {
    List<BlockRange> missing = new ArrayList<>();
    Map.Entry<Long, Piece<O>> before = pieces.floorEntry(run.first());
    long at = Math.max(run.first(), before == null ? 0 : before.getValue().blocks.end());
    for (Piece<O> piece : pieces.tailMap(run.first(), false).values()) {
      if (piece.blocks.first() >= run.end()) {
        break;
      }
      if (piece.blocks.first() > at) {
        missing.add(new BlockRange(at, piece.blocks.first()));
      }
      at = piece.blocks.end();
    }
    if (at < run.end()) {
      missing.add(new BlockRange(at, run.end()));
    }
    return missing;
  }

  /** Gives {@code run}, none of which has an owner, to {@code owner}. */
  public void add(BlockRange run, O owner) {
    put(run, owner);
    count += run.count();
  }

  private void put(BlockRange run, O owner) {
    pieces.put(run.first(), new Piece<>(run, owner));
  }

  /**
   * Takes what those owners have of {@code run} who are such, in order.
   *
   * @param taken hears of each piece and who had it
   * @return how many blocks
   */
  public long take(
      BlockRange run, Predicate<? super O> such, BiConsumer<BlockRange, ? super O> taken) {
    if (endBefore(run.end()) <= run.first()) {
      return 0;
    }
    cutAt(run.first());
    cutAt(run.end());
    long before = count;
    Map<Long, Piece<O>> inside = pieces.subMap(run.first(), run.end());
    for (var entries = inside.values().iterator(); entries.hasNext(); ) {
      Piece<O> piece = entries.next();
      if (such.test(piece.owner)) {
        count -= piece.blocks.count();
        entries.remove();
        taken.accept(piece.blocks, piece.owner);
      }
    }
    return before - count;
  }

  private void cutAt(long block) {
    Map.Entry<Long, Piece<O>> entry = pieces.lowerEntry(block);
    if (entry != null && entry.getValue().blocks.end() > block) {
      BlockRange whole = entry.getValue().blocks;
      put(new BlockRange(whole.first(), block), entry.getValue().owner);
      put(new BlockRange(block, whole.end()), entry.getValue().owner);
    }
  }
}
