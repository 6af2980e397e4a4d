package io.s3e.prefetch;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The blocks of one stream that were asked for as prefetch and not yet read, refused or abandoned,
 * each with the cursor that wants it; and those that were abandoned since the last plan. Tells the
 * ledger how each of them ended. Not thread-safe.
 *
 * <p>Invariants: pieces are disjoint and not empty; {@link #count()} is the sum of their lengths.
 */
final class Outstanding {
  private record Piece(long end, Cursor owner) {}

  /** First block of each piece → the piece. */
  private final TreeMap<Long, Piece> pieces = new TreeMap<>();

  private final long blocks;
  private final int blockSize;
  private final WasteLedger ledger;
  private long count;
  private List<BlockRange> abandoned = new ArrayList<>();

  Outstanding(BlockLayout layout, WasteLedger ledger) {
    this.blocks = layout.blocks();
    this.blockSize = layout.blockSize();
    this.ledger = ledger;
  }

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

  /** Block after the last one that {@code owner} wants; 0 if it wants none. */
  long endOf(Cursor owner) {
    for (Piece piece : pieces.descendingMap().values()) {
      if (piece.owner == owner) {
        return piece.end;
      }
    }
    return 0;
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

  /** Gives what cursors that no longer prefetch want of {@code run} to {@code owner}. */
  void adopt(BlockRange run, Cursor owner) {
    for (Map.Entry<Long, Piece> entry : cutOut(run).entrySet()) {
      if (!entry.getValue().owner.active) {
        entry.setValue(new Piece(entry.getValue().end, owner));
      }
    }
  }

  /** Gives what {@code from} wants in {@code [start, end)} to {@code owner}. */
  void handOver(long start, long end, Cursor from, Cursor owner) {
    if (start >= end) {
      return;
    }
    for (Map.Entry<Long, Piece> entry : cutOut(new BlockRange(start, end)).entrySet()) {
      if (entry.getValue().owner == from) {
        entry.setValue(new Piece(entry.getValue().end, owner));
      }
    }
  }

  /** A read takes {@code run}: whatever of it is outstanding was worth its fetch. */
  void use(BlockRange run) {
    Map<Long, Piece> inside = cutOut(run);
    long used = 0;
    for (Map.Entry<Long, Piece> entry : inside.entrySet()) {
      used += entry.getValue().end - entry.getKey();
    }
    inside.clear();
    count -= used;
    ledger.used(used * blockSize);
  }

  /** Blocks of {@code run} that {@code owner} wants were not sent or did not come; how many. */
  long takeBack(BlockRange run, Cursor owner) {
    return removeOwned(run, owner, new ArrayList<>());
  }

  /** Abandons what {@code owner} wants of {@code run}: nobody came to read it. */
  void abandon(BlockRange run, Cursor owner) {
    ledger.wasted(removeOwned(run, owner, abandoned) * blockSize);
  }

  /** Abandons what {@code owner} wants at {@code first} and after it, to make room for others. */
  void yield(long first, Cursor owner) {
    removeOwned(from(first), owner, abandoned);
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

  private long removeOwned(BlockRange run, Cursor owner, List<BlockRange> removed) {
    Iterator<Map.Entry<Long, Piece>> entries = cutOut(run).entrySet().iterator();
    long before = count;
    while (entries.hasNext()) {
      Map.Entry<Long, Piece> entry = entries.next();
      if (entry.getValue().owner == owner) {
        appendRun(removed, new BlockRange(entry.getKey(), entry.getValue().end));
        count -= entry.getValue().end - entry.getKey();
        entries.remove();
      }
    }
    return before - count;
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
