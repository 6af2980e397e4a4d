// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongPredicate;

/**
 * The plugin's nodes in the plans of an event log, with the sums of their metrics, and what the
 * plugin's stage events say of the same executions.
 */
final class SqlNodes {
  private static final String SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQL";
  private static final String STAGE = "io.s3e.spark.stages.SparkListenerS3EStage";

  /**
   * A node S3EReads.
   *
   * @param scan the name of the node below it
   * @param values by the names of the metrics, the sums over all tasks
   */
  record Node(long execution, String scan, Map<String, Long> values) {}

  private final List<JsonNode> events = new ArrayList<>();

  private SqlNodes() {}

  /** Of the only log in a directory, which is one file of lines. */
  static SqlNodes of(Path logs) throws IOException {
    ObjectMapper json = new ObjectMapper();
    SqlNodes nodes = new SqlNodes();
    try (var files = Files.list(logs)) {
      for (String line : Files.readAllLines(files.toList().get(0))) {
        nodes.events.add(json.readTree(line));
      }
    }
    return nodes;
  }

  private List<JsonNode> events(String name) {
    return events.stream().filter(each -> each.path("Event").asText().equals(name)).toList();
  }

  /** The last plan of each execution has them. */
  List<Node> nodes() {
    Map<Long, JsonNode> plans = new LinkedHashMap<>();
    for (String event : List.of("ExecutionStart", "AdaptiveExecutionUpdate")) {
      for (JsonNode each : events(SQL + event)) {
        plans.put(each.path("executionId").asLong(), each.path("sparkPlanInfo"));
      }
    }
    Map<Long, Long> sums = new HashMap<>();
    for (JsonNode task : events("SparkListenerTaskEnd")) {
      for (JsonNode each : task.path("Task Info").path("Accumulables")) {
        sums.merge(each.path("ID").asLong(), each.path("Update").asLong(), Long::sum);
      }
    }
    List<Node> nodes = new ArrayList<>();
    plans.forEach((execution, plan) -> collect(execution, plan, sums, nodes));
    return nodes;
  }

  private static void collect(
      long execution, JsonNode plan, Map<Long, Long> sums, List<Node> nodes) {
    if (plan.path("nodeName").asText().equals("S3EReads")) {
      Map<String, Long> values = new HashMap<>();
      for (JsonNode metric : plan.path("metrics")) {
        long id = metric.path("accumulatorId").asLong();
        values.put(metric.path("name").asText(), sums.getOrDefault(id, 0L));
      }
      nodes.add(
          new Node(execution, plan.path("children").path(0).path("nodeName").asText(), values));
    }
    plan.path("children").forEach(child -> collect(execution, child, sums, nodes));
  }

  /** A count of the stage events, of the stages of these executions. */
  long inStages(Set<Long> executions, String count) {
    Set<Long> stages = new HashSet<>();
    for (JsonNode job : events("SparkListenerJobStart")) {
      String execution = job.path("Properties").path("spark.sql.execution.id").asText();
      if (!execution.isEmpty() && executions.contains(Long.parseLong(execution))) {
        job.path("Stage IDs").forEach(stage -> stages.add(stage.asLong()));
      }
    }
    return inStages(stages::contains, count);
  }

  /** A count of all stage events. */
  long inAllStages(String count) {
    return inStages(stage -> true, count);
  }

  private long inStages(LongPredicate which, String count) {
    long sum = 0;
    for (JsonNode event : events(STAGE)) {
      for (JsonNode executor : event.path("executors")) {
        boolean isOfThem = which.test(event.path("stageId").asLong());
        sum += isOfThem ? executor.path("counts").path(count).asLong() : 0;
      }
    }
    return sum;
  }
}
