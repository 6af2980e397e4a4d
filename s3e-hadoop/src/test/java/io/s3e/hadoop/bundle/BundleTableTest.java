// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.bundle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.s3e.hadoop.S3AServer;
import io.s3e.testing.ForkedJvm;
import io.s3e.testserver.S3TestServer;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The bundle jar serves a table of Iceberg's and {@code s3a://} in one JVM, by one engine: what the
 * file IO has fetched, the file system finds in memory.
 */
@Tag("bundle")
@Tag("source-tree")
class BundleTableTest {
  private static final String BUNDLE = System.getProperty("s3e.test.bundle");
  private static final Path ICEBERG =
      Path.of(System.getProperty("s3e.test.readers"), "iceberg-1.12.0");
  private static final Path PROGRAM =
      Path.of(
          System.getProperty("s3e.test.readers.sources"),
          "table/io/s3e/readers/TableBesideS3a.java");

  @TempDir Path scratch;

  @Test
  void aTableAndS3aShareTheEngine() throws Exception {
    assumeTrue(ToolProvider.getSystemJavaCompiler() != null, "this Java has no compiler");
    ForkedJvm.Launch launch =
        ForkedJvm.of(PROGRAM.toString())
            .options("-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
            .options("-Dhadoop.tmp.dir=" + scratch, "-Djava.io.tmpdir=" + scratch)
            .classPath(classPath())
            .in(scratch);
    List<String> said = new ArrayList<>();
    try (ForkedJvm jvm =
        launch.start(
            S3AServer.endpoint().toString(),
            S3AServer.BUCKET,
            S3TestServer.ACCESS_KEY,
            S3TestServer.SECRET_KEY)) {
      jvm.awaitEnd();
      said.addAll(jvm.rest());
      assertThat(jvm.exitCode()).as("%s", said).isZero();
    }
    assertThat(said)
        .contains("SCANNED 1000000 wrong 0 by io.s3e.iceberg.S3EFileIO", "WRONG 0", "END")
        .noneMatch(line -> line.contains("WARN io.s3e"));
    long length = number(said, "LENGTH ");
    assertThat(length).isGreaterThan(7 << 20);
    assertThat(number(said, "FETCHED ")).isPositive().isLessThan(length / 2);
    assertThat(number(said, "HITS ")).isPositive();
  }

  private static long number(List<String> said, String name) {
    return said.stream()
        .filter(line -> line.startsWith(name))
        .mapToLong(line -> Long.parseLong(line.substring(name.length())))
        .findFirst()
        .orElseThrow(() -> new AssertionError("No " + name + "in " + said));
  }

  /** The bundle, Iceberg, and a cluster's with the Caffeine that Iceberg needs. */
  private static List<String> classPath() throws Exception {
    List<String> entries = new ArrayList<>(List.of(BUNDLE));
    try (var jars = Files.list(ICEBERG)) {
      jars.sorted().map(Path::toString).forEach(entries::add);
    }
    BundleTest.clusterClassPath().forEach(entries::add);
    Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> entry.contains("/caffeine/"))
        .forEach(entries::add);
    return entries;
  }
}
