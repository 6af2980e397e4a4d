package io.s3e.prefetch;

import java.util.EnumMap;
import java.util.Map;

/**
 * What became of guesses, by kind, and how far each kind is to be distrusted: the one place where
 * planners read whether guessing pays. One ledger belongs to one stream (its {@link
 * GuessKind#WINDOW}), or to one table or place, and outlives the streams then. Any thread; holds
 * its lock for arithmetic alone.
 *
 * <p><b>Periods.</b> Each kind is counted in periods of a number of bytes or guesses, whichever is
 * reached first. A period that wastes more than one part in {@value #TOLERATED_PART} of either ends
 * at once and adds one level of distrust; one that ends otherwise takes one level away.
 *
 * <p><b>Of a table</b> there is one level: a kind is guessed or not, in periods of {@value
 * #TABLE_BYTES} bytes or {@value #TABLE_GUESSES} guesses. While it is not, one stream in {@value
 * #PROBED_OPENS} guesses all the same, and periods are an {@value #PROBE_PART}th as long.
 */
public final class Ledger {
  /** Each level doubles the evidence that a stream asks for before it guesses. */
  private static final int MOST_OF_STREAM = 3;

  private static final int TOLERATED_PART = 5;
  private static final long TABLE_BYTES = 64 << 20;
  private static final int TABLE_GUESSES = 32;
  private static final int PROBED_OPENS = 16;
  private static final int PROBE_PART = 8;

  private static final class Score {
    private long usedBytes;
    private long wastedBytes;
    private int used;
    private int wasted;
    private int distrust;
    private int failedPeriods;
    private int opensWhileOff;

    private void begin() {
      usedBytes = 0;
      wastedBytes = 0;
      used = 0;
      wasted = 0;
    }
  }

  private final Map<GuessKind, Score> scores = new EnumMap<>(GuessKind.class);
  private final long periodBytes;
  private final int periodGuesses;
  private final int mostDistrust;
  private final int probePart;

  private Ledger(long periodBytes, int periodGuesses, int mostDistrust, int probePart) {
    this.periodBytes = periodBytes;
    this.periodGuesses = periodGuesses;
    this.mostDistrust = mostDistrust;
    this.probePart = probePart;
  }

  /** Of one stream, in periods of so many bytes. */
  public static Ledger ofStream(long periodBytes) {
    return new Ledger(periodBytes, Integer.MAX_VALUE, MOST_OF_STREAM, 1);
  }

  /** Of all streams of one table, or of one place. */
  public static Ledger ofTable() {
    return new Ledger(TABLE_BYTES, TABLE_GUESSES, 1, PROBE_PART);
  }

  /** Whether a stream may guess; asked once by each stream and kind, when it first could. */
  public synchronized boolean admits(GuessKind kind) {
    Score score = score(kind);
    return score.distrust == 0 || score.opensWhileOff++ % PROBED_OPENS == PROBED_OPENS - 1;
  }

  /** A guess is over. It counts as wasted if more than half of its bytes were. */
  synchronized void settle(GuessKind kind, long usedBytes, long wastedBytes) {
    Score score = score(kind);
    score.usedBytes += usedBytes;
    score.wastedBytes += wastedBytes;
    if (wastedBytes > usedBytes) {
      score.wasted++;
    } else {
      score.used++;
    }
    int part = score.distrust > 0 ? probePart : 1;
    long bytes = periodBytes / part;
    int guesses = periodGuesses / part;
    if (score.wastedBytes > bytes / TOLERATED_PART || score.wasted > guesses / TOLERATED_PART) {
      score.distrust = Math.min(mostDistrust, score.distrust + 1);
      score.failedPeriods++;
      score.begin();
    } else if (score.usedBytes + score.wastedBytes >= bytes
        || score.used + score.wasted >= guesses) {
      score.distrust = Math.max(0, score.distrust - 1);
      score.begin();
    }
  }

  /** 0 while the guesses of a kind come true; the more, the less they do. */
  synchronized int distrust(GuessKind kind) {
    return score(kind).distrust;
  }

  /** How many periods have ended for waste. */
  synchronized int failedPeriods(GuessKind kind) {
    return score(kind).failedPeriods;
  }

  private Score score(GuessKind kind) {
    return scores.computeIfAbsent(kind, k -> new Score());
  }
}
