package io.s3e.columnar;

import java.util.EnumMap;
import java.util.Map;

/**
 * What became of the guesses for one table, by kind, and which kinds are worth guessing. Kept
 * across streams. Any thread; holds its lock for arithmetic alone.
 *
 * <p>Each kind is counted in periods of {@value #PERIOD_BYTES} bytes or {@value #PERIOD_GUESSES}
 * guesses, whichever is reached first. A period that wastes more than one part in {@value
 * #TOLERATED_PART} of either ends at once, and switches the kind off. While it is off, one stream
 * in {@value #PROBED_OPENS} guesses all the same; a period of these, an {@value #PROBE_PART}th as
 * long, that wastes no more switches it on again.
 */
final class Ledger {
  /** The kinds of guesses. */
  enum Kind {
    /** The end of a file, at its first read there. */
    TAIL,
    /** Column chunks or streams, of the present group and of those that follow. */
    GROUP,
    DICTIONARY,
    BLOOM_FILTER,
    /** Page indexes; the row indexes of ORC. */
    INDEX,
    STRIPE_FOOTER
  }

  /** What became of the guesses of a kind, since the ledger began. */
  record Totals(long usedBytes, long wastedBytes) {}

  private static final long PERIOD_BYTES = 64 << 20;
  private static final int PERIOD_GUESSES = 32;
  private static final int TOLERATED_PART = 5;
  private static final int PROBED_OPENS = 16;
  private static final int PROBE_PART = 8;

  private static final class Account {
    private long usedBytes;
    private long wastedBytes;
    private int used;
    private int wasted;
    private boolean off;
    private int opensWhileOff;
    private long usedInAll;
    private long wastedInAll;

    private void begin() {
      usedBytes = 0;
      wastedBytes = 0;
      used = 0;
      wasted = 0;
    }
  }

  private final Map<Kind, Account> accounts = new EnumMap<>(Kind.class);

  /** Whether a stream may guess; asked once by each stream and kind, when it first could. */
  synchronized boolean admits(Kind kind) {
    Account account = account(kind);
    return !account.off || account.opensWhileOff++ % PROBED_OPENS == PROBED_OPENS - 1;
  }

  /** A guess is over. It counts as wasted if more than half of its bytes were. */
  synchronized void settle(Kind kind, long usedBytes, long wastedBytes) {
    Account account = account(kind);
    account.usedInAll += usedBytes;
    account.wastedInAll += wastedBytes;
    account.usedBytes += usedBytes;
    account.wastedBytes += wastedBytes;
    if (wastedBytes > usedBytes) {
      account.wasted++;
    } else {
      account.used++;
    }
    int part = account.off ? PROBE_PART : 1;
    long periodBytes = PERIOD_BYTES / part;
    int periodGuesses = PERIOD_GUESSES / part;
    if (account.wastedBytes > periodBytes / TOLERATED_PART
        || account.wasted > periodGuesses / TOLERATED_PART) {
      account.off = true;
      account.begin();
    } else if (account.usedBytes + account.wastedBytes >= periodBytes
        || account.used + account.wasted >= periodGuesses) {
      account.off = false;
      account.begin();
    }
  }

  synchronized Totals totals(Kind kind) {
    Account account = account(kind);
    return new Totals(account.usedInAll, account.wastedInAll);
  }

  /** Whether the kind is guessed by all streams. */
  synchronized boolean isOn(Kind kind) {
    return !account(kind).off;
  }

  private Account account(Kind kind) {
    return accounts.computeIfAbsent(kind, k -> new Account());
  }
}
