// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.cost;

import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What the counts of reads say by themselves, without the plan of a query and its files. Each
 * method finds one thing, or nothing where the counts do not show it, and does not care whether it
 * is worth telling: {@link #first} does.
 */
public final class ReadAdvice {
  /** How long S3 takes to begin an answer, as docs/BENCHMARKS.md has it. */
  public static final long ROUND_TRIP_MILLIS = 30;

  /** A part of the whole that nobody would notice is not told. */
  public static final double WORTH_TELLING = 0.03;

  private static final double THROTTLED = 0.01;

  /** S3E pauses after a refusal before it asks again. */
  private static final long PAUSE_MILLIS = 100;

  private static final double WASTED = 0.2;
  private static final long LITTLE_BYTES = 8L << 20;

  /** A reader with less memory cannot have as much on its way as a connection brings. */
  private static final long MEMORY_OF_A_READER = 32L << 20;

  private static final double MUCH_BLOCKED = 0.1;

  /** Shorter work is not worth a remark. */
  private static final long LONG_MILLIS = 10_000;

  private static final double LITTLE_BLOCKED = 0.05;

  private static final String BUDGET = "spark.s3e.memory.budget";

  /**
   * The memory of an executor.
   *
   * @param budgetBytes as it was set; 0 if it was left to its default
   * @param slots tasks that run at once
   */
  public record Memory(long budgetBytes, int slots) {}

  private ReadAdvice() {}

  public static Optional<Advice> throttled(ReadWork work) {
    if (work.throttled() == 0 || work.throttled() < THROTTLED * work.gets()) {
      return Optional.empty();
    }
    long byPauses = work.throttled() * (ROUND_TRIP_MILLIS + PAUSE_MILLIS);
    return Optional.of(
        new Advice(
            Advice.Topic.THROTTLED,
            Sizes.count(work.throttled())
                + " of "
                + Sizes.count(work.gets())
                + " GETs were refused by the store ("
                + Sizes.percent(work.throttled(), work.gets())
                + "); tasks waited "
                + Sizes.seconds(work.waitedMillis()),
            "spread the objects over more prefixes, ask for fewer at once, or ask AWS to partition"
                + " the bucket; who else reads it?",
            new Saving(Math.min(work.waitedMillis(), byPauses), work.throttled())));
  }

  public static Optional<Advice> wastedPrefetch(ReadWork work) {
    long wasted = work.prefetchWastedBytes();
    if (wasted < LITTLE_BYTES || wasted < WASTED * work.bytesFromS3()) {
      return Optional.empty();
    }
    double share = (double) wasted / Math.max(wasted, work.bytesFromS3());
    return Optional.of(
        new Advice(
            Advice.Topic.WASTED_PREFETCH,
            Sizes.bytes(wasted)
                + " of "
                + Sizes.bytes(work.bytesFromS3())
                + " from S3 were prefetched and read by nobody",
            "if readers stop early, spark.s3e.columnar=off or a smaller"
                + " spark.s3e.prefetch.window.max leaves them; if memory is short, raise "
                + BUDGET,
            new Saving(0, Math.round(work.gets() * share))));
  }

  public static Optional<Advice> memoryBudget(ReadWork work, Memory memory) {
    long budget = memory.budgetBytes();
    long need = MEMORY_OF_A_READER * memory.slots();
    if (budget == 0 || budget >= need || work.waitedMillis() < MUCH_BLOCKED * work.runMillis()) {
      return Optional.empty();
    }
    return Optional.of(
        new Advice(
            Advice.Topic.MEMORY_BUDGET,
            BUDGET
                + " is "
                + Sizes.bytes(budget)
                + " for "
                + memory.slots()
                + " tasks at once; they waited for reads "
                + Sizes.percent(work.waitedMillis(), work.runMillis())
                + " of their time",
            "leave " + BUDGET + " to its default, or set at least " + Sizes.bytes(need),
            new Saving(Math.round(work.waitedMillis() * (1 - (double) budget / need)), 0)));
  }

  /** A remark: work that waits for something else than reads. A HEAD counts as a wait. */
  public static Optional<Advice> notS3(ReadWork work) {
    long waited = work.waitedMillis() + work.heads() * ROUND_TRIP_MILLIS;
    if (work.runMillis() < LONG_MILLIS || waited >= LITTLE_BLOCKED * work.runMillis()) {
      return Optional.empty();
    }
    return Optional.of(
        new Advice(
            Advice.Topic.NOT_S3,
            "tasks ran "
                + Sizes.seconds(work.runMillis())
                + " and waited for reads "
                + Sizes.percent(work.waitedMillis(), work.runMillis())
                + " of it",
            "look at the query, its expressions and its shuffles; faster reads save no more than"
                + " that",
            Saving.NONE));
  }

  /**
   * What saves most of what the work costs, if that is at least {@link #WORTH_TELLING} of it; else
   * the remark, if there is one.
   */
  public static Optional<Advice> first(ReadWork work, Memory memory, Prices prices) {
    double whole = prices.of(work.runMillis(), work.gets() + work.heads());
    return Stream.of(throttled(work), memoryBudget(work, memory), wastedPrefetch(work))
        .flatMap(Optional::stream)
        .filter(advice -> prices.of(advice.saving()) >= WORTH_TELLING * whole)
        .max(Comparator.comparingDouble(advice -> prices.of(advice.saving())))
        .or(() -> notS3(work));
  }
}
