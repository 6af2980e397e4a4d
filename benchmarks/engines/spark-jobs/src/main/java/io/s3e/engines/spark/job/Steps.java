// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark.job;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * The main class: does the {@link Step} of each line of a file, or of standard input when no file
 * is named, and answers each with one line, {@value #RESULT} and a {@link StepResult} as JSON. It
 * ends with its input, or with the first step that fails.
 */
public final class Steps {

  /** In front of each answer, since Spark writes to the same output. */
  public static final String RESULT = "S3E-RESULT ";

  /** In front of each metric of the plugin. */
  public static final String METRIC = "S3E-METRIC ";

  private final SparkSession spark;
  private final TaskMeter meter = new TaskMeter();
  private final ObjectMapper json = new ObjectMapper();

  private Steps(SparkSession spark) {
    this.spark = spark;
    spark.sparkContext().addSparkListener(meter);
  }

  /**
   * @param args the file of steps; none for standard input
   */
  public static void main(String[] args) throws IOException, TimeoutException {
    SparkSession spark = SparkSession.builder().getOrCreate();
    try (BufferedReader lines =
        args.length == 0
            ? new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))
            : Files.newBufferedReader(Path.of(args[0]))) {
      new Steps(spark).run(lines);
    } finally {
      spark.stop();
    }
  }

  private void run(BufferedReader lines) throws IOException, TimeoutException {
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (!line.isBlank()) {
        System.out.println(RESULT + json.writeValueAsString(measured(line)));
      }
    }
  }

  private StepResult measured(String line) throws IOException, TimeoutException {
    SparkContext context = spark.sparkContext();
    TaskJvms.Used before = TaskJvms.used(context);
    StepResult.Tasks tasksBefore = meter.sums(context);
    long start = System.nanoTime();
    List<Row> rows = Step.run(spark, line);
    long wallNanos = System.nanoTime() - start;
    // Spark's own book-keeping of these tasks counts as work of theirs.
    StepResult.Tasks tasks = meter.sums(context).minus(tasksBefore);
    TaskJvms.Used after = TaskJvms.used(context);
    return new StepResult(
        line,
        rows.size(),
        RowDigest.of(rows),
        wallNanos,
        after.cpuNanos() - before.cpuNanos(),
        tasks,
        after.reads().minus(before.reads()));
  }
}
