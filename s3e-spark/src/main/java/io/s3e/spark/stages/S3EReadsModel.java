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
 * those before them stay in the sums over executors and over the application. Of executors that
 * come and go the {@value #MOST_EXECUTORS} that reported last are kept one by one, and one sum of
 * all others. Any thread; answers are copies.
 */
public final class S3EReadsModel {
  /** In the place of the stages that are not kept one by one; no stage of Spark's. */
  private static final StageAttempt EARLIER = new StageAttempt(-1, 0);

  /** More than work at once as a rule; what an application of months has is not bounded. */
  private static final int MOST_EXECUTORS = 1_000;

  /** In the place of the executors that are not kept one by one; no executor of Spark's. */
  public static final String OTHER_EXECUTORS = "others";

  private final int retainedStages;

  // Guarded by this.
  private final Map<StageAttempt, Map<String, ExecutorReads>> stages = new LinkedHashMap<>();
  private final Map<StageAttempt, GetSummary> gets = new LinkedHashMap<>();
  private final Map<String, ExecutorReads> executors = byLatestReport();

  /** What of these is of stages that are not kept. */
  private final Map<String, ExecutorReads> earlier = byLatestReport();

  private ReadCounts total = ReadCounts.NONE;

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
    boolean isEarlier = reads.stage().equals(EARLIER);
    Map<String, ExecutorReads> ofStage =
        isEarlier ? earlier : stages.computeIfAbsent(reads.stage(), stage -> byLatestReport());
    for (ExecutorReads each : reads.executors()) {
      add(ofStage, each);
      add(executors, each);
      total = total.plus(each.counts());
    }
    if (!isEarlier) {
      gets.merge(reads.stage(), reads.gets(), GetSummary::plus);
    }
    while (stages.size() > retainedStages) {
      Map.Entry<StageAttempt, Map<String, ExecutorReads>> oldest =
          stages.entrySet().iterator().next();
      oldest.getValue().values().forEach(each -> add(earlier, each));
      gets.remove(oldest.getKey());
      stages.remove(oldest.getKey());
    }
  }

  /**
   * Events of which another model makes the same: one for each stage that is kept, and one more.
   */
  public synchronized List<SparkListenerS3EStage> events() {
    List<StageReads> all = stages();
    all.add(new StageReads(EARLIER, List.copyOf(earlier.values()), GetSummary.NONE));
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

  /** The latest stages, the last to begin to report first. */
  public synchronized List<StageReads> stages() {
    List<StageReads> all = new ArrayList<>();
    stages.forEach(
        (stage, reads) ->
            all.add(
                new StageReads(
                    stage,
                    List.copyOf(reads.values()),
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

  /** The sum over all stages. */
  public synchronized ReadCounts total() {
    return total;
  }
}
