package io.s3e.columnar;

import io.s3e.metrics.EngineMetrics.Counter;
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
    TAIL(Counter.COLUMNAR_TAIL_USED_BYTES, Counter.COLUMNAR_TAIL_WASTED_BYTES),
    /** Column chunks or streams, of the present group and of those that follow. */
    GROUP(Counter.COLUMNAR_GROUP_USED_BYTES, Counter.COLUMNAR_GROUP_WASTED_BYTES),
    /** Column chunks of a file whose footer is not known, where files beside it have theirs. */
    ALIKE(Counter.COLUMNAR_GROUP_USED_BYTES, Counter.COLUMNAR_GROUP_WASTED_BYTES),
    DICTIONARY(Counter.COLUMNAR_DICTIONARY_USED_BYTES, Counter.COLUMNAR_DICTIONARY_WASTED_BYTES),
    BLOOM_FILTER(
        Counter.COLUMNAR_BLOOM_FILTER_USED_BYTES, Counter.COLUMNAR_BLOOM_FILTER_WASTED_BYTES),
    /** Page indexes; the row indexes of ORC. */
    INDEX(Counter.COLUMNAR_INDEX_USED_BYTES, Counter.COLUMNAR_INDEX_WASTED_BYTES),
    STRIPE_FOOTER(
        Counter.COLUMNAR_STRIPE_FOOTER_USED_BYTES, Counter.COLUMNAR_STRIPE_FOOTER_WASTED_BYTES);

    private final Counter used;
    private final Counter wasted;

    Kind(Counter used, Counter wasted) {
      this.used = used;
      this.wasted = wasted;
    }

    /** The counter of their bytes that were read. */
    Counter used() {
      return used;
    }

    /** The counter of their bytes that nobody came to read. */
    Counter wasted() {
      return wasted;
    }
  }

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

  /** Whether the kind is guessed by all streams. */
  synchronized boolean isOn(Kind kind) {
    return !account(kind).off;
  }

  private Account account(Kind kind) {
    return accounts.computeIfAbsent(kind, k -> new Account());
  }
}
