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

  private static final class Account {
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

  private final Map<GuessKind, Account> accounts = new EnumMap<>(GuessKind.class);
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
    Account account = account(kind);
    return account.distrust == 0 || account.opensWhileOff++ % PROBED_OPENS == PROBED_OPENS - 1;
  }

  /** A guess is over. It counts as wasted if more than half of its bytes were. */
  synchronized void settle(GuessKind kind, long usedBytes, long wastedBytes) {
    Account account = account(kind);
    account.usedBytes += usedBytes;
    account.wastedBytes += wastedBytes;
    if (wastedBytes > usedBytes) {
      account.wasted++;
    } else {
      account.used++;
    }
    int part = account.distrust > 0 ? probePart : 1;
    long bytes = periodBytes / part;
    int guesses = periodGuesses / part;
    if (account.wastedBytes > bytes / TOLERATED_PART || account.wasted > guesses / TOLERATED_PART) {
      account.distrust = Math.min(mostDistrust, account.distrust + 1);
      account.failedPeriods++;
      account.begin();
    } else if (account.usedBytes + account.wastedBytes >= bytes
        || account.used + account.wasted >= guesses) {
      account.distrust = Math.max(0, account.distrust - 1);
      account.begin();
    }
  }

  /** 0 while the guesses of a kind come true; the more, the less they do. */
  synchronized int distrust(GuessKind kind) {
    return account(kind).distrust;
  }

  /** How many periods have ended for waste. */
  synchronized int failedPeriods(GuessKind kind) {
    return account(kind).failedPeriods;
  }

  private Account account(GuessKind kind) {
    return accounts.computeIfAbsent(kind, k -> new Account());
  }
}
