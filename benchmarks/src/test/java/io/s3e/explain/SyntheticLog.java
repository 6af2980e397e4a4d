// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.hadoop.conf.Configuration;

/** Events of an application that no short run is. Times are in ms. */
final class SyntheticLog {
  private static final String SQL = "org.apache.spark.sql.execution.ui.SparkListener";
  private static final List<String> METRICS =
      List.of(TableScan.OUTPUT_ROWS, TableScan.FILES, TableScan.FILE_BYTES);

  private static final ObjectMapper JSON = new ObjectMapper();

  private final List<String> lines = new ArrayList<>();

  SyntheticLog() throws JsonProcessingException {
    event("SparkListenerLogStart", Map.of("Spark Version", "4.1.0"));
  }

  private void event(String name, Map<String, Object> fields) throws JsonProcessingException {
    Map<String, Object> event = new LinkedHashMap<>();
    event.put("Event", name);
    event.putAll(fields);
    lines.add(JSON.writeValueAsString(event));
  }

  void executorAdded(String id, int cores, long time) throws JsonProcessingException {
    event(
        "SparkListenerExecutorAdded",
        Map.of(
            "Timestamp", time, "Executor ID", id, "Executor Info", Map.of("Total Cores", cores)));
  }

  void executorRemoved(String id, long time) throws JsonProcessingException {
    event("SparkListenerExecutorRemoved", Map.of("Timestamp", time, "Executor ID", id));
  }

  /** A job of that stage, with a description as Spark SQL gives its jobs the text of the query. */
  void jobStarted(int job, int stage, String description) throws JsonProcessingException {
    event(
        "SparkListenerJobStart",
        Map.of(
            "Job ID",
            job,
            "Stage IDs",
            List.of(stage),
            "Properties",
            Map.of("spark.job.description", description)));
  }

  /** A query of one scan, and the stage of its number, whose tasks did nothing but compute. */
  void query(int number, String table, int tasks, long from, long until)
      throws JsonProcessingException {
    query(number, "InMemoryFileIndex", table, tasks, from, until);
  }

  /** The stage of that number, whose RDD has so many partitions, and those below it. */
  void stage(int number, int... partitions) throws JsonProcessingException {
    event(
        "SparkListenerStageCompleted",
        Map.of(
            "Stage Info",
            Map.of(
                "Stage ID",
                number,
                "Stage Attempt ID",
                0,
                "Stage Name",
                "show",
                "RDD Info",
                IntStream.of(partitions)
                    .mapToObj(each -> Map.of("Name", "RDD", "Number of Partitions", each))
                    .toList())));
  }

  /** The same as {@link #query}, with the files of another index. */
  void query(int number, String index, String table, int tasks, long from, long until)
      throws JsonProcessingException {
    long[] ids = LongStream.range(0, METRICS.size()).map(i -> 10L * number + i).toArray();
    event(
        SQL + "SQLExecutionStart",
        Map.of(
            "executionId",
            number,
            "sparkPlanInfo",
            Map.of(
                "nodeName",
                "Scan parquet ",
                "metadata",
                Map.of("Location", index + "(1 paths)[" + table + "]", "Format", "Parquet"),
                "metrics",
                LongStream.range(0, METRICS.size())
                    .mapToObj(
                        i -> Map.of("name", METRICS.get((int) i), "accumulatorId", ids[(int) i]))
                    .toList())));
    event(
        SQL + "DriverAccumUpdates",
        Map.of(
            "executionId",
            number,
            "accumUpdates",
            List.of(List.of(ids[1], tasks), List.of(ids[2], (long) tasks << 26))));
    for (int task = 0; task < tasks; task++) {
      event(
          "SparkListenerTaskEnd",
          Map.of(
              "Stage ID",
              number,
              "Stage Attempt ID",
              0,
              "Task Info",
              Map.of(
                  "Launch Time",
                  from,
                  "Finish Time",
                  until,
                  "Accumulables",
                  List.of(Map.of("ID", ids[0], "Update", 1, "Metadata", "sql"))),
              "Task Metrics",
              Map.of(
                  "Executor Run Time",
                  until - from,
                  "Executor CPU Time",
                  (until - from) * 1_000_000,
                  "Input Metrics",
                  Map.of("Bytes Read", 64 << 20, "Records Read", 1))));
    }
  }

  Explanation explain(Path directory) throws IOException {
    Path file = Files.write(directory.resolve("app-synthetic"), lines);
    return RecordedLog.explained(
            file, new Explanation.Options(new Configuration(), false, OptionalDouble.of(0.05)))
        .get(0);
  }
}
