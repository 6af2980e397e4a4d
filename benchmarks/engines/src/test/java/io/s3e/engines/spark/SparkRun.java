// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.s3e.engines.EngineProcess;
import io.s3e.engines.Harness;
import io.s3e.engines.Outcome;
import io.s3e.engines.Store;
import io.s3e.engines.Stream;
import io.s3e.engines.spark.job.StepResult;
import io.s3e.engines.spark.job.Steps;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/**
 * {@code spark-submit} of {@link Steps}, in client mode, as a user would call it. The control reads
 * by S3A with its calls counted; S3E is as a user sets it.
 */
final class SparkRun {

  /** Executors of their own: two JVMs of one core and 1,024 MB. */
  static final String LOCAL_CLUSTER = "local-cluster[2,1,1024]";

  /**
   * How it went.
   *
   * @param outcome with the digests of all steps, and with the bytes of all
   * @param results one a step
   */
  record Done(Outcome outcome, List<StepResult> results) {

    /** Of the lines of results in the output of {@link Steps}; counts bytes of tasks alone. */
    static Done of(Outcome outcome) throws IOException {
      ObjectMapper json = new ObjectMapper();
      List<StepResult> results = new ArrayList<>();
      for (String line : outcome.output()) {
        if (line.startsWith(Steps.RESULT)) {
          results.add(json.readValue(line.substring(Steps.RESULT.length()), StepResult.class));
        }
      }
      String digest =
          results.stream()
              .map(result -> result.step() + ": " + result.rows() + " rows " + result.digest())
              .collect(Collectors.joining("\n"));
      return new Done(
          new Outcome(
              outcome.exitCode(),
              outcome.wall(),
              outcome.exitTime(),
              outcome.output(),
              outcome.traffic(),
              outcome.given().isPresent()
                  ? OptionalLong.of(
                      results.stream().mapToLong(result -> result.reads().bytes()).sum())
                  : OptionalLong.empty(),
              digest,
              OptionalLong.of(
                  results.stream().mapToLong(result -> result.tasks().inputBytes()).sum())),
          results);
    }

    /** Where the bytes of this run are not those of another, or are not counted in the driver. */
    Outcome outcomeWithoutInput() {
      return new Outcome(
          outcome.exitCode(),
          outcome.wall(),
          outcome.exitTime(),
          outcome.output(),
          outcome.traffic(),
          OptionalLong.empty(),
          outcome.digest(),
          OptionalLong.empty());
    }
  }

  private final SparkHome home;
  private final Stream stream;
  private final EngineProcess process;
  private final Map<String, String> conf = new LinkedHashMap<>();
  private final List<Path> classPath = new ArrayList<>();
  private String master = "local[2]";

  private SparkRun(SparkHome home, Stream stream, EngineProcess process) {
    this.home = home;
    this.stream = stream;
    this.process = process;
  }

  /** On a home to which the user has added S3A of Hadoop 3.4. */
  static SparkRun of(SparkHome home, Stream stream, Store store, String job)
      throws IOException, InterruptedException {
    return onBareHome(home, stream, store, job).jars(home.s3a());
  }

  /** On a home with nothing added but the jar of the steps and, for S3E, the bundle. */
  static SparkRun onBareHome(SparkHome home, Stream stream, Store store, String job)
      throws IOException, InterruptedException {
    EngineProcess process =
        EngineProcess.of(home.engine(), "org.apache.spark.deploy.SparkSubmit", stream, store, job);
    SparkRun run = new SparkRun(home, stream, process);
    run.classPath.addAll(SparkHome.jobsWithLibraries());
    process
        .options(SparkHome.jvmOptions().toArray(String[]::new))
        .options(store.jvmOptions().toArray(String[]::new))
        .options("-Xmx1g")
        .deadline(Duration.ofMinutes(15));
    home.environment().forEach(process::environment);
    SparkHome.timed(stream).ifPresent(timed -> process.set("fs.s3a.impl", timed));
    run.conf("spark.executor.extraJavaOptions", String.join(" ", store.jvmOptions()))
        .conf("spark.ui.enabled", "false")
        .conf("spark.sql.shuffle.partitions", "4")
        .conf("spark.local.dir", process.directory().resolve("tmp").toString())
        .conf(
            "spark.sql.warehouse.dir",
            process.directory().resolve("tmp").resolve("warehouse").toUri().toString());
    return run;
  }

  SparkRun conf(String key, String value) {
    conf.put(key, value);
    return this;
  }

  /** Has Spark write its events into a directory, as one readable file an application. */
  SparkRun eventLog(Path logs) {
    return conf("spark.eventLog.enabled", "true")
        .conf("spark.eventLog.compress", "false")
        .conf("spark.eventLog.rolling.enabled", "false")
        .conf("spark.eventLog.dir", logs.toUri().toString());
  }

  SparkRun master(String other) {
    master = other;
    return this;
  }

  /** More jars, as in {@code spark.driver.extraClassPath} and that of executors. */
  SparkRun jars(List<Path> more) {
    classPath.addAll(more);
    return this;
  }

  /** Runs the steps in one application, to its end. */
  Done run(List<String> steps) throws IOException, InterruptedException {
    classPath.forEach(process::jar);
    // Another test may run on the same home at the same time.
    Path directory = Files.createDirectories(Harness.OUTPUT.resolve("steps"));
    Path file = Files.createTempFile(directory, home.name() + '-', ".txt");
    Files.write(file, steps);
    conf("spark.executor.extraClassPath", executorClassPath());
    List<String> arguments = new ArrayList<>(List.of("--master", master));
    conf.forEach((key, value) -> arguments.addAll(List.of("--conf", key + "=" + value)));
    arguments.addAll(
        List.of("--class", Steps.class.getName(), SparkHome.jobs().toString(), file.toString()));
    Outcome outcome = process.run(arguments.toArray(String[]::new));
    return Done.of(outcome);
  }

  private String executorClassPath() {
    List<Path> entries = new ArrayList<>(classPath);
    if (stream == Stream.S3E) {
      entries.add(Harness.BUNDLE);
    }
    return entries.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
  }
}
