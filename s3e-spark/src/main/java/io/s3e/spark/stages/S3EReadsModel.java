// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import io.s3e.hadoop.cost.Prices;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What an application has read by S3E, made from its {@link SparkListenerS3EStage} events alone: in
 * the driver while it runs, and from an event log afterwards.
 *
 * <p>At most {@code retainedStages} stages are kept one by one, the latest to begin to report;
 * those before them stay in the sums over executors and over the application. A stage is one sum: a
 * thousand of them on a thousand executors would take hundreds of MB. Of executors that come and go
 * the {@value #MOST_EXECUTORS} that reported last are kept one by one, and one sum of all others.
 * Any thread; answers are copies.
 */
public final class S3EReadsModel {
  /**
   * In an event with the sums over executors, and with the GETs of stages that are not kept; no
   * stage of Spark's.
   */
  private static final StageAttempt ALL_STAGES = new StageAttempt(-1, 0);

  /** In an event with the sum of a stage, which is in those of executors; none of Spark's. */
  private static final String ALL_EXECUTORS = "all";

  /** More than work at once as a rule; what an application of months has is not bounded. */
  private static final int MOST_EXECUTORS = 1_000;

  /** In the place of the executors that are not kept one by one; no executor of Spark's. */
  public static final String OTHER_EXECUTORS = "others";

  private final int retainedStages;

  // Guarded by this.
  private final Map<StageAttempt, ReadCounts> stages = new LinkedHashMap<>();
  private final Map<StageAttempt, GetSummary> gets = new LinkedHashMap<>();
  private final Map<String, ExecutorReads> executors = byLatestReport();

  private ReadCounts total = ReadCounts.NONE;
  private GetSummary otherGets = GetSummary.NONE;

  /**
   * @param retainedStages at least 1; in Spark {@code spark.ui.retainedStages}
   */
  public S3EReadsModel(int retainedStages) {
    if (retainedStages < 1) {
      throw new IllegalArgumentException("retainedStages = " + retainedStages + ": at least 1");
    }
    this.retainedStages = retainedStages;
  }

  /** Adds the tasks of one event. */
  public void add(SparkListenerS3EStage event) {
    add(event.reads());
  }

  private synchronized void add(StageReads reads) {
    for (ExecutorReads each : reads.executors()) {
      if (!each.executorId().equals(ALL_EXECUTORS)) {
        add(executors, each);
        total = total.plus(each.counts());
      }
    }
    if (reads.stage().equals(ALL_STAGES) || isLateForOneThatIsGone(reads)) {
      otherGets = otherGets.plus(reads.gets());
      return;
    }
    stages.merge(reads.stage(), reads.total(), ReadCounts::plus);
    gets.merge(reads.stage(), reads.gets(), GetSummary::plus);
    while (stages.size() > retainedStages) {
      StageAttempt oldest = stages.keySet().iterator().next();
      otherGets = otherGets.plus(gets.getOrDefault(oldest, GetSummary.NONE));
      gets.remove(oldest);
      stages.remove(oldest);
    }
  }

  /** What comes after the tasks of a stage would make it the latest, in place of a whole one. */
  private boolean isLateForOneThatIsGone(StageReads reads) {
    return stages.size() >= retainedStages
        && !stages.containsKey(reads.stage())
        && reads.total().tasks() == 0;
  }

  /**
   * Events of which another model makes the same: one for each stage that is kept, and one with the
   * executors and the GETs of the other stages.
   */
  public synchronized List<SparkListenerS3EStage> events() {
    List<StageReads> all = stages();
    all.add(new StageReads(ALL_STAGES, List.copyOf(executors.values()), otherGets));
    Collections.reverse(all);
    return all.stream().map(each -> new SparkListenerS3EStage(each, Prices.LIST)).toList();
  }

  /** The executor that reported longest ago comes first. */
  private static Map<String, ExecutorReads> byLatestReport() {
    return new LinkedHashMap<>(16, 0.75f, true);
  }

  private static void add(Map<String, ExecutorReads> sums, ExecutorReads reads) {
    sums.merge(reads.executorId(), reads, (sum, more) -> sum.plus(more.counts()));
    int others = sums.containsKey(OTHER_EXECUTORS) ? 1 : 0;
    if (sums.size() > MOST_EXECUTORS + others) {
      ExecutorReads oldest =
          sums.values().stream()
              .filter(each -> !each.executorId().equals(OTHER_EXECUTORS))
              .iterator()
              .next();
      sums.remove(oldest.executorId());
      add(sums, new ExecutorReads(OTHER_EXECUTORS, "", oldest.counts()));
    }
  }

  /** The latest stages, the last to begin to report first; the executors of each are one sum. */
  public synchronized List<StageReads> stages() {
    List<StageReads> all = new ArrayList<>();
    stages.forEach(
        (stage, sum) ->
            all.add(
                new StageReads(
                    stage,
                    List.of(new ExecutorReads(ALL_EXECUTORS, "", sum)),
                    gets.getOrDefault(stage, GetSummary.NONE))));
    Collections.reverse(all);
    return all;
  }

  /** The sum over all stages, by executor, in the order of their numbers. */
  public synchronized List<ExecutorReads> executors() {
    Comparator<String> byNumber = Comparator.comparingInt(String::length);
    return executors.values().stream()
        .sorted(
            Comparator.comparing(
                ExecutorReads::executorId, byNumber.thenComparing(Comparator.naturalOrder())))
        .toList();
  }

  /** What the GETs of those stages were for that are not kept one by one. */
  public synchronized GetSummary otherGets() {
    return otherGets;
  }

  /** The sum over all stages. */
  public synchronized ReadCounts total() {
    return total;
  }
}
