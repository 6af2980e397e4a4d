// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.prefetch.Ahead;
import io.s3e.prefetch.BlockPieces;
import io.s3e.prefetch.GuessJudge;
import io.s3e.prefetch.GuessKind;
import io.s3e.prefetch.PrefetchLimits;
import io.s3e.prefetch.RequestSizing;
import io.s3e.prefetch.Wish;
import io.s3e.prefetch.Wish.Range;
import io.s3e.prefetch.Wish.Start;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What one stream wants of a columnar file ahead of its reader, in requests, and the window for all
 * of it; and what was read lately, which is not wanted again. Counts in blocks. Not thread-safe.
 *
 * <p><b>A request</b> is wanted until its blocks are read, it is dropped, or refused: then it is to
 * be added again, longer, when the reader has come on.
 *
 * <p><b>A group</b> of short requests that one vectored read will ask for at once is added as a
 * whole or not at all, and started so ({@link Range#group}): a reader that gets a part of it waits
 * a round trip for the rest. Groups of one run that touch are joined before, and go by length. Two
 * groups are wanted whatever the stream's share of requests is, so that the streams of a crowd have
 * their next ones by turns; more while data fits in that share.
 *
 * <p>Invariants: a block is wanted by one request at most, and by none while it counts as read
 * lately. Blocks that are wanted never exceed the cap that held when they were added; where it has
 * become less since, nothing is asked for.
 */
final class Wanted {
  static final Predicate<GuessKind> ALL = kind -> true;

  /** More before a read would keep its own bytes, which come last, for more than 4 ms. */
  private static final long MAX_ALONG_BYTES = 256 << 10;

  /** Nothing is added until there is room for this part of the window, or all is read. */
  private static final int ROOM_PART = 4;

  /** Long enough for requests of full length: where the sequence ends does not shorten them. */
  private static final long NO_END = Integer.MAX_VALUE;

  /** Pieces that were read lately; enough for the chunks of one group that lie apart. */
  private static final int MAX_READ_PIECES = 512;

  final BlockLayout grid;
  private final PrefetchLimits limits;
  private final RequestSizing sizing;
  private final BlockPieces<Range> requests = new BlockPieces<>();
  private BlockPieces<Boolean> read = new BlockPieces<>();
  private long window;
  private long leastRequest;
  private boolean held;
  private long limitBytes = Long.MAX_VALUE;
  private int inFlight = Integer.MAX_VALUE;

  /** Requests that a stream could have in flight if it were alone: no larger group comes whole. */
  private int mostAtOnce = Integer.MAX_VALUE;

  private int lastGroup;

  /** As it was asked for last; null if something has changed since. */
  private @Nullable Wish wish;

  Wanted(BlockLayout grid, PrefetchLimits limits) {
    this.grid = grid;
    this.limits = limits;
    this.sizing = RequestSizing.of(grid, limits);
    this.window = grid.blocksOver(limits.initialWindowBytes());
  }

  /** As {@link io.s3e.prefetch.ReadPlanner#limitWindow}. */
  void limit(long bytes, int inFlightAtOnce, int atOnceAlone) {
    mostAtOnce = atOnceAlone;
    if (bytes != limitBytes || inFlightAtOnce != inFlight) {
      limitBytes = Math.max(0, bytes);
      inFlight = Math.max(1, inFlightAtOnce);
      wish = null;
    }
  }

  /** Wants only what is {@code ahead} where all is more than the cap; whether anything goes. */
  boolean wantOnly(Ahead ahead) {
    if (count() <= cap()) {
      return false;
    }
    wish = null;
    BlockRange all = new BlockRange(0, grid.blocks());
    return !requests.take(all, of -> !ahead.contains(of.blocks().end() - 1)).isEmpty();
  }

  private long cap() {
    return Math.min(limits.maxWindowBytes(), limitBytes) / grid.blockSize();
  }

  /** How many blocks may be wanted. */
  long window() {
    return Math.min(window, cap());
  }

  /** Requests that may be wanted: as many connections as a stream has use for, or its share. */
  private long maxRequests() {
    return Math.min(inFlight, Math.max(1, limits.maxWindowBytes() / limits.requestBytes()));
  }

  /** Requests that count: of data alone, which what nobody comes to read must not keep away. */
  private long asked(boolean ofData) {
    return wish().ranges().stream().filter(each -> each.kind().isData() || !ofData).count();
  }

  long count() {
    return requests.count();
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
      wish = null;
    }
  }

  /** Guesses were wrong: the next are fewer. */
  void halve() {
    window = Math.max(1, window / 2);
    wish = null;
  }

  /** Whether more may be added: there is a part of the window to fill. */
  boolean hasRoom() {
    return !held && (window() - count()) * ROOM_PART >= window();
  }

  /** Whether {@link #add} finds a part of the requests to fill. */
  boolean hasRequests() {
    long most = maxRequests();
    return (most - asked(true)) * ROOM_PART >= most;
  }

  /** Whether anything is wanted that says where data lies, but for a tail. */
  boolean hasFilters() {
    return wish().ranges().stream()
        .anyMatch(each -> !each.kind().isData() && each.kind() != GuessKind.TAIL);
  }

  /**
   * As {@link #add}, of the runs of one group that are of use together only, if they are short and
   * the stream may have them at all.
   */
  boolean addGroup(List<BlockRange> runs, GuessJudge judge) {
    List<BlockRange> missing = missingFrom(runs);
    long blocks = BlockRange.count(missing);
    boolean isShort = missing.stream().allMatch(run -> run.count() <= sizing.minBlocks());
    if (!isShort || blocks > cap() || missing.size() > mostAtOnce) {
      return add(runs, GuessKind.GROUP, judge);
    }
    long asked = asked(true);
    boolean isShared = asked + missing.size() > inFlight;
    boolean fits = count() + blocks <= window() && (!isShared || asked <= missing.size());
    if (held || (count() > 0 && !fits)) {
      return false;
    }
    wish = null;
    lastGroup++;
    for (BlockRange run : missing) {
      Range range = new Range(run, GuessKind.GROUP, judge, Start.NOW, Wish.Cut.NONE, lastGroup);
      requests.missingFrom(run).forEach(part -> requests.add(part, range));
    }
    return true;
  }

  /** Adds what of {@code runs} is neither wanted nor just read, in order; false if room ran out. */
  boolean add(List<BlockRange> runs, GuessKind kind, GuessJudge judge) {
    // Counted once: what is added makes one request each, and to count takes a look at all.
    long most = requests.size() + maxRequests() - asked(kind.isData());
    for (BlockRange run : runs) {
      // One after the other: runs may overlap.
      for (BlockRange missing : missingFrom(List.of(run))) {
        if (!add(missing, kind, judge, most)) {
          return false;
        }
      }
    }
    return true;
  }

  private List<BlockRange> missingFrom(List<BlockRange> runs) {
    List<BlockRange> missing = new ArrayList<>(runs.size());
    for (BlockRange run : runs) {
      requests.missingFrom(run).forEach(each -> missing.addAll(read.missingFrom(each)));
    }
    return missing;
  }

  private boolean add(BlockRange missing, GuessKind kind, GuessJudge judge, long most) {
    long granted = held ? 0 : Math.min(missing.count(), window() - count());
    if (granted <= 0) {
      return false;
    }
    wish = null;
    List<BlockRange> cut = new ArrayList<>();
    BlockRange run = new BlockRange(missing.first(), missing.first() + granted);
    long least = kind.isData() ? grid.blocksOver(RequestSizing.LEAST_OF_DATA_BYTES) : 0;
    long request = sizing.requestFor(window(), inFlight, Math.max(leastRequest, least), NO_END);
    sizing.cut(run, request, cut);
    for (BlockRange each : cut) {
      if (requests.size() >= most) {
        return false;
      }
      boolean isAlong = kind == GuessKind.TAIL && grid.bytesOf(each).length() <= MAX_ALONG_BYTES;
      Start start = isAlong ? Start.WITH_READ : Start.NOW;
      requests.add(each, new Range(each, kind, judge, start, Wish.Cut.NONE));
    }
    return granted == missing.count();
  }

  /** A read takes {@code run}, and the reader comes on; whether any of its blocks was wanted. */
  boolean use(BlockRange run) {
    held = false;
    long before = count();
    drop(run, ALL);
    if (read.size() > MAX_READ_PIECES) {
      read = new BlockPieces<>();
    }
    for (BlockRange missing : read.missingFrom(run)) {
      read.add(missing, true);
    }
    return count() < before;
  }

  /** The reader has gone on to another group: what it read before counts no longer. */
  void forgetReadBefore(long block) {
    var unused = read.take(new BlockRange(0, block));
  }

  /** Wants nothing of {@code run} for such reasons. */
  void drop(BlockRange run, Predicate<GuessKind> such) {
    wish = null;
    var unused = requests.take(run, range -> such.test(range.kind()));
  }

  void clear() {
    drop(new BlockRange(0, Long.MAX_VALUE), ALL);
    read = new BlockPieces<>();
  }

  /**
   * Memory or concurrency refused the first of these runs, and none of them was sent: they are
   * wanted no more. The window falls to what was granted, but not below half, and requests become
   * longer as long as there are some in parallel. A group that was refused is another stream's
   * turn, and says nothing of the window.
   */
  void refused(List<BlockRange> runs, boolean wasGroup) {
    held = true;
    long before = window();
    runs.forEach(run -> drop(run, ALL));
    if (wasGroup) {
      return;
    }
    long request = sizing.requestFor(before, inFlight, leastRequest, NO_END);
    window = Math.max(1, sizing.refused(before, count(), inFlight));
    leastRequest = Math.max(1, Math.min(2 * request, window / RequestSizing.LEAST_PARALLEL));
  }

  /** Filters, tails and indexes first: few bytes that readers need before they know what else. */
  Wish wish() {
    if (wish == null) {
      boolean isClosed = held || count() > cap();
      List<Range> ranges = new ArrayList<>(requests.size());
      List<Range> data = new ArrayList<>(requests.size());
      requests.forEach(
          (blocks, of) -> {
            Start start = isClosed ? Start.LATER : of.start();
            (of.kind().isData() ? data : ranges).add(of.of(blocks, start));
          });
      ranges.addAll(data);
      wish = new Wish(ranges);
    }
    return wish;
  }
}
