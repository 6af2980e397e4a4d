// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What became of the guesses of all streams of one table, or of one place, and which kinds of
 * guesses they make: the one place where planners of columns read whether guessing pays. Outlives
 * the streams. Any thread; holds its lock for arithmetic alone.
 *
 * <p><b>On.</b> Each kind is counted over its latest guesses: at {@value #WINDOW_GUESSES} of them,
 * or {@value #WINDOW_BYTES} bytes, all counts are halved. A guess counts as wasted if more than
 * half of its bytes were. A kind goes off when more than one guess in {@value #TOLERATED_PART} is
 * wasted and more than {@value #FREE_GUESSES} are, or more than that part of the bytes and {@value
 * #FREE_BYTES}. Of what a stream leaves unread of a table at its end, {@value #MOST_AT_END} guesses
 * of each kind are counted, and {@value #MOST_BYTES_AT_END} bytes of each: to stop is one mistake,
 * however long the groups are.
 *
 * <p><b>Off.</b> Streams that are open guess that kind no more. One stream in {@value
 * #PROBED_OPENS} that comes to guess it probes; only what probes have guessed is counted then. Few
 * guesses or bytes of which no more than that part was wasted bring the kind back.
 */
public final class TableLedger {
  private static final int TOLERATED_PART = 5;
  private static final int WINDOW_GUESSES = 64;
  private static final long WINDOW_BYTES = 128 << 20;
  private static final int FREE_GUESSES = 6;

  private static final int MOST_AT_END = 2;
  private static final long FREE_BYTES = 12 << 20;
  private static final long MOST_BYTES_AT_END = FREE_BYTES / (FREE_GUESSES + 1);
  private static final int PROBED_OPENS = 16;
  private static final int PROBED_GUESSES = 4;
  private static final long PROBED_BYTES = 8 << 20;

  /** How one stream guesses one kind. */
  private enum Leave {
    /** As long as the kind is on. */
    TRUSTED,
    /** Whether it is on or not. */
    PROBE,
    /** Not at all: the kind was off. */
    NONE
  }

  private static final class Tally {
    private long usedBytes;
    private long wastedBytes;
    private int used;
    private int wasted;
    private boolean isOff;
    private int opensWhileOff;

    private void add(long usedNow, long wastedNow, int guesses) {
      usedBytes += usedNow;
      wastedBytes += wastedNow;
      boolean isWasted = wastedNow > usedNow;
      wasted += isWasted ? guesses : 0;
      used += isWasted ? 0 : guesses;
    }

    private boolean wastes(int freeGuesses, long freeBytes) {
      return (wasted > freeGuesses && TOLERATED_PART * wasted > used + wasted)
          || (wastedBytes > freeBytes && TOLERATED_PART * wastedBytes > usedBytes + wastedBytes);
    }

    private boolean holds(int guesses, long bytes) {
      return used + wasted >= guesses || usedBytes + wastedBytes >= bytes;
    }

    private void keep(int part) {
      usedBytes /= part;
      wastedBytes /= part;
      used /= part;
      wasted /= part;
    }

    private void turn(boolean off) {
      isOff = off;
      keep(Integer.MAX_VALUE);
    }
  }

  private final Map<GuessKind, Tally> tallies = new EnumMap<>(GuessKind.class);

  /** The guesses of one stream; for one thread at a time. */
  public final class OfStream implements GuessJudge {
    private final Map<GuessKind, Leave> leaves = new EnumMap<>(GuessKind.class);

    /** Wasted guesses since the stream was ending, by kind; null if it is not. */
    private @Nullable Map<GuessKind, Integer> wasted;

    /** Bytes of the present group that may still be counted as wasted at the stream's end. */
    private long freeAtEnd;

    private OfStream() {}

    /** As {@link #mayGuess}; the stream goes on. */
    public boolean admits(GuessKind kind) {
      wasted = null;
      return mayGuess(kind);
    }

    public boolean mayGuess(GuessKind kind) {
      Leave leave = leaves.computeIfAbsent(kind, TableLedger.this::admit);
      return leave == Leave.PROBE || (leave == Leave.TRUSTED && isOn(kind));
    }

    /** The stream stops: few of what is wasted from now on is counted. */
    public void ends() {
      wasted = new EnumMap<>(GuessKind.class);
      freeAtEnd = FREE_BYTES;
    }

    @Override
    public void settle(GuessKind kind, long usedBytes, long wastedBytes) {
      if (wasted == null || wastedBytes <= usedBytes) {
        settle(kind, usedBytes, wastedBytes, true);
      } else if (wasted.merge(kind, 1, Integer::sum) <= MOST_AT_END) {
        settle(kind, usedBytes, Math.min(wastedBytes, MOST_BYTES_AT_END), true);
      }
    }

    /**
     * As {@link #settle}, of columns of the group that the stream is in. At its end all that it
     * leaves of them counts, up to what is free: one reader that does so has stopped there, two do
     * not want those columns.
     */
    public void settlePresent(GuessKind kind, long usedBytes, long wastedBytes) {
      if (wasted == null || wastedBytes <= usedBytes) {
        settle(kind, usedBytes, wastedBytes, true);
        return;
      }
      long counted = Math.min(wastedBytes, freeAtEnd);
      freeAtEnd -= counted;
      settle(kind, usedBytes, counted, wasted.merge(kind, 1, Integer::sum) <= MOST_AT_END);
    }

    private void settle(GuessKind kind, long usedBytes, long wastedBytes, boolean isCounted) {
      boolean isProbe = leaves.get(kind) == Leave.PROBE;
      TableLedger.this.settle(kind, usedBytes, wastedBytes, isCounted ? 1 : 0, isProbe);
    }
  }

  public OfStream ofStream() {
    return new OfStream();
  }

  private synchronized Leave admit(GuessKind kind) {
    Tally tally = tally(kind);
    if (!tally.isOff) {
      return Leave.TRUSTED;
    }
    tally.opensWhileOff++;
    return tally.opensWhileOff % PROBED_OPENS == 0 ? Leave.PROBE : Leave.NONE;
  }

  synchronized boolean isOn(GuessKind kind) {
    return !tally(kind).isOff;
  }

  private synchronized void settle(
      GuessKind kind, long usedBytes, long wastedBytes, int guesses, boolean isProbe) {
    Tally tally = tally(kind);
    if (!tally.isOff) {
      tally.add(usedBytes, wastedBytes, guesses);
      if (tally.wastes(FREE_GUESSES, FREE_BYTES)) {
        tally.turn(true);
      } else if (tally.holds(WINDOW_GUESSES, WINDOW_BYTES)) {
        tally.keep(2);
      }
    } else if (isProbe) {
      tally.add(usedBytes, wastedBytes, guesses);
      if (tally.wastes(0, PROBED_BYTES / TOLERATED_PART)) {
        tally.turn(true);
      } else if (tally.holds(PROBED_GUESSES, PROBED_BYTES)) {
        tally.turn(false);
      }
    }
  }

  private Tally tally(GuessKind kind) {
    return tallies.computeIfAbsent(kind, each -> new Tally());
  }
}
