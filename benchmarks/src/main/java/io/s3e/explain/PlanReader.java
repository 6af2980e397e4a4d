// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the scans of files in the plan of a query, as event logs have it. */
final class PlanReader {
  /** {@code InMemoryFileIndex(1 paths)[s3a://bucket/table]}, of any index; the first path. */
  private static final Pattern LOCATION = Pattern.compile("\\w+(?:\\(\\d+ paths\\))?\\[([^,\\]]+)");

  private static final Pattern FIELD =
      Pattern.compile(
          "(Location|Format|PushedFilters|PartitionFilters|ReadSchema):"
              + " (\\[[^]]*]|\\S+\\[[^]]*]|\\S+)");

  /** Operators that change no row between a scan and the filter above it. */
  private static final Pattern PASSES =
      Pattern.compile(
          "WholeStageCodegen.*|InputAdapter|ColumnarToRow|NextFiles.*|S3EReads.*|Project|AdaptiveSparkPlan");

  private static final Pattern SCAN = Pattern.compile("(?:File)?Scan .*|BatchScan.*");

  private PlanReader() {}

  static void read(long execution, JsonNode plan, Consumer<TableScan> scans) {
    read(execution, plan, TableScan.NO_FILTER, scans);
  }

  private static void read(
      long execution, JsonNode node, long filterAbove, Consumer<TableScan> scans) {
    String name = node.path("nodeName").asText();
    if (SCAN.matcher(name).matches()) {
      TableScan scan = scan(execution, node, name, filterAbove);
      if (!scan.table().isEmpty()) {
        scans.accept(scan);
      }
    }
    long filter =
        name.equals("Filter")
            ? metrics(node).getOrDefault(TableScan.OUTPUT_ROWS, TableScan.NO_FILTER)
            : PASSES.matcher(name).matches() ? filterAbove : TableScan.NO_FILTER;
    node.path("children").forEach(child -> read(execution, child, filter, scans));
  }

  private static TableScan scan(long execution, JsonNode node, String name, long filter) {
    Map<String, String> facts = new HashMap<>();
    // V2 scans have no metadata: the same facts stand in their text.
    Matcher field = FIELD.matcher(node.path("simpleString").asText());
    while (field.find()) {
      facts.put(field.group(1), field.group(2).replaceFirst(",$", ""));
    }
    node.path("metadata").properties().forEach(e -> facts.put(e.getKey(), e.getValue().asText()));
    String filters = facts.getOrDefault("PushedFilters", "[]");
    return new TableScan(
        execution,
        table(facts.getOrDefault("Location", ""), name),
        facts.getOrDefault("Format", "").toLowerCase(Locale.ROOT),
        facts.getOrDefault("ReadSchema", ""),
        filters.equals("[]") ? "" : filters,
        facts.getOrDefault("PartitionFilters", "") + filesOfItsOwn(execution, facts),
        metrics(node),
        filter);
  }

  /**
   * Delta names the files of a micro-batch, and those that a DELETE, UPDATE or MERGE looks into, by
   * themselves: each query reads others of the table.
   */
  private static String filesOfItsOwn(long execution, Map<String, String> facts) {
    return facts.getOrDefault("Location", "").startsWith("TahoeBatchFileIndex")
        ? " files of query " + execution
        : "";
  }

  private static String table(String location, String name) {
    Matcher path = LOCATION.matcher(location);
    if (path.find()) {
      return path.group(1);
    }
    // Iceberg's, for one: BatchScan catalog.database.table.
    return name.startsWith("BatchScan ") ? name.substring("BatchScan ".length()).strip() : "";
  }

  private static Map<String, Long> metrics(JsonNode node) {
    Map<String, Long> metrics = new HashMap<>();
    node.path("metrics")
        .forEach(m -> metrics.put(m.path("name").asText(), m.path("accumulatorId").asLong()));
    return metrics;
  }
}
