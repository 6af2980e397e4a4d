package io.s3e.stream;

import io.s3e.block.ByteRange;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Ranges of a {@link VectoredRead} that are fetched together and copied one after the other, in
 * order of offset.
 *
 * <p><b>States.</b> <i>Waiting</i> for its turn: no range of it works. <i>Under way</i>: the first
 * range that is not over works, and the end of each lets the next work. <i>Over</i>, once all its
 * ranges are, from either state: the application may give up ranges that have had no turn.
 *
 * <p>Any thread.
 */
final class VectorGroup {
  private enum State {
    WAITING,
    UNDER_WAY,
    OVER
  }

  private final ByteRange span;
  private final List<PendingRange> members;

  /** Written under this. */
  private volatile State state = State.WAITING;

  /**
   * @param span from the first byte of the first member to the last byte of the last
   * @param members in order of offset; at least one
   */
  VectorGroup(ByteRange span, List<PendingRange> members) {
    this.span = span;
    this.members = members;
  }

  ByteRange span() {
    return span;
  }

  /** The bytes of its members, in order of offset. */
  Stream<ByteRange> ranges() {
    return members.stream().map(PendingRange::range);
  }

  /**
   * Has the ranges follow each other, once.
   *
   * @param work lets a range work, on another thread
   * @param over is called when all ranges are over
   */
  void connect(Consumer<PendingRange> work, Runnable over) {
    for (int i = 1; i < members.size(); i++) {
      PendingRange next = members.get(i);
      var unused =
          members
              .get(i - 1)
              .over()
              .thenRun(
                  () -> {
                    if (state == State.UNDER_WAY) {
                      work.accept(next);
                    }
                  });
    }
    var unused =
        CompletableFuture.allOf(
                members.stream().map(PendingRange::over).toArray(CompletableFuture<?>[]::new))
            .thenRun(over);
  }

  /** Waiting → under way; false if it was over. */
  boolean begin(Consumer<PendingRange> work) {
    synchronized (this) {
      if (state == State.OVER) {
        return false;
      }
      state = State.UNDER_WAY;
    }
    members.stream().filter(member -> !member.over().isDone()).findFirst().ifPresent(work);
    return true;
  }

  /** To over; whether it was under way. */
  synchronized boolean end() {
    State before = state;
    state = State.OVER;
    return before == State.UNDER_WAY;
  }

  boolean isOver() {
    return state == State.OVER;
  }

  /** Whether the application has all its bytes; once it is over. */
  boolean isDelivered() {
    return members.stream().allMatch(member -> member.over().join() == PendingRange.End.DELIVERED);
  }
}
