// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import io.s3e.hadoop.cost.Prices;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.StageInfo;

/**
 * In the driver: adds up the reports of tasks by stage, and posts one event a stage.
 *
 * <p><b>States of a stage.</b> <i>Open</i>: its tasks run; <i>completed</i>: Spark has said so, and
 * reports may still be under way, which are awaited until as many have come as tasks have ended,
 * and {@link #PATIENCE} at most, since the tasks of a lost executor never report; <i>posted</i>:
 * its event is out. A report that comes after that begins a second event, which is posted after
 * {@link #PATIENCE}, or a third. The end of the application posts all that is there.
 *
 * <p><b>Invariant.</b> Each report is in one event, or was dropped: it came after the end, or it
 * read nothing, nor did any of its stage that came with it or, as far as that is remembered, before
 * it. Any thread; Spark's listener and its RPC call from two.
 */
public final class StageReports extends SparkListener implements AutoCloseable {
  /**
   * The queue of Spark's listener bus for all of S3E's listeners, which are called in their order
   * there. In Spark's shared queue a slow listener of somebody else would hold them up, and Spark
   * 3.5 takes no event any more once it has told that the application ends.
   */
  public static final String QUEUE = "s3e";

  /** How long an event waits for reports that do not come. */
  static final Duration PATIENCE = Duration.ofSeconds(3);

  /** Stages that have been posted and are remembered, so that late reports are posted soon. */
  private static final int REMEMBERED = 10_000;

  /** Stages that are open at most: Spark drops events, and with them the ends of stages. */
  static final int MOST_OPEN = 1_000;

  private final Prices prices;
  private final Consumer<SparkListenerS3EStage> post;
  private final Duration patience;
  private final ScheduledExecutorService timer;

  // Guarded by this.
  private final Map<StageAttempt, Collected> open = new LinkedHashMap<>();
  private final Set<StageAttempt> completed = remembered();

  /** Those with an event: what comes later belongs to them, whether it has read or not. */
  private final Set<StageAttempt> posted = remembered();

  private boolean ended;
  private long droppedReports;

  /** The reports of one stage that no event holds yet. Guarded by the object around it. */
  private static final class Collected {
    private final Map<String, ExecutorReads> executors = new LinkedHashMap<>();
    private GetSummary gets = GetSummary.NONE;
    private long endedTasks;
    private long reportedTasks;

    void add(TaskReads reads) {
      reportedTasks += reads.counts().tasks();
      gets = gets.plus(reads.gets());
      executors.merge(
          reads.executorId(),
          new ExecutorReads(reads.executorId(), reads.host(), reads.counts()),
          (sum, more) -> sum.plus(more.counts()));
    }

    boolean isWhole() {
      return reportedTasks >= endedTasks;
    }

    boolean isWithoutReads() {
      return executors.values().stream().allMatch(each -> each.counts().isWithoutReads());
    }
  }

  /**
   * @param prices of the application, for the bills in events
   * @param post takes an event; must not block
   */
  public StageReports(Prices prices, Consumer<SparkListenerS3EStage> post) {
    this(prices, post, PATIENCE);
  }

  StageReports(Prices prices, Consumer<SparkListenerS3EStage> post, Duration patience) {
    this.prices = prices;
    this.post = post;
    this.patience = patience;
    this.timer =
        Executors.newSingleThreadScheduledExecutor(
            work -> {
              Thread thread = new Thread(work, "s3e-stage-reports");
              thread.setDaemon(true);
              return thread;
            });
  }

  private static Set<StageAttempt> remembered() {
    return Collections.newSetFromMap(
        new LinkedHashMap<>() {
          @Override
          protected boolean removeEldestEntry(Map.Entry<StageAttempt, Boolean> eldest) {
            return size() > REMEMBERED;
          }
        });
  }

  /** Takes the report of a task. */
  public synchronized void add(TaskReads reads) {
    if (ended) {
      droppedReports++;
      return;
    }
    boolean begins = !open.containsKey(reads.stage());
    Collected stage = collected(reads.stage());
    stage.add(reads);
    // A report without a task comes after those of the stage's tasks: it begins an event only where
    // theirs has been posted, be the stage remembered or not.
    boolean isLate = begins && reads.counts().tasks() == 0;
    if (isLate || completed.contains(reads.stage())) {
      if (begins) {
        postLater(reads.stage());
      } else if (stage.endedTasks > 0 && stage.isWhole()) {
        post(reads.stage());
      }
    }
  }

  private Collected collected(StageAttempt stage) {
    if (open.size() >= MOST_OPEN && !open.containsKey(stage)) {
      // A stage is the sum of its events: what comes of it yet makes another one.
      post(open.keySet().iterator().next());
    }
    return open.computeIfAbsent(stage, none -> new Collected());
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd event) {
    taskEnded(new StageAttempt(event.stageId(), event.stageAttemptId()));
  }

  synchronized void taskEnded(StageAttempt stage) {
    // What ends after its stage has been posted is late, and nothing waits for it.
    if (!ended && !completed.contains(stage)) {
      collected(stage).endedTasks++;
    }
  }

  @Override
  public void onStageCompleted(SparkListenerStageCompleted event) {
    StageInfo stage = event.stageInfo();
    stageCompleted(new StageAttempt(stage.stageId(), stage.attemptNumber()));
  }

  synchronized void stageCompleted(StageAttempt stage) {
    if (ended) {
      return;
    }
    completed.add(stage);
    if (collected(stage).isWhole()) {
      post(stage);
    } else {
      postLater(stage);
    }
  }

  private void postLater(StageAttempt stage) {
    ScheduledFuture<?> unused =
        timer.schedule(() -> postNow(stage), patience.toMillis(), TimeUnit.MILLISECONDS);
  }

  private synchronized void postNow(StageAttempt stage) {
    post(stage);
  }

  private void post(StageAttempt stage) {
    Collected collected = open.remove(stage);
    if (collected == null || collected.executors.isEmpty()) {
      return;
    }
    if (posted.contains(stage) || !collected.isWithoutReads()) {
      posted.add(stage);
      List<ExecutorReads> executors = List.copyOf(collected.executors.values());
      StageReads reads = new StageReads(stage, executors, collected.gets);
      post.accept(new SparkListenerS3EStage(reads, prices));
    }
  }

  @Override
  public void onApplicationEnd(SparkListenerApplicationEnd event) {
    close();
  }

  /** Posts all that is there; what comes from now on is dropped. Idempotent. */
  @Override
  public void close() {
    synchronized (this) {
      if (!ended) {
        new ArrayList<>(open.keySet()).forEach(this::post);
        ended = true;
      }
    }
    timer.shutdownNow();
  }

  /** Reports that came after the end. */
  public synchronized long droppedReports() {
    return droppedReports;
  }
}
