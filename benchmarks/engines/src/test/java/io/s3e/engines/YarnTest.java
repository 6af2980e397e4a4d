// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * MapReduce in YARN's containers: MiniYARNCluster, one node, several JVMs at once. CI has two
 * containers that read, and counts what S3E gives in the run that it compares; the whole, with four
 * containers and S3E as users set it, runs without {@code -Ds3e.engines=quick}, as each night.
 */
@Tag("yarn")
class YarnTest {
  private static final int BYTES = 3_000_000;

  /** A row of the report, by two runs or three. */
  @FunctionalInterface
  private interface Comparison {
    void compare(String engine, String job, Row.Job work) throws Exception;
  }

  @TempDir private static Path directory;
  private static Store store;
  private static int outputs;

  @BeforeAll
  static void put() throws Exception {
    store = Store.start(directory);
    store.put("text/words.txt", Texts.text(BYTES, 2));
  }

  @AfterAll
  static void stop() throws Exception {
    store.close();
  }

  @Test
  @Tag("quick")
  void containersShareTheCacheOfTheirApplication() throws Exception {
    assertContainersShare(2, Row::compareCounted, Stream.COUNTED_S3E);
  }

  @Test
  void moreContainersShareTheCacheOfTheirApplication() throws Exception {
    assertContainersShare(4, Row::compareWithOwnInput, Stream.S3E);
  }

  private static void assertContainersShare(int readers, Comparison comparison, Stream s3e)
      throws Exception {
    EngineHome yarn = EngineHome.of("yarn");
    Map<Stream, ContainerLogs> containers = new EnumMap<>(Stream.class);
    comparison.compare(
        "MapReduce, YARN",
        "wordcount, text, " + readers + " containers, scope app",
        stream -> {
          EngineProcess job =
              EngineProcess.of(yarn, "io.s3e.jobs.WordCountOnYarn", stream, store, "wordcount")
                  .jar(yarn.job("yarn"))
                  .options("--add-opens=java.base/java.lang=ALL-UNNAMED")
                  .set("mapreduce.input.fileinputformat.split.maxsize", "" + BYTES / readers)
                  .set("fs.s3a.s3e.cache.scope", "app")
                  .set("mapreduce.map.memory.mb", "512")
                  .set("mapreduce.reduce.memory.mb", "512")
                  .set("yarn.app.mapreduce.am.resource.mb", "512")
                  .set("mapred.child.java.opts", EngineProcess.SHORT_LIVED)
                  .set("yarn.app.mapreduce.am.command-opts", EngineProcess.SHORT_LIVED)
                  .set("mapreduce.client.progressmonitor.pollinterval", "100")
                  // The node manager waits for so long and more when it is stopped.
                  .set("yarn.nodemanager.process-kill-wait.ms", "500")
                  // A second attempt of a task reads a second time.
                  .set("mapreduce.map.speculative", "false")
                  .set("mapreduce.reduce.speculative", "false");
          String output = "out/" + ++outputs;
          Outcome outcome =
              job.run(
                  Store.ROOT + "text",
                  Store.ROOT + output,
                  job.directory().resolve("yarn").toString());
          containers.put(stream, ContainerLogs.below(job.directory().resolve("yarn")));
          return outcome
              .withDigest(store.digestOfParts(output))
              .withInput(outcome.counter("Bytes Read"));
        });
    ContainerLogs byS3E = containers.get(s3e);
    assertThat(byS3E.count("INFO .*: S3E .* reads s3a://engines.* app.*"))
        .as("containers that read by S3E with a cache of their application")
        .isGreaterThanOrEqualTo(readers);
    assertThat(byS3E.lines("(WARN|ERROR|FATAL) .* io\\.s3e\\..*")).isEmpty();
    Duration release = byS3E.longestRelease();
    Duration byS3A = containers.get(Stream.CLASSIC).longestRelease();
    System.out.printf(
        "YARN releases a container %s ms after its task, with S3A %s ms%n",
        release.toMillis(), byS3A.toMillis());
    assertThat(release)
        .as("from the end of a task to the end of its container; S3A: %s", byS3A)
        .isLessThanOrEqualTo(byS3A.plus(Row.exitMargin()));
  }
}
