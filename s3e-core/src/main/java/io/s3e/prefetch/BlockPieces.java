// SPDX-License-Identifier: Apache-2.0
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
 * <p>Invariants: pieces ascend, are disjoint and not empty; {@link #count()} sums up their lengths.
 */
public final class BlockPieces<O> {
  /** Adjacent blocks of one owner. */
  public record Piece<O>(BlockRange blocks, O owner) {}

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
      each.accept(piece.blocks, piece.owner);
    }
  }

  public boolean contains(long block) {
    int at = endingAfter(block);
    return at < pieces.size() && pieces.get(at).blocks.first() <= block;
  }

  /** The parts of {@code run} that have no owner, in order. */
  public List<BlockRange> missingFrom(BlockRange run) {
    if (pieces.isEmpty() && !run.isEmpty()) {
      return List.of(run);
    }
    List<BlockRange> missing = List.of();
    long at = run.first();
    for (int i = endingAfter(at); at < run.end(); i++) {
      long next = i < pieces.size() ? Math.min(run.end(), pieces.get(i).blocks.first()) : run.end();
      if (next > at) {
        missing = missing.isEmpty() ? new ArrayList<>(2) : missing;
        missing.add(new BlockRange(at, next));
      }
      at = i < pieces.size() ? pieces.get(i).blocks.end() : run.end();
    }
    return missing;
  }

  /** Gives {@code run}, none of which has an owner, to {@code owner}. */
  public void add(BlockRange run, O owner) {
    count += run.count();
    int unused = put(endingAfter(run.first()), run.first(), run.end(), owner);
  }

  /** Puts a piece, unless it is empty; where what follows it is then. */
  private int put(int at, long first, long end, O owner) {
    if (first >= end) {
      return at;
    }
    pieces.add(at, new Piece<>(new BlockRange(first, end), owner));
    return at + 1;
  }

  /** Takes all pieces of {@code run}, in order. */
  public List<Piece<O>> take(BlockRange run) {
    return take(run, owner -> true);
  }

  /** Takes the pieces of {@code run} whose owners {@code such} holds for; all of them, in order. */
  public List<Piece<O>> take(BlockRange run, Predicate<? super O> such) {
    List<Piece<O>> taken = List.of();
    int at = endingAfter(run.first());
    while (!run.isEmpty() && at < pieces.size() && pieces.get(at).blocks.first() < run.end()) {
      Piece<O> piece = pieces.get(at);
      if (!such.test(piece.owner)) {
        at++;
        continue;
      }
      BlockRange all = piece.blocks;
      BlockRange part =
          new BlockRange(Math.max(all.first(), run.first()), Math.min(all.end(), run.end()));
      pieces.remove(at);
      at = put(at, all.first(), part.first(), piece.owner);
      int unused = put(at, part.end(), all.end(), piece.owner);
      count -= part.count();
      taken = taken.isEmpty() ? new ArrayList<>(2) : taken;
      taken.add(new Piece<>(part, piece.owner));
    }
    return taken;
  }

  /** Index of the first piece that ends after {@code block}. */
  private int endingAfter(long block) {
    int from = 0;
    int to = pieces.size();
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (pieces.get(middle).blocks.end() > block) {
        to = middle;
      } else {
        from = middle + 1;
      }
    }
    return from;
  }
}
