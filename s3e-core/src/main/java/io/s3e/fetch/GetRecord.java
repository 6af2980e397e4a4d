// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.GetRequest;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHead;
import io.s3e.memory.Purpose;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One GET: what it was for, what came of it, and what became of its bytes.
 *
 * <p><b>States.</b> {@code UNSENT → SENT → ANSWERED → DONE}, or {@code FAILED} or {@code CANCELLED}
 * from each but the last; an end is final, whatever the client says later.
 *
 * <p><b>Bytes.</b> Each byte that came is used, wasted or held. What {@linkplain #keptFrom lands}
 * is one range without a gap, and GETs of one run land apart from each other; so a block that was
 * read, or left memory unread, says for each GET how many of its bytes that were.
 *
 * <p><b>Settled</b> it is when it has ended, its client has said its last word, and each byte is
 * used or wasted. The ledger is told then, and again if the client says later that it went out;
 * without the record's lock, since a sink may ask for the record on another thread.
 *
 * <p>Any thread; the client's calls for one GET come one after the other. Holds no stream.
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

  /** The holder of the tenant's blocks, its stream's number, and the opener's label of that. */
  record Reader(Object tenant, long stream, @Nullable String label) {}

  private static final double NANOS_PER_MILLI = 1e6;

  private final @Nullable Consumer<GetRecord> settled;
  private final long id;
  private final ObjectRef object;
  private final ByteRange range;
  final Reader reader;
  private final Enum<?> reason;

  /** Which one in a row without a new block it is, from 1. */
  final int attempt;

  private final long startedMillis = System.currentTimeMillis();
  private final long startedNanos = System.nanoTime();
  private volatile State state = State.UNSENT;
  private volatile int sent;
  private volatile long answerNanos;
  private volatile long endNanos;
  private volatile long received;
  private volatile long used;
  private volatile long wasted;
  private volatile long discarded;
  private volatile long keptFrom;
  private volatile boolean isClientThrough;

  /** How often it had gone out when it was told last; −1 if it was not. Guarded by this. */
  private int toldSent = -1;

  private volatile @Nullable String etag;
  private volatile @Nullable String requestId;
  private volatile @Nullable String failure;

  /**
   * @param settled told of it when it is; null if that is of no use
   * @param reason why: the purpose of its run, or the kind of guess
   * @param attempt which one in a row without a new block, from 1
   */
  GetRecord(
      @Nullable Consumer<GetRecord> settled,
      long id,
      GetRequest request,
      Reader by,
      Enum<?> reason,
      int attempt) {
    this.settled = settled;
    this.id = id;
    this.object = request.object();
    this.range = request.range();
    this.etag = request.etag();
    this.reader = by;
    this.reason = reason;
    this.attempt = attempt;
    this.keptFrom = range.start();
  }

  /** It has gone out to the store; called again where the client sends it again by itself. */
  void sent() {
    synchronized (this) {
      sent++;
      state = state == State.UNSENT ? State.SENT : state;
    }
    tellIfSettled();
  }

  /** The head of an answer was accepted. */
  synchronized void answered(ResponseHead head) {
    answerNanos = System.nanoTime() - startedNanos;
    etag = etag == null ? head.etag() : etag;
    requestId = head.requestId();
    state = state.isEnd() ? state : State.ANSWERED;
  }

  /** So many bytes of body have come, and land next. One thread at a time. */
  synchronized void came(long bytes) {
    received += bytes;
  }

  /** So many bytes of those that came last do not land. */
  void discarded(long bytes) {
    synchronized (this) {
      discarded += bytes;
      wasted += bytes;
    }
    tellIfSettled();
  }

  /** What came before {@code offset} does not land, since it is there already. */
  void keptFrom(long offset) {
    keptFrom = offset;
  }

  /** It has ended; {@code why} is null if in order. */
  void ended(@Nullable RequestFailure why) {
    synchronized (this) {
      if (!state.isEnd()) {
        endNanos = System.nanoTime() - startedNanos;
        failure = why == null ? null : why.reason();
        boolean isCancel = why != null && why.kind() == RequestFailure.Kind.CANCELLED;
        state = why == null ? State.DONE : isCancel ? State.CANCELLED : State.FAILED;
      }
    }
    tellIfSettled();
  }

  /** The client says nothing more of it, but perhaps that it has gone out. */
  void clientIsThrough() {
    isClientThrough = true;
    tellIfSettled();
  }

  /** Somebody has read bytes {@code [from, to)} of the object for the first time. */
  void read(long from, long to) {
    synchronized (this) {
      used += landed(from, to);
    }
    tellIfSettled();
  }

  /** Bytes {@code [from, to)} of the object are gone, and nobody has read them. */
  void lost(long from, long to) {
    synchronized (this) {
      wasted += landed(from, to);
    }
    tellIfSettled();
  }

  private void tellIfSettled() {
    if (settled != null && markTold()) {
      settled.accept(this);
    }
  }

  private synchronized boolean markTold() {
    boolean isTold =
        state.isEnd() && isClientThrough && used + wasted == received && toldSent != sent;
    toldSent = isTold ? sent : toldSent;
    return isTold;
  }

  /** How many of the bytes {@code [from, to)} this GET has brought. */
  private long landed(long from, long to) {
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

  /** Whether it is of use what becomes of its bytes. */
  boolean isKept() {
    return settled != null;
  }

  /** What it is, for messages. */
  String subject() {
    return "GET " + range + " of " + object;
  }

  /** Whether nobody waited for it when it was sent. */
  boolean isGuess() {
    return !(reason instanceof Purpose purpose) || purpose == Purpose.GUESS;
  }

  /** Whether its end is told, or about to be. */
  public boolean hasEnded() {
    return state.isEnd();
  }

  public State state() {
    return state;
  }

  /** Its opener's label of the stream that caused it; null if it has none. */
  public @Nullable String label() {
    return reader.label;
  }

  /** When it began, in ms since 1970. */
  public long startedMillis() {
    return startedMillis;
  }

  /** From its start to the head of its answer, in nanoseconds; 0 if none was accepted. */
  public long answerNanos() {
    return answerNanos;
  }

  /** From its start to its end, in nanoseconds; 0 if it has not ended. */
  public long tookNanos() {
    return endNanos;
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
    return used;
  }

  /** Bytes of it that were of no use to anybody. */
  public long wasted() {
    return wasted;
  }

  /** All that is known of it, as a JSON object on one line. */
  public synchronized String json() {
    StringBuilder line = new StringBuilder(500).append("{\"id\":").append(id);
    put(line, "time", Instant.ofEpochMilli(startedMillis).toString());
    put(line, "bucket", object.bucket());
    put(line, "key", object.key());
    put(line, "etag", etag);
    put(line, "start", range.start());
    put(line, "end", range.end());
    put(line, "reason", reason.name());
    put(line, "attempt", attempt);
    put(line, "stream", reader.stream);
    put(line, "label", reader.label);
    put(line, "state", state.name());
    put(line, "sent", sent);
    put(line, "answeredMillis", answerNanos > 0 ? answerNanos / NANOS_PER_MILLI : null);
    put(line, "tookMillis", state.isEnd() ? endNanos / NANOS_PER_MILLI : null);
    put(line, "received", received);
    put(line, "used", used);
    put(line, "wasted", wasted);
    put(line, "held", received - used - wasted);
    put(line, "requestId", requestId);
    put(line, "failure", failure);
    return line.append('}').toString();
  }

  /** In ASCII alone, so that whatever a key is made of, a line is a line. */
  private static void put(StringBuilder line, String name, @Nullable Object value) {
    if (value == null || value instanceof Number) {
      line.append(value == null ? "" : ",\"" + name + "\":" + value);
      return;
    }
    line.append(",\"").append(name).append("\":\"");
    for (char each : value.toString().toCharArray()) {
      if (each < ' ' || each > '~') {
        line.append("\\u").append(HexFormat.of().toHexDigits(each));
      } else {
        line.append(each == '"' || each == '\\' ? "\\" : "").append(each);
      }
    }
    line.append('"');
  }

  /** One line. */
  @Override
  public synchronized String toString() {
    StringBuilder line = new StringBuilder(200);
    line.append(Instant.ofEpochMilli(startedMillis)).append(" stream ").append(reader.stream);
    line.append(reader.label == null ? "" : ", " + reader.label).append(": ").append(subject());
    line.append(" for ").append(reason).append(attempt > 1 ? ", attempt " + attempt : "");
    line.append(": ").append(state).append(state.isEnd() ? " after " + millis(endNanos) : "");
    line.append(answerNanos > 0 ? ", answered after " + millis(answerNanos) : "");
    line.append(", ").append(received).append(" bytes came, ").append(used()).append(" used, ");
    line.append(wasted).append(" wasted").append(requestId == null ? "" : ", request " + requestId);
    return failure == null ? line.toString() : line.append("; ").append(failure).toString();
  }

  private static String millis(long nanos) {
    return String.format(Locale.ROOT, "%.1f ms", nanos / NANOS_PER_MILLI);
  }
}
