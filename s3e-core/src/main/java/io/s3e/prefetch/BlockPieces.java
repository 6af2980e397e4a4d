package io.s3e.prefetch;

import io.s3e.block.BlockRange;
import java.util.ArrayList;
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
  private record Piece<O>(long end, O owner) {}

  /** First block of each piece → the piece. */
  private final TreeMap<Long, Piece<O>> pieces = new TreeMap<>();

  private long count;

  /** Number of blocks. */
  public long count() {
    return count;
  }

  /** Number of pieces. */
  public int pieces() {
    return pieces.size();
  }

  /** Number of blocks that {@code owner} has. */
  public long countOf(O owner) {
    long sum = 0;
    for (Map.Entry<Long, Piece<O>> entry : pieces.entrySet()) {
      if (entry.getValue().owner == owner) {
        sum += entry.getValue().end - entry.getKey();
      }
    }
    return sum;
  }

  /** Block after the last one that {@code owner} has; 0 if it has none. */
  public long endOf(O owner) {
    for (Piece<O> piece : pieces.descendingMap().values()) {
      if (piece.owner == owner) {
        return piece.end;
      }
    }
    return 0;
  }

  /** Whether {@code block} has an owner. */
  public boolean contains(long block) {
    Map.Entry<Long, Piece<O>> entry = pieces.floorEntry(block);
    return entry != null && block < entry.getValue().end;
  }

  /** Whether {@code block} has this owner. */
  public boolean isOwned(long block, O owner) {
    Map.Entry<Long, Piece<O>> entry = pieces.floorEntry(block);
    return entry != null && block < entry.getValue().end && entry.getValue().owner == owner;
  }

  /** The parts of {@code run} that have no owner, in order. */
  public List<BlockRange> missingFrom(BlockRange run) {
    List<BlockRange> missing = new ArrayList<>();
    long at = run.first();
    Map.Entry<Long, Piece<O>> before = pieces.floorEntry(at);
    if (before != null) {
      at = Math.max(at, before.getValue().end);
    }
    for (Map.Entry<Long, Piece<O>> entry : pieces.tailMap(run.first(), false).entrySet()) {
      if (entry.getKey() >= run.end()) {
        break;
      }
      if (entry.getKey() > at) {
        missing.add(new BlockRange(at, entry.getKey()));
      }
      at = entry.getValue().end;
    }
    if (at < run.end()) {
      missing.add(new BlockRange(at, run.end()));
    }
    return missing;
  }

  /** Gives {@code run}, none of which has an owner, to {@code owner}. */
  public void add(BlockRange run, O owner) {
    pieces.put(run.first(), new Piece<>(run.end(), owner));
    count += run.count();
  }

  /** Gives what those owners have of {@code run} who are such to {@code owner}. */
  public void give(BlockRange run, Predicate<O> such, O owner) {
    for (Map.Entry<Long, Piece<O>> entry : cutOut(run).entrySet()) {
      if (such.test(entry.getValue().owner)) {
        entry.setValue(new Piece<>(entry.getValue().end, owner));
      }
    }
  }

  /**
   * Takes what those owners have of {@code run} who are such, in order.
   *
   * @param taken hears of each piece and who had it
   * @return how many blocks
   */
  public long take(
      BlockRange run, Predicate<? super O> such, BiConsumer<BlockRange, ? super O> taken) {
    Map<Long, Piece<O>> inside = cutOut(run);
    long before = count;
    for (var entries = inside.entrySet().iterator(); entries.hasNext(); ) {
      Map.Entry<Long, Piece<O>> entry = entries.next();
      O owner = entry.getValue().owner;
      if (such.test(owner)) {
        BlockRange piece = new BlockRange(entry.getKey(), entry.getValue().end);
        count -= piece.count();
        entries.remove();
        taken.accept(piece, owner);
      }
    }
    return before - count;
  }

  /** The live view of the pieces inside {@code run}, after pieces that cross its ends were cut. */
  private Map<Long, Piece<O>> cutOut(BlockRange run) {
    cutAt(run.first());
    cutAt(run.end());
    return pieces.subMap(run.first(), run.end());
  }

  private void cutAt(long block) {
    Map.Entry<Long, Piece<O>> entry = pieces.lowerEntry(block);
    if (entry != null && entry.getValue().end > block) {
      pieces.put(entry.getKey(), new Piece<>(block, entry.getValue().owner));
      pieces.put(block, entry.getValue());
    }
  }
}
