// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.bundle.DroppedLoaders.Use;
import io.s3e.testserver.S3TestServer;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The bundle jar in class loaders that come and go: once their file systems are closed nothing
 * keeps them, one aws-crt has served all, and nobody has complained. In JVMs of their own.
 */
@Tag("bundle")
class DroppedLoadersTest {
  private static final long PATIENCE_SECONDS = 150;

  /** The JDK that tells of native libraries and of memory by address. */
  private static final int WARNS_OF_UNSAFE = 24;

  private static final String KEY = "by-loaders-that-go";
  private static final Path BUNDLE = Path.of(System.getProperty("s3e.test.bundle"));

  @TempDir Path scratch;

  @BeforeAll
  static void putObject() throws Exception {
    BundleTest.put(KEY);
  }

  @ParameterizedTest
  @EnumSource(
      value = Use.class,
      names = {"READ", "READ_IN_CONTEXT"})
  void goOnceTheyHaveRead(Use use) throws Exception {
    List<String> said = run(use);
    assertThat(said)
        .startsWith(
            "READ " + BundleTest.LENGTH,
            "READ " + BundleTest.LENGTH,
            "READ " + BundleTest.LENGTH,
            "READ " + BundleTest.LENGTH,
            "READ " + BundleTest.LENGTH,
            "READ " + BundleTest.LENGTH,
            "LOADERS 0",
            "THREADS []")
        .endsWith("END");
    if (Files.exists(Path.of("/proc/self/maps"))) {
      assertThat(said).contains("LIBRARIES 1");
    }
    assertThat(said).anyMatch(line -> line.matches("BEANS \\[io\\.s3e:type=AwsCrt,version=.*]"));
  }

  @Test
  @Tag("stream-spi")
  void goAfterStreamsInS3AsFileSystem() throws Exception {
    assertThat(run(Use.READ_BY_FACTORY)).contains("LOADERS 0", "THREADS []").endsWith("END");
  }

  @ParameterizedTest
  @EnumSource(
      value = Use.class,
      names = {"OPENED", "ASKED"})
  void goWhileS3EBegins(Use use) throws Exception {
    assertThat(run(use)).contains("LOADERS 0", "THREADS []").endsWith("END");
  }

  /** They cannot go, for their file systems are open; they are quiet about it. */
  @Test
  void areClosedUnderOpenFileSystems() throws Exception {
    assertThat(run(Use.LEFT)).endsWith("END");
  }

  /** The lines of the program's standard output; to its standard error it must write nothing. */
  private List<String> run(Use use) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Djava.io.tmpdir=" + scratch,
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                "-Dorg.slf4j.simpleLogger.log.io.s3e=warn",
                "-Dorg.slf4j.simpleLogger.log.org.apache.hadoop.util.NativeCodeLoader=off",
                "-cp",
                BundleTest.clusterClassPath().collect(Collectors.joining(File.pathSeparator)),
                DroppedLoaders.class.getName(),
                BUNDLE.toString(),
                S3AServer.endpoint().toString(),
                S3AServer.BUCKET,
                KEY,
                Integer.toString(BundleTest.LENGTH),
                S3TestServer.ACCESS_KEY,
                S3TestServer.SECRET_KEY,
                use.name()));
    if (Runtime.version().feature() >= WARNS_OF_UNSAFE) {
      command.add(1, "--sun-misc-unsafe-memory-access=allow");
      command.add(1, "--enable-native-access=ALL-UNNAMED");
    }
    command.addAll(1, BundleTest.SHORT_LIVED);
    Path out = scratch.resolve("out");
    Path err = scratch.resolve("err");
    Process child =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    try {
      assertThat(child.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS))
          .as("ended; it said %s and complained %s", Files.readString(out), Files.readString(err))
          .isTrue();
    } finally {
      child.destroyForcibly();
    }
    assertThat(Files.readString(err)).isEmpty();
    assertThat(child.exitValue()).as(Files.readString(out)).isZero();
    return Files.readAllLines(out);
  }
}
