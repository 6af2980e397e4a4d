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

/** MapReduce in YARN's containers: MiniYARNCluster, one node, several JVMs at once. */
@Tag("quick")
class YarnTest {
  private static final int CONTAINERS = 4;
  private static final int BYTES = 6_000_000;

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
  void containersShareTheCacheOfTheirApplication() throws Exception {
    EngineHome yarn = EngineHome.of("yarn");
    Map<Stream, ContainerLogs> containers = new EnumMap<>(Stream.class);
    Row.compareWithOwnInput(
        "MapReduce, YARN",
        "wordcount, text, " + CONTAINERS + " containers, scope app",
        stream -> {
          EngineProcess job =
              EngineProcess.of(yarn, "io.s3e.jobs.WordCountOnYarn", stream, store, "wordcount")
                  .jar(yarn.job("yarn"))
                  .options("--add-opens=java.base/java.lang=ALL-UNNAMED")
                  .set("mapreduce.input.fileinputformat.split.maxsize", "" + BYTES / CONTAINERS)
                  .set("fs.s3a.s3e.cache.scope", "app")
                  .set("mapreduce.map.memory.mb", "512")
                  .set("mapreduce.reduce.memory.mb", "512")
                  .set("yarn.app.mapreduce.am.resource.mb", "512")
                  .set("mapred.child.java.opts", "-Xmx300m -XX:TieredStopAtLevel=1")
                  .set("yarn.app.mapreduce.am.command-opts", "-Xmx300m -XX:TieredStopAtLevel=1")
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
    ContainerLogs byS3E = containers.get(Stream.S3E);
    assertThat(byS3E.count("INFO .*: S3E .* reads s3a://engines.* app.*"))
        .as("containers that read by S3E with a cache of their application")
        .isGreaterThanOrEqualTo(CONTAINERS);
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
