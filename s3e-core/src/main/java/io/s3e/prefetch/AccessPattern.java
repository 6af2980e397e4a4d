// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import io.s3e.block.BlockLayout;
import io.s3e.block.ByteRange;
import io.s3e.prefetch.Cursors.Cursor;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The order in which one reader goes through an object, as far as it is known: the word of its
 * opener, its split, how often it jumped, how far predictions have come true, and how long its
 * present run is. The {@link ReadPlanner} decides by it when a cursor may prefetch; others take
 * advice by {@link #isInOrder}, {@link #isScanning}, {@link #mayBeScan}, {@link #looksLikeScan} and
 * {@link #isRandom}.
 *
 * <p><b>Two views.</b> The planner counts jumps, reads that no cursor is near to, and keeps how
 * long the last runs were. Readers keep their present run, its course, and the leaps of more than 4
 * MiB from it: {@link #mayBeScan}, {@link #looksLikeScan} and {@link #isRandom} go by those.
 *
 * <p><b>Threads.</b> Public methods: any thread, no lock. Threads that read at once, each in a
 * place of its own, look like jumps, as they should; a run that one of them has half written is
 * wrong until the next read. All other methods belong to the planner, whose caller serialises them.
 *
 * <p>Refers to nothing of the stream: it outlives one that was forgotten.
 */
public final class AccessPattern {
  /** Jumps in a row after which a stream counts as random, whatever its opener said. */
  private static final int RANDOM_AFTER_JUMPS = 3;

  /** The next run is expected to be as long as the shortest of so many. */
  private static final int REMEMBERED_RUNS = 3;

  /** Longer than the column chunks that are read piece by piece out of a row group, as a rule. */
  private static final long SCAN_BYTES = 32L << 20;

  /** A reader that has come so far will go on as a rule. */
  private static final long IN_ORDER_BYTES = 1 << 20;

  /** A skip or a step back of so many bytes is still the same run. */
  private static final long GAP_BYTES = 256 << 10;

  /** Readers that go to and fro, or backward, stay nearer to their present run. */
  private static final long LEAP_BYTES = 4 << 20;

  /** What the reads since the opening tell of a reader whose opener has said nothing. */
  private enum Course {
    UNREAD,
    /** One run so far, of which no read has gone on behind the one before. */
    ONE_PLACE,
    /** One run so far, from the front of the object or split, or of reads that have gone on. */
    FORWARD,
    /** More runs than one, or a reader that says itself what it will read. */
    SCATTERED
  }

  private final BlockLayout layout;
  final Ledger ledger;

  /** Whether the opener has said which bytes it expects to need, the split. */
  private final boolean hasSplit;

  private final long splitFirst;

  /** Block after the last one that holds a byte of the split. */
  final long splitLimit;

  /** A reader of lines begins a byte before its split, or at the end of the block before. */
  private final long splitStart;

  /** The planner, whose own this is, has seen no read since the stream was opened or reset. */
  private boolean fresh = true;

  /** A cursor has begun where the split begins. */
  private boolean hasBegun;

  /** Bytes of the runs that ended last, in no order; 0 for a run of one read. */
  private final long[] lastRuns = new long[REMEMBERED_RUNS];

  /** Index in {@link #lastRuns} of the one that is forgotten next. */
  private int oldestRun;

  private final ReadPolicy policy;

  /** Written by the planner and its caller alone, read by any thread. */
  private volatile int jumps;

  // Written by readers. The present run of reads that follow each other.
  private volatile long runStart;
  private volatile long runEnd;

  private volatile Course course = Course.UNREAD;

  /** Reads that began far away from the run before. Those that overtake each other get lost. */
  private volatile int leaps;

  private volatile boolean ownOrder;

  AccessPattern(BlockLayout layout, Ledger ledger, ReadPolicy policy, @Nullable ByteRange split) {
    this.layout = layout;
    this.ledger = ledger;
    this.policy = policy;
    this.hasSplit = split != null;
    this.splitFirst = split == null ? 0 : layout.covering(split.start(), split.start() + 1).first();
    // A reader of lines or records takes the one that begins where its split ends.
    this.splitLimit =
        split == null || split.end() >= layout.objectSize()
            ? layout.blocks()
            : layout.covering(0, split.end() + 1).end();
    this.splitStart = split == null ? 0 : Math.max(0, split.start() - layout.blockSize());
  }

  /** The word of the opener, or what it was changed to. */
  public ReadPolicy policy() {
    return policy;
  }

  public void onRead(long start, long end) {
    Course before = course;
    if (before == Course.UNREAD) {
      runStart = start;
      runEnd = end;
      boolean isFront = layout.blockAt(start) - splitFirst <= 1 && start >= splitStart;
      course = isFront ? Course.FORWARD : Course.ONE_PLACE;
      return;
    }
    boolean goesOn = end > runEnd;
    // Calls inside a long block are told once a block, each up to its own end.
    long mostAhead = Math.max(GAP_BYTES, layout.blockSize());
    if (start - runEnd <= mostAhead && runEnd - start <= GAP_BYTES) {
      runEnd = Math.max(runEnd, end);
    } else if (start < runStart || start > runEnd) {
      if (start - runEnd > LEAP_BYTES || runStart - end > LEAP_BYTES) {
        int more = leaps + 1;
        leaps = more;
      }
      runStart = start;
      runEnd = end;
      scatter();
    }
    if (goesOn && course == Course.ONE_PLACE) {
      course = Course.FORWARD;
    }
  }

  /** Other threads read the field often: it is not written in vain. */
  private void scatter() {
    if (course != Course.SCATTERED) {
      course = Course.SCATTERED;
    }
  }

  /**
   * The reader says itself what it will read, by a vectored read or by the layout of its file: it
   * is none that goes from front to end, unless it reads so.
   */
  public void onOwnOrder() {
    if (!ownOrder) {
      ownOrder = true;
    }
    scatter();
  }

  public long runBytes() {
    return runEnd - runStart;
  }

  /** Whether the reader goes forward for the moment. */
  public boolean isInOrder() {
    return isSaidToScan() || hasComeFar();
  }

  /**
   * Whether the reader goes from front to end, and will hardly come back to what it has read: its
   * opener says so, or it has read 32 MiB in a row.
   */
  public boolean isScanning() {
    return isSaidToScan() || runBytes() >= SCAN_BYTES;
  }

  /**
   * Whether it is not known yet how the reader goes: its opener has not said so, and it has read in
   * one place so far, less than what makes a scan.
   */
  public boolean mayBeScan() {
    return course != Course.SCATTERED && policy != ReadPolicy.RANDOM && !isScanning();
  }

  /** Whether a reader that reads no more has gone from front to end, as far as it went. */
  public boolean looksLikeScan() {
    return isScanning() || (course == Course.FORWARD && policy != ReadPolicy.RANDOM);
  }

  /** Whether the reader leaps about, and nothing says what it will read: it may never come back. */
  public boolean isRandom() {
    return leaps >= RANDOM_AFTER_JUMPS && !ownOrder;
  }

  /** Whether the opener announced a reader that goes from front to end, and it does not jump. */
  private boolean isSaidToScan() {
    ReadPolicy word = policy;
    return (word == ReadPolicy.SEQUENTIAL || word == ReadPolicy.WHOLE_FILE) && !countsAsRandom();
  }

  /** Whether the reader has come so far that it will go on as a rule. */
  public boolean hasComeFar() {
    return runBytes() >= IN_ORDER_BYTES;
  }

  /** Whether a reader that reads no more read little of one place, with much more behind it. */
  public boolean hasStoppedSoon() {
    return course == Course.FORWARD
        && policy != ReadPolicy.RANDOM
        && !hasComeFar()
        && layout.startOf(splitLimit - 1) - runEnd >= IN_ORDER_BYTES;
  }

  /** Whether the opener has said anything of what will be read. */
  public boolean isTold() {
    return policy != ReadPolicy.ADAPTIVE || hasSplit;
  }

  /** The stream is as if just opened, except for what has become of earlier predictions. */
  void reset() {
    fresh = true;
  }

  void onPlanned() {
    fresh = false;
  }

  /** A cursor has gone on from block to block, and has come far. */
  void onForward() {
    if (jumps != 0) {
      jumps = 0;
    }
  }

  /** A read is about to begin somewhere else, after a run of so many bytes; 0 for one read. */
  void onRunEnd(long bytes) {
    lastRuns[oldestRun] = bytes;
    oldestRun = (oldestRun + 1) % REMEMBERED_RUNS;
  }

  /** Bytes that the next run will have at least, if it is as those before it. */
  long foreseenRun() {
    return Arrays.stream(lastRuns).min().orElse(0);
  }

  /** A read began somewhere else; true if the stream counts as random from now on. */
  boolean onJump() {
    if (fresh) {
      return false;
    }
    int inRow = jumps + 1;
    jumps = inRow;
    return inRow == RANDOM_AFTER_JUMPS;
  }

  boolean countsAsRandom() {
    return jumps >= RANDOM_AFTER_JUMPS;
  }

  /** Whether the stream has neither jumped about nor wasted what was prefetched. */
  boolean isTrusted() {
    return ledger.distrust() == 0 && !countsAsRandom();
  }

  /** A cursor has begun; true if it prefetches before it has shown anything. */
  boolean onBegin(Cursor cursor) {
    long block = cursor.reached;
    if (cursor.origin != Cursor.CursorStart.JUMP || !isTrusted() || block >= splitLimit) {
      return false;
    }
    long fromSplitStart = block - splitFirst;
    if (policy == ReadPolicy.ADAPTIVE) {
      // A reader of Avro or of sequence files has read the file's header before.
      boolean isFirst = fresh || (hasSplit && !hasBegun);
      boolean isAtStart = Math.abs(fromSplitStart) <= 1;
      hasBegun |= isAtStart;
      return isFirst && isAtStart;
    }
    return fromSplitStart >= -1;
  }

  /** Whether a cursor that has gone on from block to block prefetches. */
  boolean hasShownEnough(Cursor cursor) {
    return cursor.continued
        && (cursor.origin != Cursor.CursorStart.REREAD || cursor.waitedAt > cursor.startBlock);
  }
}
