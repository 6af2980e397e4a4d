package io.s3e.stream;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.columnar.StreamPlanner;
import io.s3e.fetch.DiskBytes;
import io.s3e.fetch.Fetcher;
import io.s3e.fetch.ObjectHandle;
import io.s3e.fetch.ObjectTruncatedException;
import io.s3e.fetch.Patience;
import io.s3e.memory.Block;
import io.s3e.memory.Purpose;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.Ahead;
import io.s3e.prefetch.Ahead.Change;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.prefetch.RequestSizing;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The read path of one opened object: position in, pinned block out. Finds the block, asks for it
 * if it is absent, and waits for it; tells {@link Pump} of the read, which keeps prefetch ahead of
 * it.
 *
 * <p>Any number of threads may {@link #acquire} at once. They wait on their blocks, and hold no
 * lock meanwhile.
 */
public final class BlockReader {
  /** A wait is a stall from here on; less is the hand-over between two threads. */
  private static final long STALL_NANOS = 200_000;

  /** What is announced of a longer object: enough for the footer of most columnar files. */
  private static final int END_BYTES = 64 << 10;

  /** A random positioned read of less than this part of a small object does not fetch all of it. */
  private static final int SMALL_PART = 4;

  private final Fetcher fetcher;
  private final ObjectHandle handle;
  private final Pump pump;

  /**
   * @param planner decides what is prefetched
   * @param ahead of a reader that has read nothing
   * @param prefetch whether anything is fetched before it is asked for
   * @param askers the readers that share what prefetch may take
   */
  public BlockReader(
      Fetcher fetcher,
      ObjectHandle handle,
      StreamPlanner planner,
      Ahead ahead,
      boolean prefetch,
      Askers askers) {
    this.fetcher = fetcher;
    this.handle = handle;
    this.pump = new Pump(fetcher, handle, planner, ahead, prefetch, askers);
  }

  ObjectHandle handle() {
    return handle;
  }

  Pump pump() {
    return pump;
  }

  private BlockLayout layout() {
    return handle.layout();
  }

  /**
   * The block that holds {@code position}, ready and pinned, if it is in memory; null otherwise.
   * Never waits and starts nothing.
   */
  @Nullable Block peek(long position) {
    Block block = fetcher.find(handle, layout().blockAt(position));
    if (block == null) {
      return null;
    }
    if (!block.isReady() || position >= block.end()) {
      block.unpin();
      return null;
    }
    return block;
  }

  /**
   * The block that holds {@code position}, ready and pinned. Fetches what is missing of {@code
   * [position, end)} in parallel and waits for the first block of it.
   *
   * @param end where the read ends, after {@code position} and inside the object
   * @throws io.s3e.fetch.ObjectTruncatedException if the object ends before {@code position}
   */
  Block acquire(long position, long end, ReadStep step, Patience patience) throws IOException {
    Block ready = acquireReady(position, end, step);
    if (ready != null) {
      return ready;
    }
    handle.progress().onRead(position, end);
    Block fetched = fetch(position, end, step, patience);
    touch(fetched);
    return fetched;
  }

  /**
   * As {@link #acquire}, if the block is in memory; null otherwise. Never waits for a block, and
   * starts nothing for the block itself.
   */
  @Nullable Block acquireReady(long position, long end, ReadStep step) {
    Block block = findReady(position, end, step);
    if (block != null) {
      touch(block);
    }
    return block;
  }

  /** As {@link #acquireReady}, for a reader that {@linkplain #touch touches} the block itself. */
  @Nullable Block findReady(long position, long end, ReadStep step) {
    Block block = peek(position);
    if (block == null) {
      return null;
    }
    handle.progress().onRead(position, end);
    fetcher.metrics().count(Counter.MEMORY_HITS);
    handle.listener().onMemoryHit(Math.min(end, block.end()) - position);
    pump.start(pump.onRead(position, end, step, false), null);
    return block;
  }

  /**
   * Takes what follows {@code position} and is on disk, and not in memory.
   *
   * @param seen offset up to which the planner knows of the read, at {@code position} or behind it
   * @return how many bytes; 0 if the block there is to be {@linkplain #acquire acquired}
   */
  int takeFromDisk(long position, long end, long seen, ReadStep step, Target target) {
    DiskBytes bytes = fetcher.fromDisk(handle, position, target.room(end - position), true);
    if (bytes == null) {
      return 0;
    }
    int count;
    try {
      if (seen < end) {
        // While the disk works.
        handle.progress().onRead(seen, end);
        pump.start(pump.onRead(seen, end, step, false), null);
      }
      bytes.await();
    } finally {
      // Whatever happens, the target is the application's again.
      count = bytes.end();
    }
    target.filled(count);
    return count;
  }

  /**
   * Begins to read what follows {@code position} and is on disk, and not in memory, for a range of
   * a vectored read, which does not wait and counts what {@code target} is filled with.
   *
   * @return null if the block there is to be {@linkplain #expect expected}
   */
  @Nullable DiskBytes expectFromDisk(long position, long end, Target target) {
    return fetcher.fromDisk(handle, position, target.room(end - position), false);
  }

  /** The bytes of the block that holds {@code position}. */
  ByteRange blockAround(long position) {
    long block = layout().blockAt(position);
    return layout().bytesOf(new BlockRange(block, block + 1));
  }

  /**
   * Shows the planner what it wants to see, as far as that was just read or is in memory: before
   * the next read then, it knows what a footer says. Fetches nothing.
   *
   * @param start offset of the first byte that {@code target} has taken
   * @param end offset after the last of them
   */
  void showPlanner(long start, long end, Target target) {
    for (ByteRange range = pump.wanted(); range != null; range = pump.wanted()) {
      boolean wasRead = range.start() >= start && range.end() <= end;
      byte[] bytes =
          wasRead
              ? target.taken((int) (end - range.start()), (int) range.length())
              : inMemory(range);
      if (bytes == null) {
        return;
      }
      pump.show(range, bytes);
      keep(range);
    }
  }

  /** Blocks that say where the others lie stay longest: the next reader begins with them. */
  private void keep(ByteRange range) {
    BlockRange blocks = layout().covering(range.start(), range.end());
    for (long index = blocks.first(); index < blocks.end(); index++) {
      Block block = peek(layout().startOf(index));
      if (block != null) {
        block.keep();
        block.unpin();
      }
    }
  }

  /** The reader takes bytes of a block that is pinned and ready: from now on it may be evicted. */
  void touch(Block block) {
    block.touch();
    if (block.end() > pump.tailStart()) {
      block.keep();
    }
  }

  /** A copy of bytes of the object; null if one of them is not in memory. */
  private byte @Nullable [] inMemory(ByteRange range) {
    Block last = peek(range.end() - 1);
    if (last == null) {
      return null;
    }
    last.unpin();
    byte[] bytes = new byte[(int) range.length()];
    Target target = new Target.OfArray(bytes, 0, bytes.length);
    for (long next = range.start(); next < range.end(); ) {
      Block block = peek(next);
      if (block == null) {
        return null;
      }
      next += target.copy(block, next);
      block.unpin();
    }
    return bytes;
  }

  private Block fetch(long position, long end, ReadStep step, Patience patience)
      throws IOException {
    requireInside(position);
    long started = System.nanoTime();
    BlockRange wanted = layout().covering(position, end);
    Block block = fetcher.find(handle, wanted.first());
    Change ahead = pump.onRead(position, end, step, block == null);
    boolean followed = false;
    boolean stalled = false;
    Exception last = null;
    for (; ; ) {
      if (block == null) {
        boolean whole = isSmall() && !isGlance(position, end, step);
        block = demand(wanted, followed ? Change.NONE : ahead, Pieces.OF_READ, whole, patience);
      }
      boolean ready = false;
      try {
        if (!followed) {
          followed = true;
          // Not the block in hand: it may have failed by now, which is for its reader to hear.
          long unused = startAsked(wanted, wanted.first() + 1, Pieces.OF_READ);
          pump.start(ahead, block);
        }
        if (block != null) {
          // Grow the window while waiting and not afterwards: the wait is what it is to shorten.
          if (!stalled && !fetcher.isReadyWithin(block, STALL_NANOS)) {
            stalled = true;
            pump.onStall(position, step, block);
          }
          // The object may have turned out to end inside the block.
          ready = fetcher.await(handle, block, patience) && position < block.end();
        }
      } finally {
        if (!ready && block != null) {
          last = block.failure();
          block.unpin();
        }
      }
      if (block != null && ready) {
        long waited = System.nanoTime() - started;
        fetcher.metrics().count(Counter.WAITS);
        fetcher.metrics().add(Counter.WAIT_NANOS, waited);
        handle.listener().onStall(position, waited);
        return block;
      }
      requireInside(position);
      fetcher.checkDeadline(handle, last, patience);
      block = fetcher.find(handle, wanted.first());
      if (block == null) {
        ahead = pump.onMiss(step);
        followed = false;
      }
    }
  }

  /** Whether a read of a small object says that it will hardly need the rest of it. */
  private boolean isGlance(long position, long end, ReadStep step) {
    return step == ReadStep.POSITIONED
        && pump.policy() == ReadPolicy.RANDOM
        && (end - position) * SMALL_PART < handle.size();
  }

  private void requireInside(long position) throws ObjectTruncatedException {
    if (position >= handle.size()) {
      throw new ObjectTruncatedException("offset " + position + " is behind the end", null);
    }
  }

  /**
   * Starts fetching the first block of {@code wanted}, pinned; null if another thread was quicker.
   *
   * @param ahead what is to be started behind the read, and was not yet
   * @param pieces how what is wanted is cut
   * @param whole whether all of the object that is absent comes by the same GET
   */
  private @Nullable Block demand(
      BlockRange wanted, Change ahead, Pieces pieces, boolean whole, Patience patience)
      throws IOException {
    long first = firstAbsent(wanted.first(), whole ? 0 : ahead.alongFrom(wanted));
    int count = pieces.count(wanted, layout());
    long piece = count > 1 ? Pieces.piece(wanted, 0, count).end() : ahead.alongUntil(wanted);
    long end = whole ? wholeObject().end() : piece;
    long until = ahead.aheadUntil(Math.max(end, wanted.end()));
    Block block = fetcher.demand(handle, first, end, until, patience, pump);
    if (block == null || first == wanted.first()) {
      return block;
    }
    block.unpin();
    return fetcher.find(handle, wanted.first());
  }

  /**
   * The first of the blocks before {@code block} that are, without a gap, as absent as it is.
   *
   * @param from no block before this one is looked for
   */
  private long firstAbsent(long block, long from) {
    long first = block;
    while (first > from && fetcher.isAbsent(handle, first - 1)) {
      first--;
    }
    return first;
  }

  /**
   * The block that holds {@code position}, for a reader that does not wait: there, on its way, or
   * asked for now together with what is missing of {@code [position, end)}. Null if there is no
   * room, if its fetch is just being given up, or if another tenant fetches it.
   */
  @Nullable Expected expect(long position, long end, Pieces pieces) {
    BlockRange wanted = layout().covering(position, end);
    Block block = fetcher.find(handle, wanted.first());
    if (block == null) {
      long unused = startAsked(wanted, wanted.first(), pieces);
      block = fetcher.find(handle, wanted.first());
    }
    if (block != null && !block.isReady() && fetcher.isAnothers(block)) {
      block.unpin();
      return null;
    }
    return block == null ? null : Expected.of(fetcher, block);
  }

  /** As {@link #expect}, and waits for room. */
  Expected expectWaiting(long position, long end, Pieces pieces, Patience patience)
      throws IOException {
    BlockRange wanted = layout().covering(position, end);
    for (; ; ) {
      requireInside(position);
      Block block = fetcher.find(handle, wanted.first());
      if (block == null) {
        block = demand(wanted, Change.NONE, pieces, isSmall(), patience);
      }
      Expected expected = block == null ? null : expected(block, patience);
      if (expected != null) {
        return expected;
      }
      fetcher.checkDeadline(handle, null, patience);
    }
  }

  private @Nullable Expected expected(Block pinned, Patience patience) throws IOException {
    boolean comes = false;
    try {
      comes = !fetcher.isAnothers(pinned) || fetcher.await(handle, pinned, patience);
    } finally {
      if (!comes) {
        pinned.unpin();
      }
    }
    return comes ? Expected.of(fetcher, pinned) : null;
  }

  /** The expected block is ready, and is read from {@code position} on, and then touched. */
  void arrived(Expected expected, long position, long end) {
    handle.progress().onRead(position, end);
    long waited = expected.waitedNanos();
    fetcher.metrics().count(Counter.WAITS);
    fetcher.metrics().add(Counter.WAIT_NANOS, waited);
    handle.listener().onStall(position, waited);
  }

  /**
   * Starts fetching what somebody will read in a moment, as far as there is room.
   *
   * @return false if there was no room for the first of it
   */
  boolean announce(ByteRange range, Pieces pieces) {
    BlockRange asked = isSmall() ? wholeObject() : layout().covering(range.start(), range.end());
    return asked.isEmpty() || startAsked(asked, asked.first(), pieces) > asked.first();
  }

  /**
   * Starts fetching the end of the object, or all of a small one, for those who will open it: as a
   * guess.
   *
   * @return null if there was no room for the first of it, or nothing is fetched ahead
   */
  public @Nullable Announcement announceEnd() {
    long size = handle.size();
    BlockRange end =
        isSmall() ? wholeObject() : layout().covering(Math.max(0, size - END_BYTES), size);
    handle.progress().onOwnOrder();
    return pump.announce(end) > end.first() ? new Announcement(fetcher, this, end) : null;
  }

  /** What was announced of the object, and turned out to be of the same version, is read too. */
  public void readsAnnounced(Announcement announced) {
    if (announced.isOf(handle.version())) {
      handle.announcedAs(announced.handle().version());
    }
  }

  /**
   * Starts what is missing of {@code asked} from a block on, in pieces, until one has no room.
   *
   * @return the first block that is neither there nor on its way; {@code asked.end()} if all are
   */
  private long startAsked(BlockRange asked, long from, Pieces pieces) {
    int count = pieces.count(asked, layout());
    for (int i = 0; i < count; i++) {
      BlockRange piece = Pieces.piece(asked, i, count);
      BlockRange rest =
          new BlockRange(Math.min(piece.end(), Math.max(piece.first(), from)), piece.end());
      long stopped = fetcher.prefetch(handle, rest, Purpose.ASKED, pump);
      if (stopped < piece.end()) {
        return stopped;
      }
    }
    return asked.end();
  }

  /** Whether one GET brings all of the object as soon as a part of it. */
  private boolean isSmall() {
    return handle.size() <= RequestSizing.SMALL_OBJECT_BYTES;
  }

  private BlockRange wholeObject() {
    return layout().covering(0, handle.size());
  }
}
