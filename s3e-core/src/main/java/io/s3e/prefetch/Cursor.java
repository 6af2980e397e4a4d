package io.s3e.prefetch;

import io.s3e.block.BlockRange;

/**
 * One sequential reader inside a stream: where it is, how far ahead it wants blocks and how large
 * its window is. Not thread-safe.
 *
 * <p>Invariants: {@code reached <= aheadTo}; {@code next}, {@code reached} never go back.
 */
final class Cursor {
  /** How a cursor comes to be. */
  enum Origin {
    /** A read where no other cursor is. */
    JUMP,
    /** A read of what another cursor had prefetched. */
    FORK,
    /** A read of what another cursor had read: memory probably still holds that. */
    REREAD
  }

  final Origin origin;

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

  Cursor(long start, long startBlock, Origin origin) {
    this.runStart = start;
    this.origin = origin;
    this.readStart = start;
    this.next = start;
    this.startBlock = startBlock;
    this.reached = startBlock;
    this.aheadTo = startBlock;
  }

  /**
   * Moves over a read of {@code [start, end)} that touches {@code blocks}. A read behind the cursor
   * leaves it where it is.
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
