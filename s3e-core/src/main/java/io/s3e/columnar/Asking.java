package io.s3e.columnar;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.prefetch.GuessKind;
import io.s3e.prefetch.Ledger;
import io.s3e.prefetch.ReadPlanner.Limits;
import io.s3e.prefetch.RequestSizing;
import io.s3e.prefetch.Wish;
import io.s3e.prefetch.Wish.Start;
import java.util.ArrayList;
import java.util.List;

/**
 * The window of one stream's guesses, all kinds together: how much of what a reader will ask is
 * wanted now. Counts in blocks. Not thread-safe.
 *
 * <p>Invariant: blocks that are wanted never exceed the cap that held when they were added.
 */
final class Asking {
  /** Refusals do not make requests so long that a window holds fewer of them. */
  private static final int LEAST_PARALLEL = 4;

  /** More before a read would keep its own bytes, which come last, for more than 4 ms. */
  private static final long MAX_ALONG_BYTES = 256 << 10;

  /** Nothing is asked for until there is room for this part of the window, or all is read. */
  private static final int ROOM_PART = 4;

  /** Long enough for requests of full length: where the sequence ends does not shorten them. */
  private static final long NO_END = Integer.MAX_VALUE;

  private final BlockLayout layout;
  private final Limits limits;
  private final RequestSizing sizing;
  private final Wanted wanted;
  private long window;
  private long leastRequest;
  private boolean held;
  private long limitBytes = Long.MAX_VALUE;
  private int inFlight = Integer.MAX_VALUE;

  Asking(BlockLayout layout, Limits limits, Wanted wanted) {
    this.layout = layout;
    this.limits = limits;
    this.sizing = RequestSizing.of(layout, limits);
    this.wanted = wanted;
    this.window = layout.blocksOver(limits.initialWindowBytes());
  }

  /** As {@link io.s3e.prefetch.ReadPlanner#limitWindow}. */
  void limit(long bytes, int requests) {
    limitBytes = Math.max(0, bytes);
    inFlight = Math.max(1, requests);
  }

  private long cap() {
    return Math.min(limits.maxWindowBytes(), limitBytes) / layout.blockSize();
  }

  /** How many blocks may be wanted. */
  long window() {
    return Math.min(window, cap());
  }

  /**
   * Requests that may be wanted: as many connections as a stream has use for, or its share of them.
   */
  private long maxRuns() {
    return Math.min(inFlight, Math.max(1, limits.maxWindowBytes() / limits.requestBytes()));
  }

  /** The window is to hold one group at least, unless refusals have said otherwise. */
  void openFor(long blocks) {
    if (leastRequest == 0) {
      window = Math.max(window, Math.min(cap(), blocks));
    }
  }

  /** The reader waits for what the window had no room for. */
  void grow() {
    if (!held) {
      window = Math.max(window, Math.min(cap(), 2 * window));
    }
  }

  /** Guesses were wrong: the next are fewer. */
  void halve() {
    window = Math.max(1, window / 2);
  }

  /** The reader has come on: what was refused may be asked for again. */
  void release() {
    held = false;
  }

  /** Whether a next request may be made: there is a part of the window to fill. */
  boolean hasRoom() {
    long room = window() - wanted.count();
    return !held && wanted.runs() < maxRuns() && room * ROOM_PART >= window();
  }

  /**
   * Wants what is neither wanted nor just read of {@code runs}, in their order.
   *
   * @return false if there was no room for all of it
   */
  boolean ask(List<BlockRange> runs, GuessKind kind, Ledger ledger) {
    for (BlockRange run : runs) {
      for (BlockRange missing : wanted.missingFrom(run)) {
        if (!askRun(missing, kind, ledger)) {
          return false;
        }
      }
    }
    return true;
  }

  private boolean askRun(BlockRange missing, GuessKind kind, Ledger ledger) {
    long room = held ? 0 : window() - wanted.count();
    long granted = Math.min(missing.count(), room);
    if (granted <= 0) {
      return false;
    }
    List<BlockRange> requests = new ArrayList<>();
    BlockRange run = new BlockRange(missing.first(), missing.first() + granted);
    sizing.cut(run, sizing.requestFor(window(), inFlight, leastRequest, NO_END), requests);
    for (BlockRange request : requests) {
      if (wanted.runs() >= maxRuns()) {
        return false;
      }
      boolean isAlong =
          kind == GuessKind.TAIL && layout.bytesOf(request).length() <= MAX_ALONG_BYTES;
      Start start = isAlong ? Start.WITH_READ : Start.NOW;
      wanted.add(new Wish.Range(request, kind, ledger, start, Wish.Cut.NONE));
    }
    return granted == missing.count();
  }

  /**
   * Memory or concurrency refused the first of these runs, and none of them was sent. The window
   * falls to what was granted, but not below half, and its requests become longer as long as there
   * are some in parallel.
   */
  void refused(List<BlockRange> runs) {
    long before = window();
    long request = sizing.requestFor(before, inFlight, leastRequest, NO_END);
    runs.forEach(run -> wanted.take(run, kind -> true));
    long half = Math.max(sizing.floorOf(inFlight), before / 2);
    window = Math.max(1, Math.max(half, Math.min(before, wanted.count())));
    leastRequest = Math.max(1, Math.min(2 * request, window / LEAST_PARALLEL));
    held = true;
  }

  /** What is wanted now. */
  Wish wish() {
    return wanted.wish(held || wanted.count() > cap() ? Start.LATER : Start.NOW);
  }
}
