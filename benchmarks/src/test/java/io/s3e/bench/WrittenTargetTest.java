// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.bench.server.Shape;
import io.s3e.bench.server.ShapedS3Server;
import io.s3e.cli.S3eCommand;
import io.s3e.testing.Eventually;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.Slow;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.s3.model.CopyObjectRequest;

/**
 * The preset for a stranger's bucket, on the embedded server as that bucket. A build runs two of
 * its workloads, which have all of its engines; {@code -Ds3e.test.bench=all} runs the whole preset,
 * as each night.
 */
@Slow
class WrittenTargetTest {
  private static final String PREFIX = "s3a://mine/some/prefix";

  @TempDir private Path temp;
  private Path root;
  private ShapedS3Server server;

  @BeforeEach
  void start() throws IOException {
    root = Files.createDirectory(temp.resolve("root"));
    Files.createDirectory(root.resolve("mine"));
    server =
        ShapedS3Server.start(
            new ShapedS3Server.Settings(root, 0, "access", "secret", Shape.UNSHAPED));
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  private String[] arguments(String... more) {
    List<String> all =
        new ArrayList<>(
            List.of(
                PREFIX,
                "--preset=AWS",
                "-Dfs.s3a.endpoint=" + server.endpoint(),
                "-Dfs.s3a.endpoint.region=us-east-1",
                "-Dfs.s3a.path.style.access=true",
                "-Dfs.s3a.access.key=access",
                "-Dfs.s3a.secret.key=secret",
                "--size=6",
                "--random-size=4",
                "--rounds=1"));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  /** Files, for directories without any are S3Proxy's business. */
  private List<Path> written() throws IOException {
    try (Stream<Path> files = Files.walk(root.resolve("mine"))) {
      return files.filter(Files::isRegularFile).toList();
    }
  }

  @Test
  void itTellsWhatItCostsReadsByAllAndLeavesNothing() throws Exception {
    String[] words =
        BenchRun.isAll() ? arguments("--yes") : arguments("--yes", "--workloads=seq,iceberg");
    BenchRun.Outcome outcome = new BenchRun(temp).run(words);

    assertThat(outcome.code()).isZero();
    assertThat(outcome.out())
        .contains("GB below " + PREFIX + "/s3e-bench-")
        .contains("USD (S3 Standard")
        .contains("Every byte was right in every run.")
        .doesNotContain("[y/N]");
    for (String engine : List.of("s3e", "classic", "analytics", "raw-crt-16")) {
      assertThat(outcome.bytesUsed("seq", engine)).as(engine).isEqualTo(6 << 20);
    }
    for (String engine : List.of("iceberg-s3e", "iceberg-s3fileio")) {
      assertThat(outcome.bytesUsed("iceberg", engine)).as(engine).isPositive();
    }
    assertThat(outcome.results().toString()).doesNotContain("secret");
    assertThat(written()).isEmpty();
  }

  @Test
  void whatFailsLeavesNothingEither() throws Exception {
    BenchRun.Outcome outcome =
        new BenchRun(temp)
            .run(
                arguments(
                    "--yes",
                    "--workloads=seq",
                    "--engines=corrupting",
                    "--set=corrupting:fs.s3a.impl=" + CorruptingFileSystem.class.getName()));

    assertThat(outcome.code()).as("nothing was measured").isEqualTo(1);
    assertThat(outcome.verdict("seq", "corrupting")).startsWith("WRONG BYTES");
    assertThat(written()).isEmpty();
  }

  private boolean isFirstRunPrepared() throws IOException {
    try {
      return written().stream().anyMatch(file -> file.toString().contains("/run1/"));
    } catch (UncheckedIOException aFileWentMeanwhile) {
      return false;
    }
  }

  /** As by Ctrl-C: the JVM is told to end while a read of its only engine hangs. */
  @Test
  void whatIsInterruptedLeavesNothingEither() throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
    command.addAll(ForkedJvm.SHORT_LIVED);
    command.addAll(ForkedJvm.UNVERIFIED);
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            S3eCommand.class.getName(),
            "bench",
            "--work-dir=" + temp.resolve("work"),
            "--report=" + temp.resolve("report"),
            "--yes",
            "--no-progress",
            "--workloads=seq",
            "--engines=hanging",
            "--read-deadline=600",
            "--set=hanging:fs.s3a.impl=" + HangingFileSystem.class.getName()));
    command.addAll(List.of(arguments()));
    Process bench =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(temp.resolve("bench.log").toFile())
            .start();
    try {
      // The first run's copy: everything is written, and the engine is about to read.
      Eventually.awaitTrue(
          "a run was about to read", Duration.ofSeconds(120), this::isFirstRunPrepared);
      bench.destroy();
      assertThat(bench.waitFor(60, TimeUnit.SECONDS)).isTrue();
    } finally {
      bench.destroyForcibly();
    }

    assertThat(written()).as(Files.readString(temp.resolve("bench.log"))).isEmpty();
  }

  @Test
  void nothingIsWrittenWithoutAYes() throws Exception {
    InputStream before = System.in;
    StringWriter out = new StringWriter();
    try {
      for (String answer : List.of("n\n", "", "yesterday\n")) {
        System.setIn(new ByteArrayInputStream(answer.getBytes(StandardCharsets.UTF_8)));
        assertThat(BenchRun.execute(out, arguments())).isEqualTo(1);
      }
    } finally {
      System.setIn(before);
    }
    assertThat(out.toString()).contains("Go on? [y/N]").contains("Nothing was written");
    assertThat(written()).isEmpty();
  }

  @Test
  void copiesAreOfTheKeysThatWereWritten() {
    CopyObjectRequest copy = WrittenTarget.copy("s3a://b/a%20b #c/k", "s3a://b/a%20b #c/run1/k");
    assertThat(copy.sourceBucket()).isEqualTo("b");
    assertThat(copy.sourceKey()).isEqualTo("a%20b #c/k");
    assertThat(copy.destinationKey()).isEqualTo("a%20b #c/run1/k");
  }

  @Test
  void itWantsAPlaceToWrite() {
    StringWriter out = new StringWriter();
    assertThat(BenchRun.execute(out, "--preset=AWS", "--yes")).isEqualTo(2);
  }
}
