// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import io.s3e.hadoop.cost.Sizes;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * An application as its event log tells it. {@link ApplicationReader} fills it, one thread; nobody
 * changes it afterwards.
 */
final class Application {
  static final String FILES_MAX_PARTITION_BYTES = "spark.sql.files.maxPartitionBytes";
  private static final long DEFAULT_MAX_PARTITION_BYTES = 128L << 20;

  String id = "";
  String name = "";
  String spark = "";

  /** Spark's settings. */
  final Map<String, String> settings = new TreeMap<>();

  final Executors executors = new Executors();

  /** By number and attempt, in the order of their first event. */
  private final Map<Long, Stage> stages = new LinkedHashMap<>();

  /** The job that names a stage first. */
  final Map<Integer, Integer> jobOfStage = new HashMap<>();

  /** What the user called a job: its description, else its call. */
  final Map<Integer, String> jobNames = new HashMap<>();

  /** The split of a job whose session sets one, as it is written; of others the application's. */
  final Map<Integer, String> splitOfJob = new HashMap<>();

  /** What Spark SQL calls a query, by its number. */
  final Map<Long, String> queries = new HashMap<>();

  /** By the number of a metric, so that a plan that Spark tells again brings no scan twice. */
  final Map<Long, TableScan> scans = new LinkedHashMap<>();

  /** Values of SQL metrics, by number. */
  final Map<Long, Long> metrics = new HashMap<>();

  Stage stage(int stageId, int attempt) {
    return stages.computeIfAbsent(
        ((long) stageId << Integer.SIZE) + attempt, key -> new Stage(stageId, attempt));
  }

  Collection<Stage> stages() {
    return stages.values();
  }

  Collection<TableScan> scans() {
    return scans.values();
  }

  /** The value of a scan's metric; 0 if it has none. */
  long metric(TableScan scan, String metric) {
    return metrics.getOrDefault(scan.metric(metric), 0L);
  }

  private int cpusOfTask() {
    return Math.max(1, (int) number("spark.task.cpus", 1));
  }

  /** Tasks that could run at once when most executors were there. */
  int slots() {
    return Math.max(1, executors.mostSlots(cpusOfTask()));
  }

  /** Tasks that could run at once in the time of a stage, on average. */
  int slots(Stage stage) {
    long wall = stage.wallMillis();
    return wall == 0 ? slots() : (int) Math.max(1, Math.round((double) slotMillis(stage) / wall));
  }

  /** Tasks that run at once in an executor. */
  int slotsOfExecutor() {
    return Math.max(1, executors.mostSlotsOfOne(cpusOfTask()));
  }

  long runMillis() {
    return stages.values().stream().mapToLong(Stage::runMillis).sum();
  }

  /** Time of the slots that were there while a stage ran, whether they had tasks or not. */
  long slotMillis(Stage stage) {
    return stage.tasks() == 0 ? 0 : slotMillis(stage.firstLaunch(), stage.lastFinish());
  }

  /**
   * Of the time of slots that were there while a stage ran, what no task of any stage took: the
   * tasks of each are taken to be spread evenly over its time.
   */
  long idleMillis(Stage stage) {
    double busy = 0;
    for (Stage other : stages.values()) {
      long both =
          Math.min(stage.lastFinish(), other.lastFinish())
              - Math.max(stage.firstLaunch(), other.firstLaunch());
      if (both > 0) {
        busy += (double) other.runMillis() * both / other.wallMillis();
      }
    }
    return Math.max(0, slotMillis(stage) - Math.round(busy));
  }

  private long slotMillis(long from, long until) {
    // A log that tells of no executor has had one.
    return executors.isEmpty()
        ? Math.max(0, until - from)
        : executors.slotMillis(from, until, cpusOfTask());
  }

  /** Time of the slots that were there while any stage ran, whether they had tasks or not. */
  long slotMillis() {
    List<Stage> inOrder =
        stages.values().stream()
            .filter(stage -> stage.tasks() > 0)
            .sorted(Comparator.comparingLong(Stage::firstLaunch))
            .toList();
    long busy = 0;
    long until = 0;
    for (Stage stage : inOrder) {
      busy += slotMillis(Math.max(until, stage.firstLaunch()), stage.lastFinish());
      until = Math.max(until, stage.lastFinish());
    }
    return Math.max(busy, runMillis());
  }

  /** The sum over stages of what S3E's plugin tells. */
  S3eReads s3e() {
    return stages.values().stream().map(Stage::s3e).reduce(S3eReads.NONE, S3eReads::plus);
  }

  boolean isReadByS3e() {
    return stages.values().stream().anyMatch(Stage::isReadByS3e);
  }

  /** The most that Spark SQL gives a task of the stage of a file that can be split. */
  long splitBytes(Stage stage) {
    long ofAll = bytes(FILES_MAX_PARTITION_BYTES, DEFAULT_MAX_PARTITION_BYTES);
    return parsed(splitOfJob.getOrDefault(jobOfStage.get(stage.id), ""), ofAll);
  }

  /** A setting in bytes; the default if it is not set or not understood. */
  long bytes(String key, long byDefault) {
    return parsed(settings.getOrDefault(key, ""), byDefault);
  }

  private static long parsed(String text, long byDefault) {
    try {
      return text.isEmpty() ? byDefault : Sizes.parse(text);
    } catch (IllegalArgumentException e) {
      return byDefault;
    }
  }

  /** A setting that is a number; the default if it is not set or not understood. */
  double number(String key, double byDefault) {
    try {
      return Double.parseDouble(settings.getOrDefault(key, Double.toString(byDefault)));
    } catch (NumberFormatException e) {
      return byDefault;
    }
  }
}
