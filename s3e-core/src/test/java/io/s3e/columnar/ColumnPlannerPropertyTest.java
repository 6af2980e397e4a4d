// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.Ahead;
import io.s3e.prefetch.Ahead.Change;
import io.s3e.prefetch.Ahead.Starting;
import io.s3e.prefetch.GuessKind;
import io.s3e.prefetch.PrefetchLimits;
import io.s3e.prefetch.ReadPlanner;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.prefetch.VectorPlanner;
import io.s3e.prefetch.Wish;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What holds for every layout, and every program of reads, waits, refusals and settings. */
class ColumnPlannerPropertyTest {
  private static final int PROGRAMS = 1500;
  private static final int STEPS = 150;

  /** Programs in which something was planned for each kind of guess. */
  private static final int LEAST_USED = 8;

  @Slow
  @Test
  void everyGuessIsInsideTheObjectAndReadLostOrAbandonedExactlyOnce() {
    long base = Seed.draw();
    int[] planned = new int[GuessKind.values().length];
    for (int i = 0; i < PROGRAMS; i++) {
      Program program = run(base + i);
      for (GuessKind kind : GuessKind.values()) {
        Counter used = kind.used;
        planned[kind.ordinal()] += used != null && program.counted.get(used) > 0 ? 1 : 0;
      }
    }
    for (GuessKind kind : GuessKind.values()) {
      if (kind.isColumnar() && kind != GuessKind.TAIL) {
        assertThat(planned[kind.ordinal()]).as("%s", kind).isGreaterThan(LEAST_USED);
      }
    }
  }

  /** A jump to the first range of a vectored read once gave up what its other ranges took. */
  @Test
  void aVectoredReadAbandonsNothingThatItReads() {
    run(6_409_686_915_599_055_337L);
  }

  private static Program run(long seed) {
    Program program = new Program(seed);
    try {
      for (int step = 0; step < STEPS; step++) {
        program.step();
      }
      program.reset();
      program.settle();
      return program;
    } catch (AssertionError | RuntimeException e) {
      throw Seed.failure(seed, program.log, e);
    }
  }

  /** One random program and the model of what its planner has asked for. */
  private static final class Program {
    final List<String> log = new ArrayList<>();
    final LayoutMemory memory = new LayoutMemory();
    final EngineMetrics counted = new EngineMetrics();
    final FileLayout file;
    private final Random random;
    private final BlockLayout layout;
    private final StreamPlanner planner;
    private final Ahead ahead;
    private final PrefetchLimits limits;
    private final BitSet out = new BitSet();

    private final @Nullable ByteRange split;
    private long cap;
    private long asked;
    private long lost;
    private int group;

    Program(long seed) {
      random = new Random(seed);
      int block = 1 << (4 + random.nextInt(4));
      file = random.nextInt(3) == 0 ? randomOrc(block) : randomParquet(block);
      long size = file.footerStart + 1 + random.nextInt(4 * block);
      layout = new BlockLayout(size, block);
      int request = block * (1 + random.nextInt(16));
      limits =
          new PrefetchLimits(
              1 + random.nextInt(40 * block),
              1 + random.nextInt(request),
              request,
              random.nextInt(200 * block),
              1 + random.nextInt(5),
              1 + random.nextInt(16));
      cap = limits.maxWindowBytes();
      split =
          random.nextBoolean()
              ? null
              : ByteRange.ofLength(random.nextLong(size), random.nextLong(size));
      ByteRange known = split;
      ObjectVersion version =
          ObjectVersion.identified(new ObjectRef("b", "t/x=1/f"), size, "e", null);
      memory.keep(version, file);
      ReadPolicy policy = random.nextBoolean() ? ReadPolicy.RANDOM : ReadPolicy.ADAPTIVE;
      planner =
          new StreamPlanner(
              new ReadPlanner(layout, policy, null, limits),
              layout,
              limits,
              memory,
              null,
              version,
              () -> known,
              request,
              ClassLoader.getPlatformClassLoader(),
              ColumnarMode.AUTO,
              counted::add);
      ahead = new Ahead(layout, counted::add);
      log.add(layout + " " + limits + " " + policy + " split " + split);
      log.add(file.format + " of " + file.groups + " groups, " + file.columns + " columns");
    }

    private FileLayout randomParquet(int block) {
      int groups = 1 + random.nextInt(8);
      int columns = 1 + random.nextInt(6);
      long at = 4;
      List<List<long[]>> chunks = new ArrayList<>();
      for (int g = 0; g < groups; g++) {
        at += random.nextInt(10) == 0 ? random.nextInt(block) : 0;
        List<long[]> row = new ArrayList<>();
        for (int c = 0; c < columns; c++) {
          long length = random.nextInt(10) == 0 ? 0 : random.nextInt(6 * block);
          row.add(new long[] {at, length});
          at += length;
        }
        chunks.add(row);
      }
      boolean hasExtras = random.nextInt(4) > 0;
      long extras = at;
      long end = at + (hasExtras ? 3L * groups * columns * block / 2 : 0) + random.nextInt(block);
      try {
        LayoutBuilder builder = new LayoutBuilder(FileLayout.Format.PARQUET, end, groups, columns);
        for (int g = 0; g < groups; g++) {
          for (int c = 0; c < columns; c++) {
            long[] chunk = chunks.get(g).get(c);
            boolean hasDictionary = chunk[1] > 2 && random.nextInt(3) > 0;
            long dictionary = hasDictionary ? 1 + random.nextInt((int) chunk[1] - 1) : 0;
            builder.chunk(g, c, chunk[0], chunk[1], dictionary);
            if (hasExtras) {
              int i = g * columns + c;
              int each = block / 2;
              long third = (long) groups * columns * each;
              builder.layout.columnIndexes.set(i, extras + (long) i * each, random.nextInt(each));
              builder.layout.offsetIndexes.set(i, extras + third + (long) i * each, lengthOf(each));
              builder.layout.bloomFilters.set(i, extras + 2 * third + (long) i * each, each);
            }
          }
          long first = chunks.get(g).get(0)[0];
          long bytes = chunks.get(g).stream().mapToLong(chunk -> chunk[1]).sum();
          builder.layout.groupMark[g] = first + bytes / 2;
        }
        builder.schema(7);
        return builder.build();
      } catch (MalformedException e) {
        throw new AssertionError(e);
      }
    }

    private int lengthOf(int most) {
      return random.nextInt(4) == 0 ? random.nextInt(most) : most;
    }

    private FileLayout randomOrc(int block) {
      int stripes = 1 + random.nextInt(12);
      long at = 3;
      List<long[]> parts = new ArrayList<>();
      for (int s = 0; s < stripes; s++) {
        long[] part = {
          at, random.nextInt(2 * block), random.nextInt(20 * block), 1 + random.nextInt(block)
        };
        parts.add(part);
        at += part[1] + part[2] + part[3];
      }
      try {
        LayoutBuilder builder =
            new LayoutBuilder(FileLayout.Format.ORC, at + random.nextInt(block), stripes, 0);
        for (int s = 0; s < stripes; s++) {
          long[] part = parts.get(s);
          builder.stripe(s, part[0], part[1], part[2], part[3]);
        }
        builder.schema(7);
        return builder.build();
      } catch (MalformedException e) {
        throw new AssertionError(e);
      }
    }

    void step() {
      int what = random.nextInt(100);
      if (what < 50) {
        readLikeColumns();
      } else if (what < 65) {
        readVectored();
      } else if (what < 70) {
        long at = random.nextLong(layout.objectSize());
        read(at, at + 1 + random.nextInt(3 * layout.blockSize()));
      } else if (what < 80) {
        planner.onStall(random.nextLong(layout.objectSize()));
        look("stall");
      } else if (what < 92) {
        lose();
      } else if (what < 95) {
        cap = random.nextInt(200 * layout.blockSize());
        planner.limitWindow(cap, 1 + random.nextInt(40), 1 + random.nextInt(40), ahead);
        cap = Math.min(cap, limits.maxWindowBytes());
        log.add("limit " + cap);
      } else if (what < 97) {
        showFooter();
      } else if (what < 98) {
        group = random.nextInt(file.groups);
      } else if (random.nextInt(4) == 0) {
        reset();
      }
    }

    /** Pages at random, some outside their chunks, or bytes that are no index. */
    private void showIndexes() {
      ByteRange wants = planner.wants();
      if (wants == null || wants.start() >= file.footerStart) {
        return;
      }
      byte[] bytes = new byte[(int) wants.length()];
      random.nextBytes(bytes);
      for (int chunk = 0; chunk < file.groups * file.columns; chunk++) {
        ByteRange index = file.offsetIndexes.rangeOf(chunk / file.columns, chunk % file.columns);
        long at = file.chunk(chunk / file.columns, chunk % file.columns).start();
        long[][] pages = new long[1 + random.nextInt(4)][];
        for (int page = 0; page < pages.length; page++) {
          int length = 1 + random.nextInt(layout.blockSize());
          pages[page] = new long[] {page * 10L, at, length};
          at += length;
        }
        byte[] told = FooterWriter.offsetIndex(pages);
        if (index.start() >= wants.start() && index.end() <= wants.end()) {
          int length = (int) Math.min(index.length(), told.length);
          System.arraycopy(told, 0, bytes, (int) (index.start() - wants.start()), length);
        }
      }
      planner.onBytes(wants, bytes);
      log.add("indexes " + wants);
    }

    /** Streams of a stripe, or bytes that are no footer. */
    private void showFooter() {
      ByteRange wants = planner.wants();
      if (file.format == FileLayout.Format.PARQUET) {
        showIndexes();
        return;
      }
      for (int i = 0; i < 4 && wants != null && wants.start() < file.footerStart; i++) {
        long stripe = file.group(file.groupAt(wants.start())).start();
        List<long[]> streams = new ArrayList<>();
        long left = wants.start() - stripe;
        for (int column = 1; left > 0 && 9L * column + 3 < wants.length(); column++) {
          long length = 1 + random.nextLong(left);
          streams.add(new long[] {1, column, length});
          left -= length;
        }
        byte[] footer = new byte[(int) wants.length()];
        if (streams.isEmpty() || random.nextInt(10) == 0) {
          random.nextBytes(footer);
        } else {
          footer = OrcWriter.stripeFooter(streams, footer.length);
        }
        planner.onBytes(wants, footer);
        log.add("footer " + wants + " of " + streams.size());
        wants = planner.wants();
      }
    }

    private void readLikeColumns() {
      if (random.nextInt(3) == 0) {
        group = Math.min(file.groups - 1, group + 1);
      }
      ByteRange range = partOf(group);
      if (!range.isEmpty()) {
        read(range.start(), range.end());
      }
    }

    private ByteRange partOf(int g) {
      if (file.format == FileLayout.Format.ORC) {
        ByteRange data = file.stripeData(g);
        long half = data.start() + data.length() / 2;
        return switch (random.nextInt(4)) {
          case 0 -> file.stripeFooter(g);
          case 1 -> new ByteRange(file.group(g).start(), data.start());
          case 2 -> new ByteRange(data.start(), half);
          default -> new ByteRange(half, data.end());
        };
      }
      int column = random.nextInt(file.columns);
      planner.onSeek(file.offsetIndexes.rangeOf(g, random.nextInt(file.columns)).start());
      return switch (random.nextInt(10)) {
        case 0 -> file.dictionary(g, column);
        case 1 -> file.bloomFilters.rangeOf(g, column);
        case 2 -> file.columnIndexes.rangeOf(g, column);
        case 3 -> file.offsetIndexes.rangeOf(g, column);
        case 4, 5 -> {
          ByteRange chunk = file.chunk(g, column);
          long from = chunk.start() + random.nextLong(1 + chunk.length());
          yield new ByteRange(from, from + random.nextLong(1 + chunk.end() - from));
        }
        default -> file.chunk(g, column);
      };
    }

    private void read(long start, long end) {
      long clipped = Math.min(end, layout.objectSize());
      BlockRange touched = layout.covering(start, clipped);
      long until = Math.max(clipped, layout.endOf(layout.blockAt(start)));
      ahead.onRead(new ByteRange(start, clipped));
      planner.onRead(start, clipped, until);
      out.clear((int) touched.first(), (int) Math.max(touched.end(), touched.first()));
      look("read " + start + "-" + clipped);
    }

    private void readVectored() {
      group = Math.min(file.groups - 1, group + random.nextInt(3));
      List<ByteRange> ranges = new ArrayList<>();
      if (file.format == FileLayout.Format.ORC) {
        ranges.add(file.stripeData(group));
      } else {
        for (int c = 0; c < file.columns; c += 1 + random.nextInt(3)) {
          ByteRange chunk = file.chunk(group, c);
          boolean isWhole = chunk.length() < 2 || random.nextInt(5) > 0;
          ranges.add(isWhole ? chunk : new ByteRange(chunk.start() + 1, chunk.end()));
        }
      }
      List<ByteRange> spans =
          VectorPlanner.spans(ranges, layout.blockSize(), limits.requestBytes());
      spans.forEach(ahead::onRead);
      planner.onVectored(ranges, spans);
      for (ByteRange span : spans) {
        BlockRange touched = layout.covering(span.start(), span.end());
        out.clear((int) touched.first(), (int) touched.end());
      }
      look("vectored " + ranges);
    }

    private void lose() {
      if (out.isEmpty()) {
        return;
      }
      int first = out.nextSetBit(random.nextInt(out.length()));
      int end = out.nextClearBit(first);
      lost += end - first;
      out.clear(first, end);
      ahead.verify(this::isThere);
      log.add("lost " + first + ".." + end);
    }

    private boolean isThere(long block) {
      return out.get((int) block);
    }

    private void look(String step) {
      Wish wish = planner.wish();
      assertThat(described(planner.wish())).as("asked twice").isEqualTo(described(wish));
      BitSet wished = new BitSet();
      for (Wish.Range range : wish.ranges()) {
        BlockRange blocks = range.blocks();
        assertThat(blocks.isEmpty()).isFalse();
        assertThat(blocks.end()).isLessThanOrEqualTo(layout.blocks());
        BitSet twice = wished.get((int) blocks.first(), (int) blocks.end());
        assertThat(twice.isEmpty()).as("%s is wished twice", range).isTrue();
        wished.set((int) blocks.first(), (int) blocks.end());
      }
      Change change = ahead.look(wish, this::isThere);
      log.add(step + " -> " + change.starting() + " " + change.dropped());
      for (BlockRange run : change.dropped()) {
        assertThat(out.nextClearBit((int) run.first()))
            .as("%s", run)
            .isGreaterThanOrEqualTo((int) run.end());
        out.clear((int) run.first(), (int) run.end());
      }
      BitSet unwished = (BitSet) out.clone();
      unwished.andNot(wished);
      assertThat(unwished.isEmpty()).as("%s is not wished, and not dropped", unwished).isTrue();
      Change again = ahead.look(wish, this::isThere);
      assertThat(again.dropped()).isEmpty();
      assertThat(again.starting()).isEqualTo(change.starting());
      start(change.starting());
    }

    private static List<String> described(Wish wish) {
      return wish.ranges().stream().map(each -> each.start() + " " + each.blocks()).toList();
    }

    /** Some runs find no room; that may end the starts of this look, or the thread may be busy. */
    private void start(List<Starting> starting) {
      int refused = random.nextInt(6) > 0 ? starting.size() : random.nextInt(starting.size() + 1);
      for (Starting each : starting.subList(0, refused)) {
        BlockRange run = each.blocks();
        assertThat(run.isEmpty()).isFalse();
        assertThat(out.get((int) run.first(), (int) run.end()).isEmpty())
            .as("%s is out", run)
            .isTrue();
        out.set((int) run.first(), (int) run.end());
        ahead.started(run, each.of());
        asked += each.of().kind().isColumnar() ? run.count() : 0;
      }
      if (refused > 0) {
        assertThat((long) out.cardinality() * layout.blockSize()).isLessThanOrEqualTo(cap);
      }
      if (refused < starting.size() && random.nextBoolean()) {
        planner.refused(starting.subList(refused, starting.size()), ahead);
        log.add("refused from " + refused + " on");
      }
    }

    void reset() {
      planner.reset();
      look("reset");
      assertThat(out.isEmpty()).isTrue();
    }

    /** All that was asked for has come to an end, and no more than was asked for. */
    void settle() {
      long settled = 0;
      Set<Counter> ends = EnumSet.noneOf(Counter.class);
      for (GuessKind kind : GuessKind.values()) {
        if (kind.isColumnar()) {
          ends.addAll(List.of(requireNonNull(kind.used), requireNonNull(kind.wasted)));
        }
      }
      for (Counter end : ends) {
        settled += counted.get(end);
      }
      long withdrawn = counted.get(Counter.COLUMNAR_WITHDRAWN_BYTES);
      assertThat(settled + withdrawn).isEqualTo(counted.get(Counter.COLUMNAR_ASKED_BYTES));
      assertThat(settled + withdrawn).isLessThanOrEqualTo(asked * layout.blockSize());
      assertThat(withdrawn).isLessThanOrEqualTo(lost * layout.blockSize());
    }
  }
}
