// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.prefetch.Ahead.Change;
import io.s3e.prefetch.Ahead.Starting;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What holds for every program of reads, waits, refusals, losses and settings. */
class ReadPlannerPropertyTest {
  private static final int PROGRAMS = 3000;
  private static final int STEPS = 120;

  @Slow
  @Test
  void everyStartedBlockIsReadLostOrAbandonedExactlyOnce() {
    long base = Seed.draw();
    for (int i = 0; i < PROGRAMS; i++) {
      runProgram(base + i);
    }
  }

  /** A reader that waited in vain was idle for long: its own cursor was retired as it asked. */
  @Test
  void missOfAnIdleReaderKeepsItsCursor() {
    runProgram(-8019462517584732536L);
  }

  /** As who wants to be ahead as far as it goes says it. */
  @Test
  void theLargestMinimumIsAsFarAsTheWindowGoes() {
    BlockLayout layout = new BlockLayout(1 << 20, 16);
    PrefetchLimits limits = new PrefetchLimits(64, 16, 64, 4096, 1, 4);
    for (long minimum : new long[] {4096, Long.MAX_VALUE}) {
      ReadPlanner planner = new ReadPlanner(layout, ReadPolicy.SEQUENTIAL, null, limits);
      planner.setMinimumReadahead(minimum);
      planner.onRead(0, 16);
      assertThat(planner.wish().ranges().stream().mapToLong(range -> range.blocks().count()).sum())
          .as("blocks ahead of a minimum of %d", minimum)
          .isEqualTo(4096 / 16);
    }
  }

  private static long wantedUntil(ReadPlanner planner) {
    return planner.wish().ranges().stream().mapToLong(each -> each.blocks().end()).max().orElse(0);
  }

  @Test
  @Slow
  void nothingNewIsWantedOfAReaderThatGoesOnWithinTheQuietBlocks() {
    long base = Seed.draw();
    long quiet = 0;
    for (int i = 0; i < 500; i++) {
      quiet += quietBlocksOf(base + i);
    }
    assertThat(quiet).as("quiet blocks of all").isGreaterThan(10_000);
  }

  private static long quietBlocksOf(long seed) {
    Random random = new Random(seed);
    int block = 16;
    BlockLayout layout = new BlockLayout(3_000L * block - random.nextInt(block), block);
    int request = block * (1 + random.nextInt(64));
    PrefetchLimits limits =
        new PrefetchLimits(
            block * (1 + random.nextInt(64)), block, request, block * 1_000, 4, 1 << 14);
    ReadPolicy policy = ReadPolicy.values()[random.nextInt(ReadPolicy.values().length)];
    ByteRange split =
        random.nextBoolean() ? null : ByteRange.ofLength(0, random.nextInt(3_000 * block));
    ReadPlanner planner = new ReadPlanner(layout, policy, split, limits);
    Ahead ahead = new Ahead(layout, (counter, amount) -> {});
    long all = 0;
    for (long next = random.nextInt(5), end; next < layout.blocks() - 4; next = end) {
      end = next + 1 + random.nextInt(3);
      planner.limitWindow(
          (long) block * (1 + random.nextInt(2_000)), random.nextBoolean() ? 20 : 1, ahead);
      planner.onRead(next * block, (end - next) * block);
      if (random.nextInt(8) == 0) {
        planner.onStall((end - 1) * block);
      }
      if (random.nextInt(16) == 0) {
        planner.refused(end, ahead);
      }
      long wanted = wantedUntil(planner);
      long quiet = planner.quietBlocks(end * block);
      assertThat(end + quiet).as("seed %d", seed).isLessThanOrEqualTo(Math.max(end, wanted));
      for (long last = end + quiet; end < last; end++) {
        planner.onRead(end * block, block);
        // What was read is wanted no more, so that there may be nothing left.
        assertThat(wantedUntil(planner)).as("seed %d", seed).isIn(wanted, 0L);
        all++;
      }
    }
    return all;
  }

  @Test
  void aReaderIsNotQuietForWhatAnotherHasAhead() {
    BlockLayout layout = new BlockLayout(1 << 20, 16);
    PrefetchLimits limits = new PrefetchLimits(256, 16, 256, 1 << 14, 4, 4);
    ReadPlanner planner = new ReadPlanner(layout, ReadPolicy.SEQUENTIAL, null, limits);
    for (int block = 0; block < 40; block++) {
      planner.onRead(block * 16, 16);
    }
    assertThat(planner.quietBlocks(40 * 16)).isPositive();
    assertThat(planner.quietBlocks(30 * 16)).isZero();
    planner.onRead(10_000 * 16, 16);
    assertThat(planner.quietBlocks(40 * 16)).as("another reads").isZero();
    planner.onRead(40 * 16, 16);
    assertThat(planner.quietBlocks(41 * 16)).isPositive();
  }

  @Test
  void sameProgramSameStarts() {
    long seed = Seed.draw();
    assertThat(runProgram(seed)).as("seed %d", seed).isEqualTo(runProgram(seed));
  }

  private static List<String> runProgram(long seed) {
    Program program = new Program(seed);
    try {
      for (int step = 0; step < STEPS; step++) {
        program.step();
      }
      program.finish();
      return program.log;
    } catch (AssertionError | RuntimeException e) {
      throw Seed.failure(seed, program.log, e);
    }
  }

  /** One random program and the model of what was started for its reader. */
  private static final class Program {
    final List<String> log = new ArrayList<>();
    private final Random random;
    private final BlockLayout layout;
    private final PrefetchLimits limits;
    private final ReadPlanner planner;
    private final Ahead ahead;
    private final BitSet out = new BitSet();

    /** What others have fetched. */
    private final BitSet there = new BitSet();

    private final List<long[]> readers = new ArrayList<>();
    private ReadPolicy policy;
    private long cap;

    Program(long seed) {
      random = new Random(seed);
      int block = 1 << (2 + random.nextInt(4));
      long size = random.nextInt(4) == 0 ? random.nextInt(3 * block) : random.nextInt(400 * block);
      layout = new BlockLayout(size, block);
      int request = block * (1 + random.nextInt(16)) + random.nextInt(block);
      limits =
          new PrefetchLimits(
              1 + random.nextInt(40 * block),
              1 + random.nextInt(request),
              request,
              random.nextInt(200 * block),
              1 + random.nextInt(5),
              1 + random.nextInt(16));
      policy = ReadPolicy.values()[random.nextInt(4)];
      long splitStart = random.nextBoolean() ? 0 : random.nextLong(size + 1);
      ByteRange split =
          random.nextBoolean() ? null : ByteRange.ofLength(splitStart, random.nextLong(size + 1));
      planner = new ReadPlanner(layout, policy, split, limits);
      ahead = new Ahead(layout, (counter, amount) -> {});
      cap = limits.maxWindowBytes();
      log.add(layout + " " + limits + " " + policy + " split " + split);
    }

    void step() {
      int what = random.nextInt(100);
      if (what < 66) {
        read();
      } else if (what < 70) {
        lose();
      } else if (what < 96) {
        stall();
      } else if (what < 98) {
        cap = random.nextInt(200 * layout.blockSize());
        planner.limitWindow(cap, Integer.MAX_VALUE, ahead);
        cap = Math.min(cap, limits.maxWindowBytes());
        log.add("limit " + cap);
      } else if (what < 99) {
        planner.setMinimumReadahead(random.nextInt(100 * layout.blockSize()));
      } else {
        planner.reset();
        look("reset");
        assertThat(out.isEmpty()).isTrue();
      }
      assertThat(PlannerText.of(planner, layout)).contains(policy.toString());
    }

    private void read() {
      int which = random.nextInt(4);
      if (readers.size() <= which) {
        which = readers.size();
        readers.add(new long[] {0, 0});
      }
      long[] reader = readers.get(which);
      switch (random.nextInt(20)) {
        case 0 -> reader[0] = random.nextLong(layout.objectSize() + 1);
        case 1 -> reader[0] = Math.max(0, reader[0] - random.nextInt(20 * layout.blockSize()));
        case 2 -> reader[0] += random.nextInt(20 * layout.blockSize());
        default -> {}
      }
      int length = random.nextInt((random.nextInt(10) == 0 ? 60 : 3) * layout.blockSize());
      BlockRange touched = layout.covering(reader[0], reader[0] + length);
      ahead.onRead(ByteRange.ofLength(reader[0], length));
      planner.onRead(reader[0], length);
      if (!touched.isEmpty()) {
        out.clear((int) touched.first(), (int) touched.end());
        there.set((int) touched.first(), (int) touched.end(), random.nextBoolean());
      }
      look("read " + reader[0] + "+" + length);
      reader[1] = reader[0];
      reader[0] += length;
    }

    private void stall() {
      if (!readers.isEmpty()) {
        long[] reader = readers.get(random.nextInt(readers.size()));
        planner.onStall(reader[1]);
        look("stall " + reader[1]);
      }
    }

    /** What is ahead within a range is not there; some reader may find that out by waiting. */
    private void lose() {
      if (out.isEmpty()) {
        return;
      }
      int first = out.nextSetBit(random.nextInt(out.length()));
      int end = first + 1 + random.nextInt(20);
      lose(first, end);
      log.add("lose " + first + ".." + end + " | " + PlannerText.of(planner, layout));
      if (random.nextBoolean()) {
        look("miss");
      }
    }

    private void lose(int first, int end) {
      out.clear(first, end);
      there.clear(first, end);
      ahead.verify(this::isThere);
    }

    private boolean isThere(long block) {
      return out.get((int) block) || there.get((int) block);
    }

    private void look(String what) {
      Wish wish = planner.wish();
      requireSound(wish);
      assertThat(described(planner.wish())).as("asked twice").isEqualTo(described(wish));
      Change change = ahead.look(wish, this::isThere);
      log.add(what + " -> " + described(change) + " | " + PlannerText.of(planner, layout));
      for (BlockRange run : change.dropped()) {
        for (long b = run.first(); b < run.end(); b++) {
          assertThat(out.get((int) b)).as("block %d abandoned, so it was out", b).isTrue();
        }
        out.clear((int) run.first(), (int) run.end());
      }
      Change again = ahead.look(wish, this::isThere);
      assertThat(again.dropped()).isEmpty();
      assertThat(again.starting()).isEqualTo(change.starting());
      start(change.starting());
    }

    /** Some runs find no room; that may end the starts of this look, or the thread may be busy. */
    private void start(List<Starting> starting) {
      requireAbsent(starting.stream().map(Starting::blocks).toList());
      int refused = random.nextInt(6) > 0 ? starting.size() : random.nextInt(starting.size() + 1);
      for (int i = 0; i < starting.size(); i++) {
        Starting each = starting.get(i);
        BlockRange run = each.blocks();
        assertThat(policy).isNotEqualTo(ReadPolicy.RANDOM);
        assertThat(run.isEmpty()).isFalse();
        assertThat(run.count())
            .isLessThanOrEqualTo(Math.max(1, limits.requestBytes() / layout.blockSize()));
        long sent = i < refused ? run.count() : i > refused ? 0 : random.nextLong(run.count());
        out.set((int) run.first(), (int) (run.first() + sent));
        ahead.started(new BlockRange(run.first(), run.first() + sent), each.of());
        if (i == refused && random.nextBoolean()) {
          planner.refused(run.first() + sent, ahead);
          log.add("refuse " + (run.first() + sent) + " | " + PlannerText.of(planner, layout));
        }
      }
      if (!starting.isEmpty()) {
        assertThat((long) out.cardinality() * layout.blockSize()).isLessThanOrEqualTo(cap);
        if (refused == starting.size()) {
          Change after = ahead.look(planner.wish(), this::isThere);
          assertThat(after).as("all was started").isEqualTo(Change.NONE);
        }
      }
    }

    /** But for islands. */
    private void requireAbsent(List<BlockRange> runs) {
      long absent = 0;
      long there = 0;
      for (BlockRange run : runs) {
        for (long b = run.first(); b < run.end(); b++) {
          absent += isThere(b) ? 0 : 1;
          there += isThere(b) ? 1 : 0;
        }
      }
      assertThat(4 * there).as("%d are absent of %s", absent, runs).isLessThanOrEqualTo(absent);
    }

    private static List<String> described(Wish wish) {
      return wish.ranges().stream().map(each -> each.start() + " " + each.blocks()).toList();
    }

    private static String described(Change change) {
      return change.starting().stream().map(Starting::blocks).toList() + " " + change.dropped();
    }

    private void requireSound(Wish wish) {
      BitSet blocks = new BitSet();
      for (Wish.Range range : wish.ranges()) {
        int first = (int) range.blocks().first();
        int end = (int) range.blocks().end();
        assertThat(first).isLessThan(end);
        assertThat(end).isLessThanOrEqualTo((int) layout.blocks());
        assertThat(blocks.get(first, end).isEmpty()).as("%s is wished twice", range).isTrue();
        blocks.set(first, end);
      }
    }

    void finish() {
      planner.reset();
      look("reset");
      assertThat(out.isEmpty()).as("nothing is left out after a reset").isTrue();
      assertThat(ahead.look(planner.wish(), this::isThere)).isEqualTo(Change.NONE);
    }
  }
}
