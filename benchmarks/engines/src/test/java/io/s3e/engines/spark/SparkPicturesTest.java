// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.engines.Outcome;
import io.s3e.engines.Store;
import io.s3e.engines.Stream;
import io.s3e.engines.spark.job.Picture;
import io.s3e.testing.ForkedJvm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The pictures of docs/SPARK.md: the tab of a Spark that has run queries of TPC-H, the plan of one
 * of them, and the tab in the History Server. {@code -Ds3e.docs.pictures=DIRECTORY} keeps them.
 */
class SparkPicturesTest {
  private static final List<Integer> QUERIES = List.of(1, 3, 6, 14, 19, 1, 6);

  /** Of two tables. */
  private static final int JOIN = 14;

  @TempDir private static Path directory;
  private static Store store;
  private static SparkHome spark;

  @BeforeAll
  static void start() throws Exception {
    if (!Picture.chromium().canExecute()) {
      String reason =
          "No browser: " + Picture.chromium() + " is not there; " + Picture.CHROMIUM + " names it";
      System.out.println(reason);
      Assumptions.abort(reason);
    }
    spark = SparkHome.of("spark-4.1");
    store = Store.startRefusingAndLate(directory);
    SparkTpchTest.generate(store, 0.2, List.of("parquet"));
  }

  @AfterAll
  static void stop() throws IOException {
    if (store != null) {
      store.close();
    }
  }

  @Test
  void showWhatQueriesHaveRead() throws Exception {
    Path pictures =
        Files.createDirectories(
            Path.of(System.getProperty("s3e.docs.pictures", directory.resolve("png").toString())));
    Path events = Files.createDirectories(directory.resolve("events"));
    Outcome outcome =
        SparkRun.of(spark, Stream.PLUGIN, store, "pictures")
            .jars(List.of(SparkHome.line()))
            .conf("spark.app.name", "TPC-H")
            .conf("spark.plugins", "io.s3e.spark.S3EPlugin")
            // So little that some of what is read again has gone to local disk.
            .conf("spark.s3e.memory.budget", "32m")
            .conf("spark.ui.enabled", "true")
            .conf("spark.ui.port", "0")
            .eventLog(events)
            .run(steps(pictures))
            .outcome();
    assertThat(outcome.exitCode()).as(String.join("\n", outcome.output())).isZero();
    assertThat(pictures.resolve("spark-ui.png")).isNotEmptyFile();
    assertThat(pictures.resolve("spark-sql.png")).isNotEmptyFile();

    String tab = historyServers(events, pictures.resolve("spark-history.png"));

    assertThat(tab).contains("TPC-H", "s3e-served", "s3e-stages", "What GETs were for");
  }

  private static List<String> steps(Path pictures) {
    List<String> steps = new ArrayList<>();
    steps.add("tables parquet " + Store.ROOT + "tpch-0.2");
    QUERIES.forEach(query -> steps.add("query " + query));
    steps.add("picture /s3e/ " + pictures.resolve("spark-ui.png").toAbsolutePath());
    int views = 8;
    int join = views + QUERIES.indexOf(JOIN);
    steps.add(
        "picture /SQL/execution/?id="
            + join
            + " "
            + pictures.resolve("spark-sql.png").toAbsolutePath());
    return steps;
  }

  /** Takes the picture of the tab of the only application; the page's text. */
  private static String historyServers(Path events, Path picture) throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    String application;
    try (var logs = Files.list(events)) {
      application = logs.findFirst().orElseThrow().getFileName().toString();
    }
    application = application.replaceAll("^eventlog_v2_|\\..*$", "");
    List<String> classPath = new ArrayList<>(List.of(SparkHome.line().toString(), spark.jars()));
    ForkedJvm.Launch launch =
        ForkedJvm.of("org.apache.spark.deploy.history.HistoryServer")
            .options(SparkHome.jvmOptions().toArray(String[]::new))
            .options(
                "-Xmx512m",
                "-Dspark.history.fs.logDirectory=" + events.toUri(),
                "-Dspark.history.ui.port=" + port)
            .classPath(classPath)
            .in(directory);
    spark.environment().forEach(launch::environment);
    try (ForkedJvm server = launch.start()) {
      URI tab = URI.create("http://127.0.0.1:" + port + "/history/" + application + "/s3e/");
      return Picture.take(tab, picture);
    }
  }
}
