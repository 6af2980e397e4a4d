// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.columnar.Recording.Call;
import io.s3e.metrics.EngineMetrics;
import io.s3e.prefetch.Ahead;
import io.s3e.prefetch.Ahead.Change;
import io.s3e.prefetch.Ahead.Starting;
import io.s3e.prefetch.PrefetchLimits;
import io.s3e.prefetch.ReadPlanner;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.prefetch.VectorPlanner;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Plays a recording against the planners of its streams in virtual time: 30 ms to the first byte,
 * 60 MB/s a connection, any number of connections, blocks of 64 KiB that stay in memory, a reader
 * that takes no time of its own, if nothing else is said. Reads are told to the planners as a
 * stream tells them: what lies in the block last read from is not heard of, and short reads fetch a
 * kilobyte. No clock, no threads.
 */
final class Replay {
  /** What a stream knows of its split. */
  enum Split {
    /** What Spark said, or else the whole file. */
    KNOWN,
    UNKNOWN
  }

  static final int BLOCK = 64 << 10;
  private static final int REQUEST = 8 << 20;
  private static final long FIRST_BYTE_NANOS = 30_000_000;
  private static final double BYTES_PER_NANO = 0.060;
  private static final long STALL_NANOS = 200_000;
  private static final long SMALL_OBJECT = 1 << 20;
  private static final int SHORT_READ = 1024;
  private static final long NEVER = Long.MAX_VALUE;
  private static final long MIB = 1 << 20;

  private final LayoutMemory memory;
  private final ColumnarMode mode;
  private final Split split;
  private final Map<String, RecordedFiles.File> ends;
  private final @Nullable ByteRange wholeSplit;
  private final Map<String, Store> stores = new TreeMap<>();
  private final Map<String, Stream> streams = new HashMap<>();
  private final PriorityQueue<Long> inFlight = new PriorityQueue<>();
  private String names = "";
  private @Nullable LayoutMemory past;
  private int maxInFlight = Integer.MAX_VALUE;
  private double nanosPerByte;
  private long now;
  private long wantedBytes;

  /** Reads that found a block which nobody had asked for. */
  int dependent;

  int requests;
  int refusals;
  long blockedNanos;
  final List<String> log = new ArrayList<>();

  /** What the planners of all streams have told their listener. */
  final EngineMetrics counted = new EngineMetrics();

  /** What one object has in memory. */
  private static final class Store {
    final BlockLayout layout;
    final long[] readableAt;
    final BitSet used = new BitSet();
    final BitSet fetched = new BitSet();

    Store(long size) {
      layout = new BlockLayout(size, BLOCK);
      readableAt = new long[(int) layout.blocks()];
      Arrays.fill(readableAt, NEVER);
    }
  }

  private static final class Stream {
    final Store store;
    final StreamPlanner planner;
    final Ahead ahead;
    final RecordedFiles.@Nullable File file;
    long currentBlock = -1;

    Stream(Store store, StreamPlanner planner, Ahead ahead, RecordedFiles.@Nullable File file) {
      this.store = store;
      this.planner = planner;
      this.ahead = ahead;
      this.file = file;
    }
  }

  /**
   * @param wholeSplit the split of every stream, where it is known and the recording does not tell
   */
  Replay(
      LayoutMemory memory,
      ColumnarMode mode,
      Split split,
      @Nullable ByteRange wholeSplit,
      Map<String, RecordedFiles.File> ends) {
    this.memory = memory;
    this.mode = mode;
    this.split = split;
    this.wholeSplit = wholeSplit;
    this.ends = ends;
  }

  /** Guesses beyond so many GETs in flight are refused; demand is not. */
  Replay withConnections(int most) {
    maxInFlight = most;
    return this;
  }

  /** Streams believe what another JVM has learnt, where {@link #memory} has nothing. */
  Replay recalling(LayoutMemory known) {
    past = known;
    return this;
  }

  /** The files are others of the same tables, of these names. */
  Replay ofFiles(String prefix) {
    names = prefix;
    return this;
  }

  /** The reader works on what it has read, at this rate. */
  Replay withConsumerOf(double megabytesPerSecond) {
    nanosPerByte = 1000 / megabytesPerSecond;
    return this;
  }

  Replay play(Recording recording) {
    for (Call call : recording.calls()) {
      switch (call.kind()) {
        case OPEN -> open(call);
        case SEEK -> seek(streams.get(call.stream()), call.ranges().get(0).start());
        case READ -> moving(streams.get(call.stream()), call.ranges().get(0));
        case POSITIONED -> {
          ByteRange range = call.ranges().get(0);
          wantedBytes += range.length();
          read(streams.get(call.stream()), range, range.end(), range.end());
        }
        case VECTORED -> vectored(streams.get(call.stream()), call.ranges());
        case CLOSE -> {
          Stream stream = streams.get(call.stream());
          stream.planner.reset();
          var unused = look(stream);
        }
      }
    }
    return this;
  }

  private void open(Call call) {
    Store store = stores.computeIfAbsent(call.file(), name -> new Store(call.size()));
    ObjectVersion version =
        ObjectVersion.identified(
            new ObjectRef("bucket", "table/" + names + call.file()), call.size(), "etag", null);
    PrefetchLimits limits = PrefetchLimits.defaults(BLOCK, REQUEST);
    ReadPolicy policy = call.isVectoring() ? ReadPolicy.RANDOM : ReadPolicy.ADAPTIVE;
    ByteRange whole = wholeSplit == null ? new ByteRange(0, call.size()) : wholeSplit;
    ByteRange told = call.split() == null ? whole : call.split();
    StreamPlanner planner =
        new StreamPlanner(
            new ReadPlanner(store.layout, policy, null, limits),
            store.layout,
            limits,
            memory,
            past,
            version,
            () -> split == Split.KNOWN ? told : null,
            REQUEST,
            ClassLoader.getPlatformClassLoader(),
            mode,
            counted::add);
    Ahead ahead = new Ahead(store.layout, counted::add);
    streams.put(call.stream(), new Stream(store, planner, ahead, ends.get(call.file())));
  }

  /** Seeks inside the block last read from are told; others are known by the read that follows. */
  private static void seek(Stream stream, long position) {
    if (stream.store.layout.blockAt(position) == stream.currentBlock) {
      stream.planner.onSeek(position);
    }
  }

  /** A read of the moving position: bytes of the block last read from are copied unheard. */
  private void moving(Stream stream, ByteRange range) {
    Store store = stream.store;
    wantedBytes += range.length();
    long size = store.layout.objectSize();
    long from = range.start();
    if (store.layout.blockAt(from) == stream.currentBlock) {
      from = store.layout.endOf(stream.currentBlock);
    }
    if (from >= range.end()) {
      return;
    }
    long end = range.length() <= SHORT_READ ? from + SHORT_READ : range.end();
    end = Math.min(size, end);
    long until = Math.max(end, store.layout.endOf(store.layout.blockAt(from)));
    read(stream, new ByteRange(from, end), end, until);
    stream.currentBlock = store.layout.blockAt(range.end() - 1);
  }

  private void read(Stream stream, ByteRange range, long end, long until) {
    Store store = stream.store;
    stream.ahead.onRead(new ByteRange(range.start(), end));
    stream.planner.onRead(range.start(), end, until);
    Change change = look(stream);
    BlockRange touched = store.layout.covering(range.start(), end);
    long first = change.alongFrom(touched);
    demand(store, touched, new BlockRange(first, touched.end()), 8);
    follow(stream, change);
    long stall = touched.first();
    while (stall < touched.end() && store.readableAt[(int) stall] <= now + STALL_NANOS) {
      stall++;
    }
    if (stall < touched.end()) {
      long at = Math.max(range.start(), store.layout.startOf(stall));
      stream.planner.onStall(at);
      follow(stream, look(stream));
    }
    await(store, touched);
    show(stream);
    note("read", range, change);
  }

  private void vectored(Stream stream, List<ByteRange> ranges) {
    Store store = stream.store;
    ranges.forEach(range -> wantedBytes += range.length());
    List<ByteRange> spans = VectorPlanner.spans(ranges, BLOCK, REQUEST);
    spans.forEach(stream.ahead::onRead);
    stream.planner.onVectored(ranges, spans);
    Change change = look(stream);
    boolean wasDependent = false;
    int before = dependent;
    for (ByteRange span : spans) {
      BlockRange touched = store.layout.covering(span.start(), span.end());
      demand(store, touched, touched, 8);
      wasDependent |= dependent > before;
    }
    dependent = before + (wasDependent ? 1 : 0);
    follow(stream, change);
    long stalledAt = -1;
    for (ByteRange span : spans) {
      BlockRange touched = store.layout.covering(span.start(), span.end());
      for (long block = touched.first(); block < touched.end(); block++) {
        if (stalledAt < 0 && store.readableAt[(int) block] > now + STALL_NANOS) {
          stalledAt = store.layout.startOf(block);
        }
      }
    }
    if (stalledAt >= 0) {
      stream.planner.onStall(stalledAt);
      follow(stream, look(stream));
    }
    for (ByteRange span : spans) {
      await(store, store.layout.covering(span.start(), span.end()));
    }
    show(stream);
    for (ByteRange range : ranges) {
      now += (long) (range.length() * nanosPerByte);
    }
    note("vectored", ranges.isEmpty() ? new ByteRange(0, 0) : ranges.get(0), change);
  }

  private void note(String what, ByteRange range, Change change) {
    List<BlockRange> runs = change.starting().stream().map(Starting::blocks).toList();
    log.add("%.1f %s %s %s %s".formatted(now / 1e6, what, range, runs, change.dropped()));
  }

  private static Change look(Stream stream) {
    return stream.ahead.look(
        stream.planner.wish(), block -> stream.store.readableAt[(int) block] != NEVER);
  }

  /** Hands the planner the bytes that it wants to see, if they are in memory. */
  private void show(Stream stream) {
    for (ByteRange wants = stream.planner.wants();
        wants != null && stream.file != null && stream.file.has(wants.start());
        wants = stream.planner.wants()) {
      BlockRange blocks = stream.store.layout.covering(wants.start(), wants.end());
      for (long block = blocks.first(); block < blocks.end(); block++) {
        if (stream.store.readableAt[(int) block] > now) {
          return;
        }
      }
      stream.planner.onBytes(wants, stream.file.bytes(wants.start(), wants.end()));
    }
  }

  /** Asks for {@code touched} if any of it is missing, and then for what goes along. */
  private void demand(Store store, BlockRange touched, BlockRange along, int most) {
    BlockRange wanted = along;
    if (store.layout.objectSize() <= SMALL_OBJECT) {
      wanted = new BlockRange(0, store.layout.blocks());
    }
    boolean isMissing = false;
    for (long block = touched.first(); block < touched.end(); block++) {
      store.used.set((int) block);
      isMissing |= store.readableAt[(int) block] == NEVER;
    }
    if (!isMissing) {
      return;
    }
    dependent++;
    long bytes = wanted.count() * BLOCK;
    long pieces = Math.max(1, Math.min(most, bytes <= 5 * MIB / 4 ? 1 : bytes / MIB));
    for (long i = 0; i < pieces; i++) {
      start(
          store,
          new BlockRange(
              wanted.first() + i * wanted.count() / pieces,
              wanted.first() + (i + 1) * wanted.count() / pieces));
    }
  }

  private void follow(Stream stream, Change change) {
    List<Starting> starting = change.starting();
    for (int i = 0; i < starting.size(); i++) {
      Starting run = starting.get(i);
      while (!inFlight.isEmpty() && inFlight.peek() <= now) {
        inFlight.remove();
      }
      if (inFlight.size() >= maxInFlight) {
        refusals++;
        stream.planner.refused(starting.subList(i, starting.size()), stream.ahead);
        return;
      }
      start(stream.store, run.blocks());
      stream.ahead.started(run.blocks(), run.of());
    }
  }

  /** Starts what is missing of a run, each part by one GET. */
  private void start(Store store, BlockRange run) {
    long from = run.first();
    while (from < run.end()) {
      long to = from;
      while (to < run.end() && store.readableAt[(int) to] == NEVER) {
        to++;
      }
      for (long block = from; block < to; block++) {
        long bytes = store.layout.endOf(block) - store.layout.startOf(from);
        store.readableAt[(int) block] = now + FIRST_BYTE_NANOS + (long) (bytes / BYTES_PER_NANO);
        store.fetched.set((int) block);
      }
      if (to > from) {
        requests++;
        inFlight.add(store.readableAt[(int) to - 1]);
      }
      from = to + 1;
    }
  }

  private void await(Store store, BlockRange touched) {
    long ready = now;
    for (long block = touched.first(); block < touched.end(); block++) {
      ready = Math.max(ready, store.readableAt[(int) block]);
    }
    blockedNanos += ready - now;
    now = ready;
  }

  double millis() {
    return now / 1e6;
  }

  double blockedMillis() {
    return blockedNanos / 1e6;
  }

  /** Bytes fetched over the lengths of all reads. */
  double overFetch() {
    long fetched = 0;
    for (Store store : stores.values()) {
      for (int b = store.fetched.nextSetBit(0); b >= 0; b = store.fetched.nextSetBit(b + 1)) {
        fetched += store.layout.lengthOf(b);
      }
    }
    return (double) fetched / wantedBytes;
  }

  int fetchedBlocks() {
    return stores.values().stream().mapToInt(store -> store.fetched.cardinality()).sum();
  }

  /** Blocks that lie before {@code end}, were fetched, and that no read touched. */
  int unusedBlocksBefore(long end) {
    int unused = 0;
    for (Store store : stores.values()) {
      BitSet wasted = (BitSet) store.fetched.clone();
      wasted.andNot(store.used);
      for (int b = wasted.nextSetBit(0); b >= 0; b = wasted.nextSetBit(b + 1)) {
        unused += store.layout.endOf(b) <= end ? 1 : 0;
      }
    }
    return unused;
  }
}
