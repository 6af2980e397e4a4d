// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.ByteRange;
import io.s3e.prefetch.AccessPattern;
import io.s3e.prefetch.ReaderHabit;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * How far the reader of one opening has come: where and when it last came to another block, and how
 * it goes through the object. Advice on its runs and on their blocks, for those who keep them:
 * which slab is still waited for, which block is worth a place on disk.
 *
 * <p><b>Withheld.</b> What came before it is known how the reader goes is judged when that is
 * known: once the reader has read in a second place, has read 32 MiB in a row, or has been closed.
 * Who withholds bytes adds them and looks afterwards whether it is known; who makes it known looks
 * for withheld bytes afterwards; each bytes are judged once, by one of the two.
 *
 * <p>Any thread, no lock: each answer is right for a moment, and two of them may be of different
 * reads. Runs hold it, so it refers to nothing of the stream: one that was forgotten can be
 * collected.
 */
public final class ReaderProgress {
  /** After so many bytes in a row from disk, the rest will be there too. */
  private static final long ALL_ON_DISK_BYTES = 8 << 20;

  /** Of a run, the bytes whose time tells {@link #habit} how fast its reader is; once for each. */
  private static final ByteRange TIMED = new ByteRange(4 << 20, 12 << 20);

  final AccessPattern pattern;
  private final ReaderHabit habit;
  private final Queue<Runnable> withheld = new ConcurrentLinkedQueue<>();
  volatile boolean closed;
  volatile long lastReadNanos = System.nanoTime();

  /** Bytes that came from disk since one was not there. Reads that overtake each other get lost. */
  private volatile long fromDiskBytes;

  private volatile long timedNanos = lastReadNanos;
  private volatile long timedFrom;

  private volatile boolean isTimed;

  public ReaderProgress(AccessPattern pattern, ReaderHabit habit) {
    this.pattern = pattern;
    this.habit = habit;
  }

  /** The reader has come to another block, for which it reads {@code [start, end)}. */
  public void onRead(long start, long end) {
    lastReadNanos = System.nanoTime();
    pattern.onRead(start, end);
    judgeWithheld();
    long run = pattern.runBytes();
    if (pattern.isTold() && pattern.hasComeFar()) {
      habit.stoppedSoon(false);
    }
    if (run <= Math.max(TIMED.start(), end - start)) {
      timedNanos = lastReadNanos;
      timedFrom = run;
    } else if (run >= TIMED.end() && run > timedFrom && !isTimed) {
      isTimed = true;
      habit.took(run - timedFrom, lastReadNanos - timedNanos);
    }
  }

  public void onOwnOrder() {
    pattern.onOwnOrder();
    judgeWithheld();
  }

  void closed() {
    closed = true;
    if (pattern.isTold() && pattern.hasStoppedSoon()) {
      habit.stoppedSoon(true);
    }
    judgeWithheld();
  }

  /** Runs {@code judge}, which must not block, once it is known how the reader goes; maybe now. */
  void withhold(Runnable judge) {
    withheld.add(judge);
    judgeWithheld();
  }

  private void judgeWithheld() {
    if (withheld.isEmpty() || (pattern.mayBeScan() && !closed)) {
      return;
    }
    for (Runnable next = withheld.poll(); next != null; next = withheld.poll()) {
      next.run();
    }
  }

  /** The reader has taken so many bytes from disk; 0 if what it asks for next is not there. */
  void onDisk(long bytes) {
    long before = fromDiskBytes;
    if (bytes > 0 || before > 0) {
      fromDiskBytes = bytes > 0 ? before + bytes : 0;
    }
  }

  /** Whether the reader finds all on disk lately, and is no scan: a gap it asks for itself. */
  public boolean isServedByDisk() {
    return fromDiskBytes >= ALL_ON_DISK_BYTES && !pattern.isScanning();
  }
}
