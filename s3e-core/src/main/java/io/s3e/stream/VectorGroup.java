package io.s3e.stream;

import io.s3e.block.ByteRange;
import io.s3e.fetch.Arrival;
import io.s3e.fetch.DiskBytes;
import io.s3e.memory.Block;
import io.s3e.stream.Ask.Caller;
import io.s3e.stream.Ask.Progress;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
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
 *   WAITING, IDLE --(given up, late)--&gt; OVER
 * </pre>
 *
 * <p>A settling block, or a free thread, makes an idle group work. {@link #end} and the application
 * that completes or cancels the future of the current range interrupt an idle group at once; in a
 * working one, all but its current range. A range whose future is complete is passed over.
 *
 * <p><b>Ownership.</b> The ask, and with it the buffer, belongs to the thread that works, or to the
 * one that has made the group over. The buffer goes to the application by the future, if that has
 * not been completed otherwise, and else back by {@code release}, exactly once. A future that
 * {@link #end} fails fails after that.
 *
 * <p>Any thread.
 */
final class VectorGroup {
  /** The read as its groups need it. */
  interface Owner {
    /** A buffer of the application's for the range. */
    ByteBuffer allocate(ByteRange range);

    /** Gives a buffer back to the application. */
    void giveBack(ByteBuffer buffer);

    /**
     * What fills a buffer.
     *
     * @param fetchEnd where the bytes end that are asked for together with the range
     * @param nextRange where the read's next range behind this one begins
     */
    Ask ask(ByteRange range, ByteBuffer buffer, long fetchEnd, long nextRange);

    /** Runs a group's work on a thread of the engine, which may wait for what the caller may. */
    void schedule(Caller caller, Runnable work);

    /** A range waits for {@code block}. */
    void waitsFor(Block block);

    /** The error of a range that had no turn before the deadline. */
    IOException late(ByteRange range);

    /** Why ranges that fail are to be told that they were given up; null if they are not. */
    @Nullable String givenUpBecause();

    /** The group is over; and whether its turn had come before. */
    void over(VectorGroup group, boolean hadBegun);
  }

  /**
   * One range.
   *
   * @param next where the read's next range behind this one begins
   */
  record Member(ByteRange range, long next, CompletableFuture<ByteBuffer> result) {}

  private enum State {
    WAITING,
    IDLE,
    WORKING,
    OVER
  }

  private final ByteRange span;
  private final List<Member> members;
  private final Owner read;

  // Guarded by this.
  private State state = State.WAITING;
  private @Nullable String endedBecause;

  /** How often the group has become idle: what was to wake it earlier comes too late. */
  private long turn;

  /** Index of the current range; moved by the thread that works. */
  private int current;

  /** No range from this index on gets a turn: they are given up, or late. */
  private int end;

  // As the header tells of ownership.
  private @Nullable Ask ask;
  private @Nullable ByteBuffer buffer;
  private int delivered;

  /**
   * @param span from the first byte of the first member to the last byte of the last
   * @param members in order of offset; at least one
   */
  VectorGroup(ByteRange span, List<Member> members, Owner read) {
    this.span = span;
    this.members = members;
    this.end = members.size();
    this.read = read;
  }

  ByteRange span() {
    return span;
  }

  /** The bytes of its members, in order of offset. */
  Stream<ByteRange> ranges() {
    return members.stream().map(Member::range);
  }

  /** From now on the group hears of futures that the application completes; once, before a turn. */
  void watch() {
    for (Member member : members) {
      var unused = member.result.whenComplete((bytes, failure) -> completed());
    }
  }

  /** Waiting → idle, and lets the first range get on; false if the group was over. */
  boolean begin() {
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
    read.schedule(caller, () -> work(its, caller));
  }

  synchronized boolean isOver() {
    return state == State.OVER;
  }

  /** Whether the application has all its bytes; once the group is over. */
  synchronized boolean isDelivered() {
    return delivered == members.size();
  }

  /** Gets on as far as it goes. */
  private void work(long its, Caller caller) {
    synchronized (this) {
      if (state != State.IDLE || turn != its) {
        return;
      }
      state = State.WORKING;
    }
    Caller may = caller;
    while (hasNext()) {
      Progress progress = advance(members.get(current), may);
      if (progress != Progress.DONE && pause(progress)) {
        return;
      }
      // What the next range misses is asked for at once, as far as there is room.
      may = Caller.NEVER_WAITS;
    }
  }

  /** Comes to the next range that is not complete. The group is over if there is none. */
  private boolean hasNext() {
    String why = endedBecause();
    if (why != null) {
      failRest(why);
    }
    while (comesTo(current)) {
      if (!members.get(current).result.isDone()) {
        return true;
      }
      giveBack();
      synchronized (this) {
        current++;
      }
    }
    over(State.IDLE);
    return false;
  }

  private synchronized @Nullable String endedBecause() {
    return endedBecause;
  }

  private synchronized boolean comesTo(int index) {
    return index < end;
  }

  /**
   * Every failure, the application's own allocator included, belongs to the future: a range that
   * never completes would hang its reader.
   */
  @SuppressWarnings("IllegalCatch")
  private Progress advance(Member member, Caller caller) {
    try {
      Ask now = ask;
      if (now == null) {
        buffer = read.allocate(member.range);
        now = read.ask(member.range, buffer, span.end(), member.next);
        ask = now;
      }
      Progress progress = now.advance(caller);
      if (progress == Progress.DONE) {
        now.requireFilled();
        deliver(member);
      } else if (now.isLate()) {
        throw now.late();
      }
      return progress;
    } catch (Throwable e) {
      String why = givenUpBecause();
      fail(member, why == null ? e : givenUp(member, why, e));
      return Progress.DONE;
    }
  }

  private synchronized @Nullable String givenUpBecause() {
    return endedBecause == null ? read.givenUpBecause() : endedBecause;
  }

  /** Working → idle; false if the group was given up meanwhile, or its range by the future. */
  private boolean pause(Progress progress) {
    Ask now = Objects.requireNonNull(ask);
    // Another thread may end the ask as soon as the group is idle.
    Arrival arrival = now.arrival();
    DiskBytes fromDisk = now.fromDisk();
    long its;
    synchronized (this) {
      if (!mayPause()) {
        return false;
      }
      state = State.IDLE;
      its = ++turn;
    }
    if (progress == Progress.EXPECTING && arrival != null) {
      // By the thread that brings the block, which has better things to do than to copy.
      Block block = arrival.block();
      block.whenSettled(() -> schedule(its, Caller.NEVER_WAITS));
      read.waitsFor(block);
    } else if (progress == Progress.READING && fromDisk != null) {
      fromDisk.whenOver(() -> schedule(its, Caller.NEVER_WAITS));
    } else {
      schedule(its, Caller.WAITS_FOR_ROOM);
    }
    return true;
  }

  /**
   * Fails what is not complete. A thread that works looks by itself whether its range was given up,
   * and how late that is; but it may stand in the application's code, which waits for the ranges
   * that follow.
   *
   * @param why they are given up; null if their deadline has passed
   */
  void end(@Nullable String why) {
    State before;
    List<Member> withoutTurn = List.of();
    synchronized (this) {
      if (why != null) {
        endedBecause = why;
      }
      before = state;
      if (before == State.WORKING) {
        int next = Math.min(current + 1, end);
        withoutTurn = members.subList(next, end);
        end = next;
      } else if (before != State.OVER) {
        state = State.WORKING;
      }
    }
    if (before == State.WORKING || before == State.OVER) {
      withoutTurn.forEach(member -> member.result.completeExceptionally(failure(member, why)));
    } else {
      failRest(why);
      over(before);
    }
  }

  private void failRest(@Nullable String why) {
    while (comesTo(current)) {
      Member member = members.get(current);
      fail(member, failure(member, why));
      synchronized (this) {
        current++;
      }
    }
  }

  private IOException failure(Member member, @Nullable String why) {
    if (why != null) {
      return givenUp(member, why, null);
    }
    Ask now = ask;
    return now == null ? read.late(member.range) : now.late();
  }

  /** The future of a range is complete, by the group or by the application. */
  private void completed() {
    State before;
    synchronized (this) {
      before = state;
      boolean isLast =
          before == State.WAITING && members.stream().allMatch(each -> each.result.isDone());
      boolean isCurrent = before == State.IDLE && members.get(current).result.isDone();
      if (!isLast && !isCurrent) {
        return;
      }
      state = State.WORKING;
    }
    if (before == State.WAITING) {
      over(before);
      return;
    }
    while (hasNext()) {
      long its;
      synchronized (this) {
        if (!mayPause()) {
          continue;
        }
        state = State.IDLE;
        its = ++turn;
      }
      schedule(its, Caller.NEVER_WAITS);
      return;
    }
  }

  /** Whether nobody has given up the group or its range. The caller holds the lock. */
  private boolean mayPause() {
    return endedBecause == null && !members.get(current).result.isDone();
  }

  private void deliver(Member member) {
    ByteBuffer filled = Objects.requireNonNull(buffer);
    filled.limit(filled.position() + Math.toIntExact(member.range.length()));
    filled.position(0);
    // The application's from here on, whatever its code does inside.
    ask = null;
    buffer = null;
    if (member.result.complete(filled)) {
      delivered++;
    } else {
      read.giveBack(filled);
    }
  }

  private void fail(Member member, Throwable failure) {
    giveBack();
    member.result.completeExceptionally(failure);
  }

  /** Ends what the current range holds. */
  private void giveBack() {
    Ask asked = ask;
    ask = null;
    if (asked != null) {
      asked.stop();
    }
    ByteBuffer held = buffer;
    buffer = null;
    if (held != null) {
      read.giveBack(held);
    }
  }

  /** To over, from {@code before} by way of working. */
  private void over(State before) {
    synchronized (this) {
      state = State.OVER;
    }
    read.over(this, before != State.WAITING);
  }

  private IOException givenUp(Member member, String why, @Nullable Throwable cause) {
    IOException failure =
        new InterruptedIOException(why + " Range " + member.range + " of " + read);
    return cause == null ? failure : (IOException) failure.initCause(cause);
  }
}
