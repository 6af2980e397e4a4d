package io.s3e.prefetch;

import io.s3e.block.BlockRange;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The blocks of one stream that were asked for as prefetch and not yet read, refused or abandoned,
 * each with the cursor that wants it. Not thread-safe.
 *
 * <p>Invariants: pieces are disjoint and not empty; {@link #count()} is the sum of their lengths.
 */
final class Outstanding {
  private record Piece(long end, Cursor owner) {}

  /** First block of each piece → the piece. */
  private final TreeMap<Long, Piece> pieces = new TreeMap<>();

  private long count;

  /** Number of outstanding blocks. */
  long count() {
    return count;
  }

  /** Number of outstanding blocks that {@code owner} wants. */
  long countOf(Cursor owner) {
    long sum = 0;
    for (Map.Entry<Long, Piece> entry : pieces.entrySet()) {
      if (entry.getValue().owner == owner) {
        sum += entry.getValue().end - entry.getKey();
      }
    }
    return sum;
  }

  /** Whether {@code block} is outstanding. */
  boolean contains(long block) {
    Map.Entry<Long, Piece> entry = pieces.floorEntry(block);
    return entry != null && block < entry.getValue().end;
  }

  /** Whether {@code owner} wants {@code block}. */
  boolean isOwned(long block, Cursor owner) {
    Map.Entry<Long, Piece> entry = pieces.floorEntry(block);
    return entry != null && block < entry.getValue().end && entry.getValue().owner == owner;
  }

  /** The parts of {@code run} that are not outstanding, in order. */
  List<BlockRange> missingFrom(BlockRange run) {
    List<BlockRange> missing = new ArrayList<>();
    long at = run.first();
    Map.Entry<Long, Piece> before = pieces.floorEntry(at);
    if (before != null) {
      at = Math.max(at, before.getValue().end);
    }
    for (Map.Entry<Long, Piece> entry : pieces.tailMap(run.first(), false).entrySet()) {
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

  /** Records {@code run}, none of which is outstanding, as wanted by {@code owner}. */
  void add(BlockRange run, Cursor owner) {
    pieces.put(run.first(), new Piece(run.end(), owner));
    count += run.count();
  }

  /** Gives what is outstanding of {@code run} to {@code owner}. */
  void adopt(BlockRange run, Cursor owner) {
    for (Map.Entry<Long, Piece> entry : cutOut(run).entrySet()) {
      entry.setValue(new Piece(entry.getValue().end, owner));
    }
  }

  /** Gives what {@code from} wants of {@code run} to {@code owner}. */
  void adopt(BlockRange run, Cursor owner, Cursor from) {
    for (Map.Entry<Long, Piece> entry : cutOut(run).entrySet()) {
      if (entry.getValue().owner == from) {
        entry.setValue(new Piece(entry.getValue().end, owner));
      }
    }
  }

  /** Removes what is outstanding of {@code run}, whoever wants it; says how many blocks it was. */
  long remove(BlockRange run) {
    Map<Long, Piece> inside = cutOut(run);
    long removed = 0;
    for (Map.Entry<Long, Piece> entry : inside.entrySet()) {
      removed += entry.getValue().end - entry.getKey();
    }
    inside.clear();
    count -= removed;
    return removed;
  }

  /** Removes what {@code owner} wants of {@code run} and adds it to {@code removed}. */
  void removeOwned(BlockRange run, Cursor owner, List<BlockRange> removed) {
    Iterator<Map.Entry<Long, Piece>> entries = cutOut(run).entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry<Long, Piece> entry = entries.next();
      if (entry.getValue().owner == owner) {
        appendRun(removed, new BlockRange(entry.getKey(), entry.getValue().end));
        count -= entry.getValue().end - entry.getKey();
        entries.remove();
      }
    }
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

  /** The live view of the pieces inside {@code run}, after pieces that cross its ends were cut. */
  private Map<Long, Piece> cutOut(BlockRange run) {
    cutAt(run.first());
    cutAt(run.end());
    return pieces.subMap(run.first(), run.end());
  }

  private void cutAt(long block) {
    Map.Entry<Long, Piece> entry = pieces.lowerEntry(block);
    if (entry != null && entry.getValue().end > block) {
      pieces.put(entry.getKey(), new Piece(block, entry.getValue().owner));
      pieces.put(block, entry.getValue());
    }
  }
}
