// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import io.s3e.block.BlockRange;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The cursors of one stream, least recently used first. Not thread-safe. */
final class Cursors {
  private static final long IDLE_BYTES = 1 << 20;

  private final List<Cursor> byUse = new ArrayList<>();
  private long servedBytes;
  private long servedReads;

  List<Cursor> leastRecentFirst() {
    return byUse;
  }

  /** Nearest cursor whose last read holds {@code position} or ends within {@code gap}; or null. */
  @Nullable Cursor near(long position, long gap) {
    Cursor nearest = null;
    long distance = gap + 1;
    for (int i = byUse.size() - 1; i >= 0 && distance > 0; i--) {
      Cursor cursor = byUse.get(i);
      long away = cursor.isInLastRead(position) ? 0 : Math.abs(position - cursor.next);
      if (away < distance) {
        nearest = cursor;
        distance = away;
      }
    }
    return nearest;
  }

  /** The most recently used of such cursors, or null. */
  @Nullable Cursor latest(Predicate<Cursor> such) {
    for (int i = byUse.size() - 1; i >= 0; i--) {
      if (such.test(byUse.get(i))) {
        return byUse.get(i);
      }
    }
    return null;
  }

  @Nullable Cursor wanting(long block) {
    return latest(cursor -> cursor.reached <= block && block < cursor.aheadTo);
  }

  /** What cursors want ahead of them; what two of them want is wanted by the one that read last. */
  BlockPieces<Cursor> wanted() {
    BlockPieces<Cursor> wanted = new BlockPieces<>();
    for (int i = byUse.size() - 1; i >= 0; i--) {
      Cursor cursor = byUse.get(i);
      if (cursor.ahead() > 0) {
        BlockRange ahead = new BlockRange(cursor.reached, cursor.aheadTo);
        for (BlockRange part : wanted.missingFrom(ahead)) {
          wanted.add(part, cursor);
        }
      }
    }
    return wanted;
  }

  /** The stream serves a read of so many bytes; the age of cursors is counted in them. */
  void countRead(long bytes) {
    servedBytes += bytes;
    servedReads++;
  }

  /**
   * Gives up cursors that others have served more than so many bytes and reads since. If there are
   * more than {@code most} then, gives up the least recently used of those that never went on from
   * their first read, so that scattered reads do not drive out sequential ones, or that have been
   * idle for 1 MiB and so many reads: columns of a group before the present one; else the least
   * recently used.
   */
  void retire(long bytes, long reads, int most) {
    byUse.removeIf(cursor -> isIdle(cursor, bytes, reads));
    if (byUse.size() > most) {
      int last = byUse.size() - 1;
      int surplus = 0;
      while (surplus < last
          && byUse.get(surplus).continued
          && !isIdle(byUse.get(surplus), IDLE_BYTES, reads)) {
        surplus++;
      }
      byUse.remove(surplus == last ? 0 : surplus);
    }
  }

  private boolean isIdle(Cursor cursor, long bytes, long reads) {
    return servedBytes - cursor.servedAtUse > bytes && servedReads - cursor.readsAtUse > reads;
  }

  /** Makes {@code cursor} the most recently used; adds it if it is new. */
  void use(Cursor cursor) {
    cursor.servedAtUse = servedBytes;
    cursor.readsAtUse = servedReads;
    if (byUse.isEmpty() || !isLatest(cursor)) {
      byUse.remove(cursor);
      byUse.add(cursor);
    }
  }

  boolean isLatest(Cursor cursor) {
    return byUse.get(byUse.size() - 1) == cursor;
  }

  int active() {
    int count = 0;
    for (Cursor cursor : byUse) {
      count += cursor.active ? 1 : 0;
    }
    return count;
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

    /** A read went on where the last one ended, so that its window has had a chance to help. */
    boolean continued;

    /** It prefetches. */
    boolean active;

    /** It is ahead by no more than what it has read: nothing has shown yet that it will go on. */
    boolean earning;

    /** How many blocks its run will have at least, if it is as those before it. */
    long foreseen;

    /** Block that its run is fetched up to, by what is foreseen; none where all is trusted. */
    long foreseenTo;

    /** Blocks of its run that it did not read itself, but the cursor that it was forked from. */
    long readBefore;

    /** The last read touched a block that the cursor did not want before. */
    boolean pastAhead;

    /** {@link #reached} when its reader last had to wait; {@link #startBlock} if it never had. */
    long waitedAt;

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
      this.waitedAt = startBlock;
      this.aheadTo = startBlock;
    }

    /**
     * Moves over a read of {@code [start, end)} that touches {@code blocks}. A read behind the
     * cursor leaves it where it is; whether the read touched a block that none before had.
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

    /** How many blocks its reader has come on since it last had to wait. */
    long sinceWait() {
      return reached - waitedAt;
    }

    /** Wants nothing behind the last block that is {@code ahead}. */
    void wantOnly(Ahead ahead) {
      aheadTo = ahead.until(new BlockRange(reached, aheadTo));
    }

    /** How many blocks it wants that its reader has not come to. */
    long ahead() {
      return aheadTo - reached;
    }

    boolean hasRead(long position) {
      return runStart <= position && position < next;
    }

    boolean isInLastRead(long position) {
      return readStart <= position && position < next;
    }

    /** How many blocks its run has. */
    long read() {
      return reached - startBlock + readBefore;
    }
  }
}
