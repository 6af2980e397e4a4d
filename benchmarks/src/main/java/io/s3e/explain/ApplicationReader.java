// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Makes an {@link Application} of the events of its log, in their order. One thread. An event that
 * lacks a field counts as far as it goes.
 */
final class ApplicationReader implements Consumer<JsonNode> {
  private static final String SQL = "org.apache.spark.sql.execution.ui.SparkListener";
  private static final String S3E_STAGE = "io.s3e.spark.stages.SparkListenerS3EStage";
  private static final String EXECUTION = "executionId";
  private static final String EXECUTOR = "Executor ID";
  private static final String TIMESTAMP = "Timestamp";
  private static final String STAGE_ID = "Stage ID";
  private static final String ATTEMPT = "Stage Attempt ID";
  private static final String PARTITIONS = "Number of Partitions";
  private static final String S3A = "s3a://";

  private final Application application = new Application();

  Application application() {
    return application;
  }

  @Override
  public void accept(JsonNode event) {
    switch (event.path("Event").asText()) {
      case "SparkListenerLogStart" -> application.spark = event.path("Spark Version").asText();
      case "SparkListenerApplicationStart" -> applicationStarted(event);
      case "SparkListenerEnvironmentUpdate" ->
          event
              .path("Spark Properties")
              .properties()
              .forEach(e -> application.settings.put(e.getKey(), e.getValue().asText()));
      case "SparkListenerExecutorAdded" ->
          application.executors.added(
              event.path(EXECUTOR).asText(),
              event.path("Executor Info").path("Total Cores").asInt(),
              event.path(TIMESTAMP).asLong());
      case "SparkListenerExecutorRemoved" ->
          application.executors.removed(
              event.path(EXECUTOR).asText(), event.path(TIMESTAMP).asLong(Executors.STILL_THERE));
      case "SparkListenerJobStart" -> jobStarted(event);
      case "SparkListenerStageCompleted" -> stageCompleted(event.path("Stage Info"));
      case "SparkListenerTaskEnd" -> taskEnded(event);
      case SQL + "SQLExecutionStart" -> {
        application.queries.put(event.path(EXECUTION).asLong(), event.path("description").asText());
        plan(event);
      }
      case SQL + "SQLAdaptiveExecutionUpdate" -> plan(event);
      case SQL + "DriverAccumUpdates" ->
          event
              .path("accumUpdates")
              .forEach(u -> application.metrics.put(u.path(0).asLong(), u.path(1).asLong()));
      case S3E_STAGE -> s3eStage(event);
      default -> {}
    }
  }

  private void applicationStarted(JsonNode event) {
    application.id = event.path("App ID").asText();
    application.name = event.path("App Name").asText();
  }

  private void plan(JsonNode event) {
    PlanReader.read(event.path(EXECUTION).asLong(), event.path("sparkPlanInfo"), this::addScan);
  }

  private void jobStarted(JsonNode event) {
    int job = event.path("Job ID").asInt();
    JsonNode properties = event.path("Properties");
    String byUser = properties.path("spark.job.description").asText();
    String query =
        application.queries.getOrDefault(properties.path("spark.sql.execution.id").asLong(-1), "");
    String call = properties.path("callSite.short").asText();
    application.jobNames.put(
        job,
        Stream.of(byUser, query, call, resultStage(event))
            .filter(name -> !name.isEmpty())
            .findFirst()
            .orElse(""));
    // Spark SQL gives each job the settings of its session.
    JsonNode split = properties.path(Application.FILES_MAX_PARTITION_BYTES);
    if (split.isTextual()) {
      application.splitOfJob.put(job, split.asText());
    }
    event
        .path("Stage IDs")
        .forEach(stage -> application.jobOfStage.putIfAbsent(stage.asInt(), job));
    event.path("Stage Infos").forEach(this::describe);
  }

  /** The stage that gives a job's result has the highest number, and the job's call as its name. */
  private static String resultStage(JsonNode event) {
    String name = "";
    int highest = -1;
    for (JsonNode info : event.path("Stage Infos")) {
      if (info.path(STAGE_ID).asInt() > highest) {
        highest = info.path(STAGE_ID).asInt();
        name = info.path("Stage Name").asText();
      }
    }
    return name;
  }

  private Stage describe(JsonNode info) {
    Stage stage = application.stage(info.path(STAGE_ID).asInt(), info.path(ATTEMPT).asInt());
    stage.name = info.path("Stage Name").asText();
    // The stage's own comes first.
    stage.partitions = info.path("RDD Info").path(0).path(PARTITIONS).asInt();
    for (JsonNode rdd : info.path("RDD Info")) {
      stage.mostPartitions = Math.max(stage.mostPartitions, rdd.path(PARTITIONS).asInt());
      String name = rdd.path("Name").asText();
      if (name.startsWith(S3A)) {
        stage.rddPaths.add(name);
      }
    }
    return stage;
  }

  private void stageCompleted(JsonNode info) {
    Stage stage = describe(info);
    info.path("Accumulables").forEach(a -> stage.metrics.add(a.path("ID").asLong()));
  }

  private void taskEnded(JsonNode event) {
    Stage stage = application.stage(event.path(STAGE_ID).asInt(), event.path(ATTEMPT).asInt());
    JsonNode info = event.path("Task Info");
    stage.add(info, event.path("Task Metrics"));
    for (JsonNode each : info.path("Accumulables")) {
      if (each.path("Metadata").asText().equals("sql")) {
        long id = each.path("ID").asLong();
        stage.metrics.add(id);
        // Spark writes numbers as text in some versions.
        application.metrics.merge(id, Math.max(0, each.path("Update").asLong()), Long::sum);
      }
    }
  }

  private void addScan(TableScan scan) {
    long key = scan.metric(TableScan.OUTPUT_ROWS);
    // A later plan of the query knows the filter above a scan better than an earlier one.
    application.scans.put(key, scan);
  }

  private void s3eStage(JsonNode event) {
    Stage stage =
        application.stage(event.path("stageId").asInt(), event.path("stageAttemptId").asInt());
    for (JsonNode executor : event.path("executors")) {
      stage.add(S3eReads.of(executor.path("counts")));
    }
  }
}
