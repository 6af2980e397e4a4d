// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import io.s3e.hadoop.spark.SparkTask;
import io.s3e.hadoop.stats.OpenerStatistics;
import io.s3e.jvm.Background;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.spark.TaskContext;
import org.jspecify.annotations.Nullable;

/**
 * The accounts of an executor's running tasks, and of what its JVM reads beside them. A stream
 * belongs to the task that Spark names on the thread that opens it, so a thread that Spark starts
 * for a task (to feed Python) counts for the task too.
 *
 * <p>What comes after the end of a task (a stream that outlives it, bytes on their way when their
 * stream was closed, a block that is read by another stream) is collected by stage and reported
 * together, {@link #LATE_PERIOD} later.
 *
 * <p>Any thread; {@link #taskStarted} and {@link #taskEnded} are called on the thread of the task.
 */
public final class TaskAccounts implements AutoCloseable {
  /** Soon enough for somebody who looks at the tab, and few messages. */
  private static final Duration LATE_PERIOD = Duration.ofSeconds(1);

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final Map<Long, TaskAccount> running = new ConcurrentHashMap<>();
  private final ThreadLocal<@Nullable Long> taskOfThread = new ThreadLocal<>();
  private final ReadTally outsideOfTasks = counts -> countForJvm(counts.withBytesFromMemory());
  private final Reports reports;

  /** The JDK's own would outlive the application. */
  private final ScheduledThreadPoolExecutor timer;

  // Guarded by this.
  private final Map<StageAttempt, ReadCounts> late = new LinkedHashMap<>();
  private ReadCounts ofJvm = ReadCounts.NONE;

  /** Takes what tasks have read. */
  @FunctionalInterface
  public interface Reports {
    /**
     * Takes one report.
     *
     * @param task whose GETs it has sent; null in a report of what came later
     */
    void report(StageAttempt stage, ReadCounts counts, @Nullable TaskOfGets task);
  }

  private TaskAccounts(Reports reports) {
    this.reports = reports;
    timer =
        new ScheduledThreadPoolExecutor(
            1,
            work -> Background.daemon("s3e-late-reports", work),
            new ThreadPoolExecutor.DiscardPolicy());
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    // Late counts come on threads of clients, which must not fail for want of a thread.
    timer.prestartCoreThread();
  }

  /**
   * Begins to count what this JVM opens from now on.
   *
   * @param reports called at the end of each task, and for what comes later; on any thread
   */
  public static TaskAccounts open(Reports reports) {
    TaskAccounts accounts = new TaskAccounts(reports);
    OpenerStatistics.keepAccounts(accounts::ofThisThread);
    return accounts;
  }

  private ReadTally ofThisThread() {
    TaskContext task = TaskContext.get();
    TaskAccount account = task == null ? null : running.get(task.taskAttemptId());
    if (task == null || account == null) {
      return outsideOfTasks;
    }
    ScanAccount scan = TaskScans.readingOf(task.taskAttemptId());
    return counts -> {
      countForJvm(counts);
      account.add(counts);
      if (scan != null) {
        scan.add(counts);
      }
    };
  }

  private synchronized void countForJvm(ReadCounts counts) {
    ofJvm = ofJvm.plus(counts);
  }

  /** Its other counts have been counted as they came. */
  private void countFromMemory(ReadCounts report) {
    countForJvm(ReadCounts.NONE.withBytesFromMemory(report.bytesFromMemory()));
  }

  /** The calling thread begins the task that Spark names on it. */
  public void taskStarted() {
    TaskContext task = TaskContext.get();
    if (task == null) {
      return;
    }
    StageAttempt stage = new StageAttempt(task.stageId(), task.stageAttemptNumber());
    long id = task.taskAttemptId();
    taskOfThread.set(id);
    running.put(
        id,
        new TaskAccount(stage, System.nanoTime(), cpuNanos(), counts -> addLate(stage, counts)));
  }

  /** Processor time of the calling thread; 0 where this JVM, or this kind of thread, has none. */
  private static long cpuNanos() {
    try {
      return Math.max(0, THREADS.getCurrentThreadCpuTime());
    } catch (UnsupportedOperationException e) {
      return 0;
    }
  }

  private void addLate(StageAttempt stage, ReadCounts counts) {
    if (counts.equals(ReadCounts.NONE)) {
      return;
    }
    boolean isFirst;
    synchronized (this) {
      isFirst = late.isEmpty();
      late.merge(stage, counts, ReadCounts::plus);
      countFromMemory(counts);
    }
    if (isFirst) {
      ScheduledFuture<?> unused =
          timer.schedule(this::reportLate, LATE_PERIOD.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private void reportLate() {
    Map<StageAttempt, ReadCounts> collected;
    synchronized (this) {
      collected = new LinkedHashMap<>(late);
      late.clear();
    }
    collected.forEach((stage, counts) -> reports.report(stage, counts, null));
  }

  /**
   * The task of the calling thread has ended, well or not. Spark names it no more, so it is known
   * by its start; a task that failed before that has no account.
   *
   * @return Spark's id of it; null if it has none
   */
  public @Nullable Long taskEnded() {
    Long id = taskOfThread.get();
    if (id == null) {
      return null;
    }
    taskOfThread.remove();
    TaskAccount account = running.remove(id);
    if (account != null) {
      String label = SparkTask.label(account.stage().stageId(), id);
      ReadCounts counts = account.end(System.nanoTime(), cpuNanos());
      countFromMemory(counts);
      reports.report(account.stage(), counts, new TaskOfGets(label, account.startedMillis()));
    }
    return id;
  }

  /**
   * What streams of this JVM have read that are closed, of tasks or not; the bytes from memory
   * without those of the tasks that run.
   */
  public synchronized ReadCounts ofJvm() {
    return ofJvm;
  }

  /**
   * Counts no stream that is opened from now on, and reports what is there; what comes later is
   * reported no more.
   */
  @Override
  public void close() {
    OpenerStatistics.keepAccounts(null);
    timer.shutdown();
    reportLate();
  }
}
