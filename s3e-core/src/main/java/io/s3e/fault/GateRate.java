// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

import io.s3e.fault.Gate.Outcome;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;

/**
 * The arithmetic of a {@link Gate}: answers and time in, permission out. It draws no time, takes no
 * lock and knows no waiter. All times are in ns, by one clock.
 *
 * <p><b>States.</b>
 *
 * <pre>
 *   FREE --(more than 15 of the last 100 answers are throttles)--&gt; LIMITED
 *   FREE, LIMITED --(bad answers alone for 1 s, 3 at least)--&gt; SHUT
 *   SHUT --(a good answer)--&gt; LIMITED --(as many in flight as before, and 100 answers)--&gt; FREE
 * </pre>
 *
 * <p>An answer is <i>bad</i> if it is {@link Outcome#THROTTLED} or {@link Outcome#UNAVAILABLE}.
 *
 * <p><b>The limit</b> of requests in flight exists in LIMITED alone; docs/adr/0018-gate.md has its
 * numbers and their reasons. More than 15 throttles in 100 answers since the last cut cut it. It
 * grows by one in as many good answers as it allows in flight; below what was in flight before the
 * storm by one with each, once {@value #CLEAN_ANSWERS} answers in a row were no throttles, or after
 * SHUT at once. Guesses leave an eighth of it to demand.
 *
 * <p><b>Tokens.</b> Each retry takes one of {@value #BURST}; each good answer gives 0.3 back, one
 * that names another place a whole one, and each second {@value #TOKENS_A_SECOND}, but in doubt.
 * <i>In doubt</i>, after {@value #DOUBT} bad answers in a row, requests that are no retries take
 * one too, and guesses are refused. After SHUT the limit alone spreads those that wait.
 *
 * <p><b>Probes.</b> In SHUT one request passes in a second, whatever becomes of the one before.
 *
 * <p><b>Passes.</b> Who passes LIMITED or SHUT sends a little later, or not at all. Its pass counts
 * as in flight until a request is sent, and for {@value #PASS_MILLIS} ms at most.
 *
 * <p>Invariants: {@code 0 <= inFlight}, {@code 0 <= tokens <= BURST}, {@code limit >= LEAST_LIMIT}.
 */
final class GateRate {
  /** The reason for which somebody wants to send. */
  enum WaiterKind {
    /** A reader waits for the first answer. */
    DEMAND,
    /** A request has failed and is to be sent again. */
    RETRY
  }

  private enum State {
    FREE,
    LIMITED,
    SHUT
  }

  private static final int ANSWERS = 100;
  private static final int MOST_THROTTLES = 15;
  private static final double CUT = 0.7;
  private static final int CLEAN_ANSWERS = 20;

  /** A store that lets nobody do so much in one go is not worth a gentler approach. */
  private static final int LEAST_LIMIT = 4;

  private static final int GUESS_RESERVE_SHARE = 8;
  private static final int BURST = 50;
  private static final double TOKENS_A_SUCCESS = 0.3;
  private static final int TOKENS_A_SECOND = 10;
  private static final int DOUBT = 3;
  private static final int PASS_MILLIS = 100;
  private static final long PASS_NANOS = TimeUnit.MILLISECONDS.toNanos(PASS_MILLIS);
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private State state = State.FREE;
  private int inFlight;

  /** The most in flight during the present hundred of requests sent in FREE, and the one before. */
  private int peak;

  private int peakBefore;
  private int sentOfPeak;
  private double limit;

  /** What was in flight before the limit came. */
  private int usual;

  /** Whether the limit came from SHUT, and has not been cut since. */
  private boolean recovering;

  /** Throttles among the last answers since the last cut. */
  private final BitSet throttles = new BitSet(ANSWERS);

  private int answers;
  private int nextAnswer;
  private int clean;
  private int badInRow;
  private long rowSince;
  private double tokens = BURST;
  private long refilledAt;
  private int passes;
  private long passedAt;
  private long probedAt;

  /** Whether any request passes: nothing is counted then but what is sent. */
  boolean isOpen() {
    return state == State.FREE && badInRow < DOUBT;
  }

  /** Whether the store has refused everybody of late, or is about to be taken to. */
  boolean isInDoubt() {
    return state == State.SHUT || badInRow >= DOUBT;
  }

  boolean isShut(long now) {
    settle(now);
    return state == State.SHUT;
  }

  /** How many may be in flight; {@link Integer#MAX_VALUE} if any number. */
  int limit() {
    return switch (state) {
      case FREE -> Integer.MAX_VALUE;
      case LIMITED -> (int) limit;
      case SHUT -> 0;
    };
  }

  /** Whether nothing of the past matters to those that come. */
  boolean isIdle() {
    return isOpen() && inFlight == 0;
  }

  boolean admitsGuess(long now, int unsent) {
    settle(now);
    int reserve = Math.max(1, limit() / GUESS_RESERVE_SHARE);
    return !isInDoubt() && inFlight + passes + unsent < limit() - reserve;
  }

  boolean pass(WaiterKind kind, long now) {
    settle(now);
    if (state == State.SHUT) {
      if (passes > 0 || now - probedAt < SECOND) {
        return false;
      }
    } else {
      boolean needsToken = badInRow >= DOUBT || (kind == WaiterKind.RETRY && !recovering);
      if ((needsToken && tokens < 1)
          || (state == State.LIMITED && inFlight + passes >= (int) limit)) {
        return false;
      }
      tokens -= needsToken ? 1 : 0;
    }
    if (state != State.FREE) {
      passedAt = passes++ == 0 ? now : passedAt;
    }
    return true;
  }

  /** The retry that took a pass has no use for it: what it paid, if it did, is the next one's. */
  void passUnused() {
    used();
    boolean hasPaid = state != State.SHUT && (badInRow >= DOUBT || !recovering);
    tokens = Math.min(BURST, tokens + (hasPaid ? 1 : 0));
  }

  private void used() {
    passes = Math.max(0, passes - 1);
  }

  /** A request is sent; whether it is a probe. */
  boolean sent(long now) {
    settle(now);
    inFlight++;
    used();
    if (state == State.FREE) {
      if (++sentOfPeak > ANSWERS) {
        peakBefore = peak;
        peak = 0;
        sentOfPeak = 1;
      }
      peak = Math.max(peak, inFlight);
    }
    if (state == State.SHUT) {
      probedAt = now;
    }
    return state == State.SHUT;
  }

  void ended(Outcome outcome, long now) {
    if (inFlight == 0) {
      throw new IllegalStateException("more requests over than sent");
    }
    inFlight--;
    switch (outcome) {
      case ANSWERED -> good();
      case MOVED -> {
        good();
        tokens = Math.min(BURST, tokens + 1);
      }
      case THROTTLED -> {
        bad(now);
        throttled();
      }
      case UNAVAILABLE -> bad(now);
      case CANCELLED -> {
        // It says nothing of the store.
      }
    }
    settle(now);
  }

  private void good() {
    badInRow = 0;
    tokens = Math.min(BURST, tokens + TOKENS_A_SUCCESS);
    if (state == State.SHUT) {
      limitTo(LEAST_LIMIT);
      recovering = true;
      clean = CLEAN_ANSWERS;
    }
    remember(false);
    clean++;
    if (state == State.LIMITED) {
      grow();
    }
  }

  private void grow() {
    if (limit < usual && clean > CLEAN_ANSWERS) {
      limit++;
    } else if (!isThrottling()) {
      limit += 1 / limit;
    }
    if (limit >= usual && answers == ANSWERS) {
      become(State.FREE);
      recovering = false;
      forgetAnswers();
    }
  }

  private void bad(long now) {
    if (badInRow++ == 0) {
      rowSince = now;
    }
  }

  private void throttled() {
    clean = 0;
    remember(true);
    if (state != State.SHUT && answers == ANSWERS && isThrottling()) {
      limitTo(CUT * (state == State.LIMITED ? limit : inFlight + 1));
      recovering = false;
    }
  }

  /** From now on there are no more than so many in flight; answers are counted anew. */
  private void limitTo(double most) {
    become(State.LIMITED);
    limit = Math.max(LEAST_LIMIT, most);
    forgetAnswers();
  }

  private void forgetAnswers() {
    throttles.clear();
    answers = 0;
    nextAnswer = 0;
  }

  private void become(State next) {
    if (state == State.FREE) {
      usual = Math.max(peak, peakBefore);
    }
    state = next;
    passes = 0;
  }

  private void remember(boolean throttled) {
    throttles.set(nextAnswer, throttled);
    nextAnswer = (nextAnswer + 1) % ANSWERS;
    answers = Math.min(ANSWERS, answers + 1);
  }

  private boolean isThrottling() {
    return throttles.cardinality() * ANSWERS > MOST_THROTTLES * answers;
  }

  /** Lets time do what it does by itself. */
  private void settle(long now) {
    if (badInRow < DOUBT) {
      double gained = (double) (now - refilledAt) * TOKENS_A_SECOND / SECOND;
      tokens = Math.min(BURST, tokens + Math.max(0, gained));
    }
    refilledAt = now;
    if (passes > 0 && now - passedAt > PASS_NANOS) {
      passes = 0;
    }
    if (state != State.SHUT && badInRow >= DOUBT && now - rowSince >= SECOND) {
      become(State.SHUT);
      probedAt = now - SECOND;
    }
  }
}
