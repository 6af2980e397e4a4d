package io.s3e.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.prefetch.ReadPlanner.Limits;
import io.s3e.prefetch.ReadPlanner.Plan;
import io.s3e.testing.Seed;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What holds for every program of reads, waits, refusals and settings. */
class ReadPlannerPropertyTest {
  private static final int PROGRAMS = 3000;
  private static final int STEPS = 120;

  @Test
  void everyPrefetchedBlockIsReadRefusedOrAbandonedExactlyOnce() {
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

  @Test
  void sameProgramSamePlans() {
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

  /** One random program and the model of what its planner has asked for. */
  private static final class Program {
    final List<String> log = new ArrayList<>();
    private final Random random;
    private final BlockLayout layout;
    private final Limits limits;
    private final ReadPlanner planner;
    private final BitSet out = new BitSet();
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
          new Limits(
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
        planner.limitWindow(cap, Integer.MAX_VALUE);
        cap = Math.min(cap, limits.maxWindowBytes());
        log.add("limit " + cap);
      } else if (what < 99) {
        planner.setMinimumReadahead(random.nextInt(100 * layout.blockSize()));
      } else if (random.nextBoolean()) {
        policy = ReadPolicy.values()[random.nextInt(4)];
        planner.setPolicy(policy);
        log.add("policy " + policy);
      } else {
        take("reset", planner.reset());
        assertThat(out.isEmpty()).isTrue();
      }
      assertThat(planner.describe()).contains(policy.toString());
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
      Plan plan = planner.onRead(reader[0], length);
      BlockRange touched = layout.covering(reader[0], reader[0] + length);
      if (!touched.isEmpty()) {
        for (BlockRange run : plan.prefetch()) {
          assertThat(run.first() >= touched.end() || run.end() <= touched.first()).isTrue();
        }
        out.clear((int) touched.first(), (int) touched.end());
      }
      take("read " + reader[0] + "+" + length, plan);
      reader[1] = reader[0];
      reader[0] += length;
    }

    private void stall() {
      if (!readers.isEmpty()) {
        long[] reader = readers.get(random.nextInt(readers.size()));
        take("stall " + reader[1], planner.onStall(reader[1]));
      }
    }

    /** What was out of a range does not come; some reader may find that out by waiting. */
    private void lose() {
      if (out.isEmpty()) {
        return;
      }
      int first = out.nextSetBit(random.nextInt(out.length()));
      int end = first + 1 + random.nextInt(20);
      planner.onLost(new BlockRange(first, end));
      out.clear(first, end);
      log.add("lose " + first + ".." + end + " | " + planner.describe());
      if (!readers.isEmpty() && random.nextBoolean()) {
        long[] reader = readers.get(random.nextInt(readers.size()));
        take("miss " + reader[1], planner.onMiss(reader[1]));
      }
    }

    private void take(String what, Plan plan) {
      log.add(what + " -> " + plan + " | " + planner.describe());
      for (BlockRange run : plan.abandoned()) {
        assertThat(run.isEmpty()).isFalse();
        for (long b = run.first(); b < run.end(); b++) {
          assertThat(out.get((int) b)).as("block %d abandoned, so it was out", b).isTrue();
        }
        out.clear((int) run.first(), (int) run.end());
      }
      long last = -1;
      for (BlockRange run : plan.prefetch()) {
        assertThat(policy).isNotEqualTo(ReadPolicy.RANDOM);
        assertThat(run.isEmpty()).isFalse();
        assertThat(run.first()).isGreaterThanOrEqualTo(last);
        assertThat(run.end()).isLessThanOrEqualTo(layout.blocks());
        assertThat(run.count())
            .isLessThanOrEqualTo(Math.max(1, limits.requestBytes() / layout.blockSize()));
        for (long b = run.first(); b < run.end(); b++) {
          assertThat(out.get((int) b)).as("block %d asked for twice", b).isFalse();
        }
        out.set((int) run.first(), (int) run.end());
        last = run.end();
      }
      if (!plan.prefetch().isEmpty()) {
        assertThat((long) out.cardinality() * layout.blockSize()).isLessThanOrEqualTo(cap);
        refuseSome(plan);
      }
    }

    private void refuseSome(Plan plan) {
      if (random.nextInt(6) > 0) {
        return;
      }
      int from = random.nextInt(plan.prefetch().size());
      BlockRange refused = plan.prefetch().get(from);
      if (random.nextBoolean()) {
        refused = new BlockRange(refused.first() + random.nextLong(refused.count()), refused.end());
      }
      planner.onRefused(refused);
      log.add("refuse " + refused + " | " + planner.describe());
      for (BlockRange run : plan.prefetch()) {
        if (run.end() > refused.first()) {
          out.clear((int) Math.max(run.first(), refused.first()), (int) run.end());
        }
      }
    }

    void finish() {
      take("reset", planner.reset());
      assertThat(out.isEmpty()).as("nothing is left out after a reset").isTrue();
      assertThat(planner.reset()).isEqualTo(new Plan(List.of(), List.of(), false));
    }
  }
}
