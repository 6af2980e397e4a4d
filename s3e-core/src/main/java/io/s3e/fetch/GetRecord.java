// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.RequestFailure;
import io.s3e.memory.Purpose;
import java.time.Instant;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * One GET: what it was for, what came of it, and what became of its bytes.
 *
 * <p><b>States.</b> {@code UNSENT → SENT → ANSWERED → DONE}, or {@code FAILED} or {@code CANCELLED}
 * from each but the last; an end is final, whatever the client says later. A GET that ends before
 * its client knows whether it went out may be counted as sent afterwards.
 *
 * <p><b>Bytes.</b> Each byte that came is used, wasted or held. What {@linkplain #keptFrom lands}
 * is one range without a gap, and GETs of one run land apart from each other; so a block that was
 * read, or left memory unread, says for each GET how many of its bytes that were.
 *
 * <p>Any thread; the client's calls for one GET come one after the other. Holds nothing of the
 * stream that caused it.
 */
public final class GetRecord {
  /** How far it has come, or how it ended. */
  public enum State {
    UNSENT,
    SENT,
    ANSWERED,
    DONE,
    FAILED,
    CANCELLED;

    boolean isEnd() {
      return compareTo(ANSWERED) > 0;
    }
  }

  private static final double NANOS_PER_MILLI = 1e6;

  private final ObjectRef object;
  private final ByteRange range;
  private final Enum<?> reason;
  private final int attempt;
  private final long startedMillis = System.currentTimeMillis();
  private final long startedNanos = System.nanoTime();
  private final AtomicLong used = new AtomicLong();
  private final AtomicLong unread = new AtomicLong();
  private volatile State state = State.UNSENT;
  private volatile int sent;
  private volatile long answerNanos;
  private volatile long endNanos;
  private volatile long received;
  private volatile long discarded;
  private volatile long keptFrom;
  private volatile @Nullable String failure;

  /**
   * @param range which bytes of the object are asked for
   * @param reason why: the purpose of its run, or the kind of guess
   * @param attempt which one in a row without a new block, from 1
   */
  GetRecord(ObjectRef object, ByteRange range, Enum<?> reason, int attempt) {
    this.object = object;
    this.range = range;
    this.reason = reason;
    this.attempt = attempt;
    this.keptFrom = range.start();
  }

  /** It has gone out to the store; called again where the client sends it again by itself. */
  synchronized void sent() {
    sent++;
    state = state == State.UNSENT ? State.SENT : state;
  }

  /** The head of an answer was accepted. */
  synchronized void answered() {
    answerNanos = System.nanoTime() - startedNanos;
    state = state.isEnd() ? state : State.ANSWERED;
  }

  /** So many bytes of body have come, and land next. One thread at a time. */
  synchronized void came(long bytes) {
    received += bytes;
  }

  /** So many bytes of those that came last do not land. */
  synchronized void discarded(long bytes) {
    discarded += bytes;
  }

  /** What came before {@code offset} does not land, since it is there already. */
  void keptFrom(long offset) {
    keptFrom = offset;
  }

  /**
   * It has ended.
   *
   * @param why null if in order
   */
  synchronized void ended(@Nullable RequestFailure why) {
    if (!state.isEnd()) {
      endNanos = System.nanoTime() - startedNanos;
      failure = why == null ? null : why.reason();
      boolean isCancel = why != null && why.kind() == RequestFailure.Kind.CANCELLED;
      state = why == null ? State.DONE : isCancel ? State.CANCELLED : State.FAILED;
    }
  }

  /** Somebody has read bytes {@code [from, to)} of the object for the first time. */
  void read(long from, long to) {
    used.addAndGet(landed(from, to));
  }

  /** Bytes {@code [from, to)} of the object are gone, and nobody has read them. */
  void lost(long from, long to) {
    unread.addAndGet(landed(from, to));
  }

  /** How many of the bytes {@code [from, to)} this GET has brought. */
  private synchronized long landed(long from, long to) {
    long end = keptFrom + Math.max(0, received - discarded);
    return Math.max(0, Math.min(to, end) - Math.max(from, keptFrom));
  }

  public ObjectRef object() {
    return object;
  }

  /** Which bytes of the object were asked for. */
  public ByteRange range() {
    return range;
  }

  /** Why it was sent: the purpose of its run, or the kind of guess. */
  public Enum<?> reason() {
    return reason;
  }

  /** What it is, for messages. */
  String subject() {
    return "GET " + range + " of " + object;
  }

  /** Whether nobody waited for it when it was sent. */
  boolean isGuess() {
    return !(reason instanceof Purpose purpose) || purpose == Purpose.GUESS;
  }

  /** Which one in a row without a new block it is, from 1. */
  int attempt() {
    return attempt;
  }

  /** Whether its end is told, or about to be. */
  public boolean hasEnded() {
    return state.isEnd();
  }

  public State state() {
    return state;
  }

  /** How often it went out: more than once where the client has sent it again by itself. */
  public int timesSent() {
    return sent;
  }

  /** Bytes of body that came. */
  public long received() {
    return received;
  }

  /** Bytes of it in blocks that somebody has read, whatever part of them. */
  public long used() {
    return used.get();
  }

  /** Bytes of it that were of no use to anybody. */
  public long wasted() {
    return unread.get() + discarded;
  }

  /** One line. */
  @Override
  public synchronized String toString() {
    State now = state;
    StringBuilder line = new StringBuilder(160);
    line.append(Instant.ofEpochMilli(startedMillis)).append(' ').append(subject()).append(" for ");
    line.append(reason);
    line.append(attempt > 1 ? ", attempt " + attempt : "").append(": ").append(now);
    line.append(now.isEnd() ? " after " + millis(endNanos) : "");
    line.append(answerNanos > 0 ? ", answered after " + millis(answerNanos) : "");
    line.append(", ").append(received).append(" bytes came, ").append(used()).append(" used, ");
    line.append(wasted()).append(" wasted");
    return failure == null ? line.toString() : line.append("; ").append(failure).toString();
  }

  private static String millis(long nanos) {
    return String.format(Locale.ROOT, "%.1f ms", nanos / NANOS_PER_MILLI);
  }
}
