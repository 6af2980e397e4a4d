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

  /**
   * One sequential reader inside a stream: where it is, how far ahead it wants blocks and how large
   * its window is. Not thread-safe.
   *
   * <p>Invariants: {@code reached <= aheadTo}; {@code next}, {@code reached} never go back.
   */
  static final class Cursor {
    /** How a cursor comes to be. */
    enum CursorStart {
      /** A read where no other cursor is. */
      JUMP,
      /** A read of what another cursor had prefetched. */
      FORK,
      /** A read of what another cursor had read: memory probably still holds that. */
      REREAD
    }

    final CursorStart origin;

    /** Offset of the first byte of its run of contiguous reads. */
    final long runStart;

    /** Offset where the last read began. */
    long readStart;

    /** Offset after the last byte read. */
    long next;

    /** Block after the last one that a read touched. */
    long reached;

    /** Block up to which it wants what follows {@link #reached}. */
    long aheadTo;

    /** Block of its first read. */
    final long startBlock;

    /** How far to be ahead of {@link #reached}, in blocks; meaningful once {@link #active}. */
    long windowBlocks;

    /** Refusals have made its requests at least so long, in blocks. */
    long leastRequest;

    /** Reads that went on where the last one ended, into a block not touched before. */
    int crossings;

    /** It prefetches. */
    boolean active;

    /** It is ahead by no more than what it has read: nothing has shown yet that it will go on. */
    boolean earning;

    /** The last read touched a block that the cursor did not want before. */
    boolean pastAhead;

    /** A reader had to wait at this cursor. */
    boolean stalled;

    /** A request was refused; nothing is asked for until the reader reaches another block. */
    boolean held;

    /** Its last read was expected: it prefetched, and had moved on from its first read. */
    boolean expected;

    /** Bytes and reads that the stream had served when this cursor was last used. */
    long servedAtUse;

    long readsAtUse;

    Cursor(long start, long startBlock, CursorStart origin) {
      this.runStart = start;
      this.origin = origin;
      this.readStart = start;
      this.next = start;
      this.startBlock = startBlock;
      this.reached = startBlock;
      this.aheadTo = startBlock;
    }

    /**
     * Moves over a read of {@code [start, end)} that touches {@code blocks}. A read behind the
     * cursor leaves it where it is.
     *
     * @return whether the read touched a block that no read of this cursor had touched
     */
    boolean advance(long start, long end, BlockRange blocks) {
      readStart = start;
      next = Math.max(next, end);
      if (blocks.end() <= reached) {
        return false;
      }
      pastAhead = blocks.end() > aheadTo;
      reached = blocks.end();
      aheadTo = Math.max(aheadTo, reached);
      held = false;
      return true;
    }

    /** How many blocks it wants that its reader has not come to. */
    long ahead() {
      return aheadTo - reached;
    }

    /** Whether {@code position} lies in what was last read here. */
    boolean isInLastRead(long position) {
      return readStart <= position && position < next;
    }

    /** Whether it has moved on from its first read, so that its window has had a chance to help. */
    boolean isContinued() {
      return crossings > 0;
    }
  }
}
