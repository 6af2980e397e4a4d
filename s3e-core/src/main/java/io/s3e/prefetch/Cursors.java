package io.s3e.prefetch;

import io.s3e.block.BlockRange;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The cursors of one stream, least recently used first. Not thread-safe. */
final class Cursors {
  private final List<Cursor> byUse = new ArrayList<>();
  private long servedBytes;
  private long servedReads;

  List<Cursor> leastRecentFirst() {
    return byUse;
  }

  /**
   * The cursor whose last read holds {@code position} or ends nearest to it, at most {@code gap}
   * bytes away, or null.
   */
  @Nullable Cursor near(long position, long gap) {
    Cursor nearest = null;
    long distance = gap;
    for (int i = byUse.size() - 1; i >= 0; i--) {
      Cursor cursor = byUse.get(i);
      long away = cursor.isInLastRead(position) ? 0 : Math.abs(position - cursor.next);
      if (away < distance || (away == distance && nearest == null)) {
        nearest = cursor;
        distance = away;
      }
      if (distance == 0 && nearest != null) {
        break;
      }
    }
    return nearest;
  }

  /** The cursor that wants {@code block} ahead, or null. */
  @Nullable Cursor wanting(long block) {
    for (Cursor cursor : byUse) {
      if (cursor.reached <= block && block < cursor.aheadTo) {
        return cursor;
      }
    }
    return null;
  }

  /** Blocks that a cursor wants ahead of it. */
  record Want(BlockRange blocks, Cursor by) {}

  /**
   * What cursors want ahead of them, the one that read last first; what two of them want is the
   * former's.
   */
  List<Want> wanted() {
    List<Want> wanted = new ArrayList<>(1);
    BlockPieces<Cursor> known = new BlockPieces<>();
    for (int i = byUse.size() - 1; i >= 0; i--) {
      Cursor cursor = byUse.get(i);
      if (cursor.ahead() > 0) {
        BlockRange all = new BlockRange(cursor.reached, cursor.aheadTo);
        for (BlockRange part : known.size() == 0 ? List.of(all) : known.missingFrom(all)) {
          known.add(part, cursor);
          wanted.add(new Want(part, cursor));
        }
      }
    }
    return wanted;
  }

  /** How many blocks these are. */
  static long count(List<Want> wanted) {
    long sum = 0;
    for (Want want : wanted) {
      sum += want.blocks().count();
    }
    return sum;
  }

  /** The cursor whose last read holds {@code position}, most recently used first, or null. */
  @Nullable Cursor readingAt(long position) {
    for (int i = byUse.size() - 1; i >= 0; i--) {
      Cursor cursor = byUse.get(i);
      if (cursor.isInLastRead(position)) {
        return cursor;
      }
    }
    return null;
  }

  /** Whether some cursor has moved over {@code position}. */
  boolean haveRead(long position) {
    for (Cursor cursor : byUse) {
      if (cursor.runStart <= position && position < cursor.next) {
        return true;
      }
    }
    return false;
  }

  /** The stream serves a read of so many bytes; the age of cursors is counted in them. */
  void countRead(long bytes) {
    servedBytes += bytes;
    servedReads++;
  }

  /** A cursor that others have served more than so many bytes and reads since; null if none. */
  @Nullable Cursor idle(long bytes, long reads) {
    for (Cursor cursor : byUse) {
      if (servedBytes - cursor.servedAtUse > bytes && servedReads - cursor.readsAtUse > reads) {
        return cursor;
      }
    }
    return null;
  }

  /** Makes {@code cursor} the most recently used; adds it if it is new. */
  void use(Cursor cursor) {
    cursor.servedAtUse = servedBytes;
    cursor.readsAtUse = servedReads;
    int last = byUse.size() - 1;
    if (last >= 0 && byUse.get(last) == cursor) {
      return;
    }
    byUse.remove(cursor);
    byUse.add(cursor);
  }

  boolean isLatest(Cursor cursor) {
    return byUse.get(byUse.size() - 1) == cursor;
  }

  void remove(Cursor cursor) {
    byUse.remove(cursor);
  }

  int active() {
    int count = 0;
    for (Cursor cursor : byUse) {
      count += cursor.active ? 1 : 0;
    }
    return count;
  }

  /**
   * The cursor to give up if there are more than {@code max}: the least recently used of those that
   * never went on from their first read, so that scattered reads do not drive out sequential ones;
   * else the least recently used. Never the most recently used. Null if there is room.
   */
  @Nullable Cursor surplus(int max) {
    if (byUse.size() <= max) {
      return null;
    }
    for (Cursor cursor : byUse.subList(0, byUse.size() - 1)) {
      if (!cursor.isContinued()) {
        return cursor;
      }
    }
    return byUse.get(0);
  }

  void clear() {
    byUse.clear();
  }
}
