// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark.job;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import org.apache.spark.SparkContext;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/** Sums of what Spark says of its tasks: the columns of its UI. Any thread. */
final class TaskMeter extends SparkListener {

  /** Longest time in which Spark's listeners catch up with the tasks that have ended. */
  private static final long PATIENCE_MILLIS = TimeUnit.SECONDS.toMillis(60);

  private final LongAdder tasks = new LongAdder();
  private final LongAdder runMillis = new LongAdder();
  private final LongAdder cpuNanos = new LongAdder();
  private final LongAdder inputBytes = new LongAdder();
  private final LongAdder inputRecords = new LongAdder();
  private final LongAdder outputBytes = new LongAdder();

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    tasks.increment();
    TaskMetrics metrics = end.taskMetrics();
    // A task whose executor was lost has none.
    if (metrics != null) {
      runMillis.add(metrics.executorRunTime());
      cpuNanos.add(metrics.executorCpuTime());
      inputBytes.add(metrics.inputMetrics().bytesRead());
      inputRecords.add(metrics.inputMetrics().recordsRead());
      outputBytes.add(metrics.outputMetrics().bytesWritten());
    }
  }

  /** Sums over all tasks that have ended. */
  StepResult.Tasks sums(SparkContext context) throws TimeoutException {
    context.listenerBus().waitUntilEmpty(PATIENCE_MILLIS);
    return new StepResult.Tasks(
        tasks.sum(),
        runMillis.sum(),
        cpuNanos.sum(),
        inputBytes.sum(),
        inputRecords.sum(),
        outputBytes.sum());
  }
}
