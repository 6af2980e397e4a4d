// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hive's command line, its metastore and MapReduce in one JVM. */
class HiveTest {
  /** As Hive's own start script opens them to Kryo. */
  private static final List<String> OPENED =
      List.of(
          "lang",
          "net",
          "io",
          "math",
          "text",
          "time",
          "nio",
          "util",
          "util.regex",
          "util.concurrent",
          "util.concurrent.atomic");

  @TempDir private static Path directory;
  private static Store store;

  @BeforeAll
  static void put() throws Exception {
    store = Store.start(directory);
    store.put("text/words.txt", Texts.text(4_000_000, 4));
  }

  @AfterAll
  static void stop() throws Exception {
    store.close();
  }

  @Test
  void selectsFromATableOfText() throws Exception {
    EngineHome hive = EngineHome.of("hive");
    Row.compare(
        "Hive",
        "select from an external table of text",
        stream -> {
          EngineProcess client =
              EngineProcess.of(
                      hive, "org.apache.hadoop.hive.cli.CliDriver", stream, store, "select")
                  .options("-Xmx1g")
                  .deadline(Duration.ofMinutes(10));
          for (String each : OPENED) {
            client.options("--add-opens=java.base/java." + each + "=ALL-UNNAMED");
          }
          Outcome outcome = client.run(arguments(client.directory()));
          assertThat(outcome.exitCode()).as(String.join("\n", outcome.output())).isZero();
          return outcome.withDigest(
              Files.readString(client.directory().resolve("result").resolve("000000_0")));
        });
  }

  private static String[] arguments(Path directory) {
    List<String> arguments = new ArrayList<>();
    for (String setting :
        List.of(
            "hive.execution.engine=mr",
            "hive.metastore.warehouse.dir=" + directory.resolve("warehouse"),
            "hive.exec.scratchdir=" + directory.resolve("scratch"),
            "hive.exec.local.scratchdir=" + directory.resolve("local-scratch"),
            "hive.support.concurrency=false",
            "hive.metastore.schema.verification=false",
            "datanucleus.schema.autoCreateAll=true",
            "javax.jdo.option.ConnectionURL=jdbc:derby:;databaseName="
                + directory.resolve("metastore")
                + ";create=true")) {
      arguments.addAll(List.of("--hiveconf", setting));
    }
    arguments.add("-e");
    arguments.add(
        "create external table words (line string) location '"
            + Store.ROOT
            + "text/'; insert overwrite local directory '"
            + directory.resolve("result")
            + "' select count(*), sum(crc32(line)) from words;");
    return arguments.toArray(String[]::new);
  }
}
