package io.s3e.prefetch;

import io.s3e.block.BlockRange;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/**
 * Blocks of one object, each with an owner: adjacent blocks of one owner are one piece, or several.
 * Not thread-safe.
 *
 * <p>Invariants: pieces ascend, are disjoint and not empty; {@link #count()} is the sum of their
 * lengths.
 *
 * @param <O> who wants a block
 */
public final class BlockPieces<O> {
  private static final class Piece<O> {
    private final O owner;
    private long first;
    private long end;

    Piece(long first, long end, O owner) {
      this.first = first;
      this.end = end;
      this.owner = owner;
    }
  }

  private final ArrayList<Piece<O>> pieces = new ArrayList<>();
  private long count;

  /** Number of blocks. */
  public long count() {
    return count;
  }

  /** Number of pieces. */
  public int size() {
    return pieces.size();
  }

  /** Hands over each piece and its owner, in order; nothing may be added or taken meanwhile. */
  public void forEach(BiConsumer<BlockRange, ? super O> each) {
    for (Piece<O> piece : pieces) {
      each.accept(new BlockRange(piece.first, piece.end), piece.owner);
    }
  }

  /** Whether {@code block} has an owner. */
  public boolean contains(long block) {
    int at = endingAfter(block);
    return at < pieces.size() && pieces.get(at).first <= block;
  }

  /** Block after the last one before {@code block} that has an owner; 0 if none has. */
  long endBefore(long block) {
    int at = endingAfter(block - 1);
    if (at < pieces.size() && pieces.get(at).first < block) {
      return block;
    }
    return at == 0 ? 0 : pieces.get(at - 1).end;
  }

  /** Whether all of {@code run}, which is not empty, has one owner, and lies in one piece. */
  boolean covers(BlockRange run) {
    int at = endingAfter(run.first());
    return at < pieces.size()
        && pieces.get(at).first <= run.first()
        && pieces.get(at).end >= run.end();
  }

  /** The parts of {@code run} that have no owner, in order. */
  public List<BlockRange> missingFrom(BlockRange run) {
    List<BlockRange> missing = List.of();
    long at = run.first();
    for (int i = endingAfter(at); at < run.end(); i++) {
      long next = i < pieces.size() ? Math.min(run.end(), pieces.get(i).first) : run.end();
      if (next > at) {
        missing = missing.isEmpty() ? new ArrayList<>(2) : missing;
        missing.add(new BlockRange(at, next));
      }
      at = i < pieces.size() ? pieces.get(i).end : run.end();
    }
    return missing;
  }

  /** Gives {@code run}, none of which has an owner, to {@code owner}. */
  public void add(BlockRange run, O owner) {
    if (!run.isEmpty()) {
      pieces.add(endingAfter(run.first()), new Piece<>(run.first(), run.end(), owner));
      count += run.count();
    }
  }

  /**
   * Takes the pieces of {@code run} whose owners {@code such} holds for, in order.
   *
   * @param taken hears of each piece and who had it; adds and takes nothing meanwhile
   * @return how many blocks
   */
  public long take(
      BlockRange run, Predicate<? super O> such, BiConsumer<BlockRange, ? super O> taken) {
    long before = count;
    int at = endingAfter(run.first());
    while (at < pieces.size() && pieces.get(at).first < run.end()) {
      Piece<O> piece = pieces.get(at);
      if (such.test(piece.owner)) {
        BlockRange part =
            new BlockRange(Math.max(piece.first, run.first()), Math.min(piece.end, run.end()));
        at = cutOut(part, piece, at);
        count -= part.count();
        taken.accept(part, piece.owner);
      } else {
        at++;
      }
    }
    return before - count;
  }

  /** Cuts {@code part} out of the piece at {@code at}; where what follows it is then. */
  private int cutOut(BlockRange part, Piece<O> piece, int at) {
    boolean isHeadLeft = piece.first < part.first();
    if (isHeadLeft && part.end() < piece.end) {
      pieces.add(at + 1, new Piece<>(part.end(), piece.end, piece.owner));
    }
    if (isHeadLeft) {
      piece.end = part.first();
      return at + 1;
    }
    if (part.end() < piece.end) {
      piece.first = part.end();
    } else {
      pieces.remove(at);
    }
    return at;
  }

  /** Index of the first piece that ends after {@code block}. */
  private int endingAfter(long block) {
    int from = 0;
    int to = pieces.size();
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (pieces.get(middle).end > block) {
        to = middle;
      } else {
        from = middle + 1;
      }
    }
    return from;
  }
}
