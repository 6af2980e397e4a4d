// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import io.s3e.block.ByteRange;
import io.s3e.fetch.Arrival;
import io.s3e.fetch.DiskBytes;
import io.s3e.fetch.Patience;
import io.s3e.jvm.Background;
import io.s3e.memory.Block;
import io.s3e.stream.Ask.Caller;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Ranges of a {@link VectoredRead} that are fetched together and copied one after the other, in
 * order of offset, each by an {@link Ask} into a buffer of the application's.
 *
 * <p><b>States.</b> <i>Waiting</i> for its turn in the read. <i>Idle</i>: its current range waits
 * for a block, for bytes from disk, or for a thread. <i>Working</i>, on one thread of the engine,
 * which copies what is there, goes on to the next range where one is filled, and becomes idle
 * again. <i>Over</i>: all futures are complete.
 *
 * <pre>
 *   WAITING --(its turn)--&gt; IDLE &lt;--&gt; WORKING --(the last range)--&gt; OVER
 *   WAITING, IDLE --(given up, late)--&gt; WORKING --&gt; OVER
 * </pre>
 *
 * <p>A settling block, or a free thread, makes an idle group work; so does the application that
 * completes or cancels the future of the current range. {@link #end} interrupts an idle group at
 * once; in a working one, all but its current range, which the working thread ends when it has to
 * wait. A range whose future is complete is passed over.
 *
 * <p><b>Ownership.</b> The ask, and with it the buffer, belongs to the thread that works. The
 * buffer goes to the application by the future, if that has not been completed otherwise, and else
 * back by {@code release}, exactly once. A future that {@link #end} fails fails after that.
 *
 * <p>Any thread.
 */
final class VectorGroup {
  /** Why a group ends whose deadline has passed. */
  static final String LATE = "its deadline has passed";

  /** Why a group ends that has no thread. */
  static final String REFUSED = "vectored read refused: engine closed, or out of memory or threads";

  /**
   * What the groups of one read share.
   *
   * @param giveBack gives buffers back to the application; does not fail
   * @param waitsFor hears of blocks that ranges wait for
   * @param patience moved by every block that is copied for one of the ranges
   * @param over hears of each group that is over
   */
  record Call(
      BlockReader reader,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> giveBack,
      Consumer<Block> waitsFor,
      Pieces pieces,
      Patience patience,
      Executor waiting,
      Consumer<VectorGroup> over) {}

  /** One range; {@code next} is where the read's next one behind it begins. */
  record Member(ByteRange range, long next, CompletableFuture<ByteBuffer> result) {}

  private enum State {
    WAITING,
    IDLE,
    WORKING,
    OVER
  }

  final ByteRange span;
  private final List<Member> members;
  private final Call call;

  // Guarded by this.
  private State state = State.WAITING;

  /** Written once, with the lock; read by anybody. */
  private volatile @Nullable String endedBecause;

  /** How often the group has become idle: what was to wake it earlier comes too late. */
  private long turn;

  /** Index of the current range; moved by the thread that works. */
  private int current;

  // As the header tells of ownership.
  private @Nullable Ask ask;
  private @Nullable ByteBuffer buffer;
  private int delivered;

  /** At least one member, in order of offset; {@code span} is from the first byte to the last. */
  VectorGroup(ByteRange span, List<Member> members, Call call) {
    this.span = span;
    this.members = members;
    this.call = call;
  }

  Stream<ByteRange> ranges() {
    return members.stream().map(Member::range);
  }

  /** Waiting → idle, and lets the first range get on; false if the group was over. */
  boolean begin() {
    for (Member member : members) {
      // Heard of from the first turn on, which finds by itself what is complete before.
      var unused = member.result.whenComplete((bytes, failure) -> completed());
    }
    synchronized (this) {
      if (state != State.WAITING) {
        return false;
      }
      state = State.IDLE;
    }
    schedule(0, Caller.NEVER_WAITS);
    return true;
  }

  private void schedule(long its, Caller caller) {
    Executor threads = caller == Caller.NEVER_WAITS ? call.reader.source.copying() : call.waiting;
    try {
      threads.execute(() -> work(its, caller));
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      // The engine ends, or the system has no thread to give.
      refused();
    }
  }

  /** On a thread of its own where there is one: it may be an event loop that has come here. */
  private void refused() {
    try {
      Thread unused = Background.start("s3e-vectored-end", () -> end(REFUSED));
    } catch (OutOfMemoryError e) {
      end(REFUSED);
    }
  }

  /** Whether somebody waits for one of its ranges that has some of these bytes. */
  boolean wants(ByteRange bytes) {
    return members.stream()
        .filter(each -> each.range.start() < bytes.end() && each.range.end() > bytes.start())
        .anyMatch(each -> !each.result.isDone());
  }

  /** Whether the application has all its bytes; once the group is over. */
  synchronized boolean isDelivered() {
    return delivered == members.size();
  }

  private void work(long its, Caller caller) {
    synchronized (this) {
      if (state != State.IDLE || turn != its) {
        return;
      }
      state = State.WORKING;
    }
    Caller may = caller;
    while (hasNext()) {
      if (!advance(members.get(current), may) && pause()) {
        return;
      }
      // What the next range misses is asked for at once, as far as there is room.
      may = Caller.NEVER_WAITS;
    }
  }

  /** Comes to the next range that is not complete and not given up; over if there is none. */
  private boolean hasNext() {
    for (; ; ) {
      String why;
      synchronized (this) {
        if (current == members.size()) {
          state = State.OVER;
          break;
        }
        why = endedBecause;
      }
      // What a closed tenant's ranges lack comes no more, and is not to be asked for.
      why = why == null && call.reader.fetcher.tenant.isClosed() ? REFUSED : why;
      Member member = members.get(current);
      if (!member.result.isDone()) {
        if (why == null) {
          return true;
        }
        Throwable late = why.equals(LATE) && ask != null ? ask.late() : null;
        fail(member, failure(member, why, late));
      }
      giveBack();
      synchronized (this) {
        current++;
      }
    }
    call.over.accept(this);
    return false;
  }

  /**
   * Whether the range is over. Every failure, the application's own allocator included, belongs to
   * the future: a range that never completes would hang its reader.
   */
  @SuppressWarnings("IllegalCatch")
  private boolean advance(Member member, Caller caller) {
    try {
      Ask now = ask;
      if (now == null) {
        buffer = call.allocate.apply(Math.toIntExact(member.range.length()));
        now = ask(member, buffer);
        ask = now;
      }
      if (now.advance(caller)) {
        deliver(member);
        return true;
      }
      return false;
    } catch (Throwable e) {
      fail(member, failure(member, endedBecause, e));
      return true;
    }
  }

  private Ask ask(Member member, ByteBuffer buffer) {
    ByteBuffer filled = buffer.duplicate().clear().limit(Math.toIntExact(member.range.length()));
    return Ask.ofRange(
        call.reader, member.range, filled, span.end(), member.next, call.pieces, call.patience);
  }

  /** The error of a range that has ended: {@code why} it was given up and {@code cause}, if any. */
  private Throwable failure(Member member, @Nullable String why, @Nullable Throwable cause) {
    // The thread that closes the stream may be on its way to say so.
    boolean isClosed = why == null && call.reader.handle.isClosed();
    String given = isClosed ? ReadFailures.CLOSED : why;
    if (given != null && !given.equals(LATE)) {
      String of = " Range " + member.range + " of a vectored read of ";
      return new InterruptedIOException(given + of + call.reader.failures().object())
          .initCause(cause);
    }
    if (cause != null) {
      return cause;
    }
    IOException late = new SocketTimeoutException("its turn did not come before its deadline");
    return call.reader.failures().describe(late, member.range.start(), member.range.length());
  }

  /** Working → idle; false if the group was given up meanwhile, or its range by the future. */
  private boolean pause() {
    Ask now = Objects.requireNonNull(ask);
    // Another thread may end the ask as soon as the group is idle.
    Arrival arrival = now.arrival;
    DiskBytes fromDisk = now.fromDisk;
    long its;
    synchronized (this) {
      if (endedBecause != null || members.get(current).result.isDone()) {
        return false;
      }
      state = State.IDLE;
      its = ++turn;
    }
    // By the thread that brings the bytes, which has better things to do than to copy.
    Runnable goOn = () -> schedule(its, Caller.NEVER_WAITS);
    if (arrival != null) {
      Block block = arrival.block();
      block.whenSettled(goOn);
      call.waitsFor.accept(block);
    } else if (fromDisk != null) {
      fromDisk.whenOver(goOn);
    } else {
      schedule(its, Caller.WAITS_FOR_ROOM);
    }
    return true;
  }

  /**
   * Fails what is not complete. A thread that works may stand in the application's code, which
   * waits for the ranges that follow: these fail here.
   */
  void end(String why) {
    State before;
    List<Member> withoutTurn = List.of();
    synchronized (this) {
      endedBecause = endedBecause == null ? why : endedBecause;
      before = state;
      if (before == State.WORKING) {
        int all = members.size();
        withoutTurn = members.subList(Math.min(current + 1, all), all);
      } else if (before != State.OVER) {
        state = State.WORKING;
      }
    }
    withoutTurn.forEach(member -> member.result.completeExceptionally(failure(member, why, null)));
    if (before == State.WAITING || before == State.IDLE) {
      boolean unused = hasNext();
    }
  }

  /** The future of a range is complete, by the group or by the application. */
  private void completed() {
    long its;
    synchronized (this) {
      if (state != State.IDLE || !members.get(current).result.isDone()) {
        return;
      }
      its = ++turn;
    }
    schedule(its, Caller.NEVER_WAITS);
  }

  private void deliver(Member member) {
    ByteBuffer filled = Objects.requireNonNull(buffer);
    filled.clear().limit(Math.toIntExact(member.range.length()));
    // The application's from here on, whatever its code does inside.
    ask = null;
    buffer = null;
    if (member.result.complete(filled)) {
      delivered++;
    } else {
      call.giveBack.accept(filled);
    }
  }

  /** In this order: who hears of the failure finds the buffer given back. */
  private void fail(Member member, Throwable failure) {
    try {
      giveBack();
    } finally {
      member.result.completeExceptionally(failure);
    }
  }

  /** Ends what the current range holds. */
  private void giveBack() {
    Ask asked = ask;
    ask = null;
    ByteBuffer held = buffer;
    buffer = null;
    try {
      if (asked != null) {
        asked.stop();
      }
    } finally {
      if (held != null) {
        call.giveBack.accept(held);
      }
    }
  }
}
