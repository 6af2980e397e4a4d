// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark.job;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.deploy.SparkHadoopUtil;

/**
 * The JVMs in which tasks run: in local mode this one, else the executors. They are reached by jobs
 * of tasks that last long enough for each executor to get some.
 */
final class TaskJvms {

  private static final int ATTEMPTS = 20;

  /** So long that no core does the tasks of another. */
  private static final long TASK_MILLIS = 20;

  /**
   * What a JVM has used since its start.
   *
   * @param pid of its process; all run on this machine
   * @param cpuNanos its processor time
   * @param reads of its tasks
   */
  record Used(long pid, long cpuNanos, StepResult.Reads reads) implements Serializable {
    static Used here() {
      return new Used(
          ProcessHandle.current().pid(),
          ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime(),
          ReadClock.sums());
    }

    private Used plus(Used other) {
      return new Used(pid, cpuNanos + other.cpuNanos, reads.plus(other.reads));
    }
  }

  private TaskJvms() {}

  /** The sum over the driver and all executors. */
  static Used used(SparkContext context) throws IOException {
    return context.isLocal()
        ? Used.here()
        : inExecutors(context, Used::here).stream().reduce(Used.here(), Used::plus);
  }

  /** Closes the file system of that root in the driver and in all executors. */
  static void closeFileSystems(SparkContext context, String root) throws IOException {
    FileSystem.get(URI.create(root), context.hadoopConfiguration()).close();
    if (!context.isLocal()) {
      inExecutors(
          context,
          () -> {
            FileSystem.get(URI.create(root), SparkHadoopUtil.get().conf()).close();
            return Used.here();
          });
    }
  }

  /** Work in each executor, some times in each. */
  @FunctionalInterface
  private interface Work extends Serializable {
    Used run() throws IOException;
  }

  /** The latest answer of each executor. */
  private static Collection<Used> inExecutors(SparkContext context, Work work) throws IOException {
    // The driver is among those that have memory for blocks.
    int executors = context.getExecutorMemoryStatus().size() - 1;
    int tasks = 2 * context.defaultParallelism();
    Map<Long, Used> answers = new HashMap<>();
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      List<Used> all =
          JavaSparkContext.fromSparkContext(context)
              .parallelize(IntStream.range(0, tasks).boxed().toList(), tasks)
              .map(
                  task -> {
                    Thread.sleep(TASK_MILLIS);
                    return work.run();
                  })
              .collect();
      all.forEach(
          each ->
              answers.merge(
                  each.pid(), each, (one, two) -> one.cpuNanos() > two.cpuNanos() ? one : two));
      if (answers.size() >= executors) {
        return answers.values();
      }
    }
    throw new IOException(
        answers.size() + " of " + executors + " executors have run tasks of " + ATTEMPTS + " jobs");
  }
}
