// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.micro;

import io.s3e.block.BlockLayout;
import io.s3e.block.ByteRange;
import io.s3e.prefetch.Ahead;
import io.s3e.prefetch.Ahead.Change;
import io.s3e.prefetch.PrefetchLimits;
import io.s3e.prefetch.ReadPlanner;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.prefetch.VectorPlanner;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;

/**
 * The cost of the policy: one step of a scan (a block further, with a window that is as large as it
 * gets), one positioned read at random, and the planning of a vectored read.
 */
@State(Scope.Thread)
@Threads(1)
public class PlannerBenchmark extends CallTime {
  private static final int BLOCK_BYTES = 64 << 10;
  private static final int REQUEST_BYTES = 8 << 20;
  private static final long OBJECT_BYTES = 1L << 40;
  private static final int RANDOM_READ_BYTES = 256 << 10;
  private static final int RANGES = 64;
  private static final int GAP_BYTES = 128 << 10;

  private final BlockLayout layout = new BlockLayout(OBJECT_BYTES, BLOCK_BYTES);
  private final SplittableRandom random = new SplittableRandom(1);
  private final List<ByteRange> ranges = new ArrayList<>();
  private ReadPlanner scan = planner(ReadPolicy.SEQUENTIAL);
  private ReadPlanner jumps = planner(ReadPolicy.ADAPTIVE);
  private Ahead aheadOfScan = ahead();
  private Ahead aheadOfJumps = ahead();
  private long position;

  private ReadPlanner planner(ReadPolicy policy) {
    return new ReadPlanner(
        layout, policy, null, PrefetchLimits.defaults(BLOCK_BYTES, REQUEST_BYTES));
  }

  private Ahead ahead() {
    return new Ahead(layout, (counter, amount) -> {});
  }

  private static Change read(ReadPlanner planner, Ahead ahead, long position, int length) {
    ahead.onRead(ByteRange.ofLength(position, length));
    planner.onRead(position, length);
    Change change = ahead.look(planner.wish(), block -> false);
    change.starting().forEach(run -> ahead.started(run.blocks(), run.of()));
    return change;
  }

  /** Lets the window of the scan grow, and lays out column chunks of 20 KiB to 1 MiB. */
  @Setup
  public void prepare() {
    scan = planner(ReadPolicy.SEQUENTIAL);
    jumps = planner(ReadPolicy.ADAPTIVE);
    aheadOfScan = ahead();
    aheadOfJumps = ahead();
    position = 0;
    for (int i = 0; i < 16; i++) {
      step();
      scan.onStall(position - 1);
    }
    ranges.clear();
    long start = 4;
    for (int i = 0; i < RANGES; i++) {
      long end = start + (20 << 10) + random.nextInt(1 << 20);
      ranges.add(new ByteRange(start, end));
      start = end + random.nextInt(2 * GAP_BYTES);
    }
  }

  @Benchmark
  public Change step() {
    Change change = read(scan, aheadOfScan, position, BLOCK_BYTES);
    position = (position + BLOCK_BYTES) % OBJECT_BYTES;
    return change;
  }

  @Benchmark
  public Change jump() {
    long at = random.nextLong(OBJECT_BYTES - RANDOM_READ_BYTES);
    return read(jumps, aheadOfJumps, at, RANDOM_READ_BYTES);
  }

  @Benchmark
  public List<VectorPlanner.Group> vectored() {
    return VectorPlanner.plan(ranges, BLOCK_BYTES, REQUEST_BYTES);
  }
}
