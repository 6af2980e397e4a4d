// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import io.s3e.hadoop.conf.HistorySetting;
import io.s3e.hadoop.history.JobHistory;
import java.time.Duration;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.api.plugin.PluginContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An executor's part of the job's history, which the driver reads and writes: reports what was
 * learnt at the ends of tasks, since an executor may end without a word. A report has what is new,
 * and from time to time all, so that one that is lost costs nothing once such a one comes. Any
 * thread.
 */
final class ExecutorHistory implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorHistory.class);

  /** Tasks that report each: short applications have no more. */
  private static final int FIRST_TASKS = 8;

  /** As a rule a report has less than a KB, or some, and takes the driver a millisecond. */
  private static final Duration PERIOD = Duration.ofSeconds(5);

  private final JobHistory history;
  private final PluginContext plugin;

  // Guarded by this.
  private int tasks;
  private long reportedNanos;

  private ExecutorHistory(JobHistory history, PluginContext plugin) {
    this.history = history;
    this.plugin = plugin;
  }

  /** Null if no history is kept. */
  static @Nullable ExecutorHistory begin(
      HistorySetting setting, Configuration hadoop, PluginContext plugin) {
    JobHistory joined =
        JobHistory.joinLeavingStore(
            setting, hadoop, () -> (byte[]) plugin.ask(DriverRequest.HISTORY));
    return joined == null ? null : new ExecutorHistory(joined, plugin);
  }

  void taskEnded() {
    if (isDue(System.nanoTime())) {
      report();
    }
  }

  private synchronized boolean isDue(long now) {
    tasks++;
    boolean isDue = tasks <= FIRST_TASKS || now - reportedNanos >= PERIOD.toNanos();
    reportedNanos = isDue ? now : reportedNanos;
    return isDue;
  }

  private void report() {
    try {
      plugin.send(new HistoryReport(plugin.executorID(), history.report()));
    } catch (Exception e) {
      // The executor is about to end, or the driver is gone: no reason for a task to fail.
      LOG.debug("What was learnt is not reported", e);
    }
  }

  @Override
  public void close() {
    report();
    history.close();
  }
}
