package io.s3e.prefetch;

import io.s3e.block.BlockRange;

/**
 * One sequential reader inside a stream: where it is, how far it has asked ahead and how large its
 * window is. Not thread-safe.
 *
 * <p>Invariants: {@code reached <= asked}; {@code next}, {@code reached} never go back.
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

  /** First block at or after {@link #reached} that it has not asked for. */
  long asked;

  /** First block before {@link #asked} that was lost and is to be asked for again. */
  private long lostFrom = Long.MAX_VALUE;

  /** Blocks asked for again because they were lost. */
  long askedAgain;

  /** Block of its first read. */
  final long startBlock;

  /** Block up to which the plan that is being made wants to ask. */
  long claimed;

  /** How far to be ahead of {@link #reached}, in blocks; meaningful once {@link #active}. */
  long windowBlocks;

  /** Refusals have made its requests at least so long, in blocks. */
  long leastRequest;

  /** Reads that went on where the last one ended, into a block not touched before. */
  int crossings;

  /** It prefetches. */
  boolean active;

  /** A reader had to wait at this cursor. */
  boolean stalled;

  /** A request was refused; nothing is asked for until the reader reaches another block. */
  boolean held;

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
    this.asked = startBlock;
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
    reached = blocks.end();
    asked = Math.max(asked, reached);
    held = false;
    return true;
  }

  /** Blocks that were asked for from {@code block} on did not come, as far as they are not out. */
  void lose(long block) {
    lostFrom = Math.min(lostFrom, block);
  }

  /** Asks up to {@code block}, and again for what was lost before it. */
  void askTo(long block) {
    if (block < asked) {
      lostFrom = block;
    } else {
      asked = block;
      lostFrom = Long.MAX_VALUE;
    }
  }

  /** First block that it has to ask for. */
  long due() {
    return Math.max(reached, Math.min(lostFrom, asked));
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
