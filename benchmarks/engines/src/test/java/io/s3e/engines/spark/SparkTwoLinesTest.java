// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.engines.EngineProcess;
import io.s3e.engines.Harness;
import io.s3e.engines.Outcome;
import io.s3e.engines.Store;
import io.s3e.engines.Stream;
import io.s3e.engines.spark.job.Steps;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The two lines of the install page, on a home of Spark to which nothing was added: {@code
 * --packages} brings S3E, S3A and the SDK from a Maven repository, here one with the build's own
 * artifact beside the local repository of this build.
 */
class SparkTwoLinesTest {
  private static final String ARTIFACT = "s3e-spark-4.1_2.13";
  private static final String VERSION = Harness.property("engines.version");
  private static final String LINE =
      "S3E "
          + VERSION.replace(".", "\\.")
          + ".* on Hadoop 3\\.4\\.2, client crt, budget \\d+ MiB, "
          + "cache .+";

  @TempDir private static Path directory;
  private static Store store;

  @BeforeAll
  static void start() throws Exception {
    store = Store.start(directory);
  }

  @AfterAll
  static void stop() throws IOException {
    store.close();
  }

  /** What {@code mvn install} makes of the artifact: its jar and its POM. */
  private static Path repository() throws IOException {
    Path target = Path.of(Harness.property("engines.spark.line"));
    Path artifact =
        Files.createDirectories(
            directory.resolve("repository/io/s3e").resolve(ARTIFACT).resolve(VERSION));
    String name = ARTIFACT + '-' + VERSION;
    Files.copy(target.resolve(name + ".jar"), artifact.resolve(name + ".jar"));
    Files.copy(target.resolve("flattened-pom.xml"), artifact.resolve(name + ".pom"));
    return directory.resolve("repository");
  }

  @Test
  void twoLinesOnFreshHome() throws Exception {
    String data = SparkTpchTest.generate(store, 0.01, List.of("parquet", "csv"));
    List<String> steps =
        List.of(
            "sql select count(*), sum(hash(*)) from parquet.`" + data + "/parquet/lineitem`",
            "sql select sum(l_quantity) from parquet.`" + data + "/parquet/lineitem`",
            "sql select count(*), sum(hash(*)) from csv.`" + data + "/csv/orders`");
    SparkRun.Done control =
        SparkRun.of(SparkHome.of("spark-4.1"), Stream.CLASSIC, store, "two lines, control")
            .run(steps);

    SparkHome fresh = SparkHome.in(directory.resolve("spark"), "spark-4.1");
    Path file = Files.write(directory.resolve("steps.txt"), steps);
    EngineProcess process =
        EngineProcess.of(
            fresh.engine(),
            "org.apache.spark.deploy.SparkSubmit",
            Stream.PLUGIN,
            store,
            "two lines");
    fresh.environment().forEach(process::environment);
    Path home = Files.createDirectories(directory.resolve("user"));
    Outcome outcome =
        process
            .options(SparkHome.jvmOptions().toArray(String[]::new))
            // Nothing of this user's own repositories.
            .options("-Xmx1g", "-Duser.home=" + home)
            .deadline(Duration.ofMinutes(15))
            .run(
                "--master",
                SparkRun.LOCAL_CLUSTER,
                "--packages",
                "io.s3e:" + ARTIFACT + ":" + VERSION,
                "--repositories",
                repository().toUri() + "," + localRepository().toUri(),
                "--conf",
                "spark.plugins=io.s3e.spark.S3EPlugin",
                "--conf",
                "spark.jars.ivy=" + directory.resolve("ivy"),
                "--conf",
                "spark.ui.enabled=false",
                "--class",
                Steps.class.getName(),
                SparkHome.jobs().toString(),
                file.toString());

    SparkRun.Done done = SparkRun.Done.of(outcome);
    assertThat(outcome.exitCode()).as(String.join("\n", outcome.output())).isZero();
    assertThat(done.outcome().digest()).isEqualTo(control.outcome().digest()).isNotEmpty();
    assertThat(outcome.traffic().gets()).isEqualTo(outcome.traffic().getsByS3E()).isPositive();
    assertThat(outcome.output()).as("line of the driver").anyMatch(SparkTwoLinesTest::says);
    List<Path> logs = executorLogs(fresh);
    assertThat(logs).as("logs of executors").hasSize(2);
    for (Path log : logs) {
      assertThat(Files.readAllLines(log)).as("line of %s", log).anyMatch(SparkTwoLinesTest::says);
    }
    assertThat(outcome.warnings()).noneMatch(line -> line.contains("io.s3e"));
  }

  private static boolean says(String line) {
    return line.matches(".*" + LINE);
  }

  private static Path localRepository() {
    return Path.of(Harness.property("engines.maven.repository"));
  }

  /** Standard error of each executor, which a worker keeps in the home. */
  private static List<Path> executorLogs(SparkHome home) throws IOException {
    try (var files = Files.walk(home.directory().resolve("work"))) {
      return files.filter(file -> file.getFileName().toString().equals("stderr")).toList();
    }
  }
}
