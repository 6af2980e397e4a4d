// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.S3AServer;
import io.s3e.testing.ForkedJvm;
import io.s3e.testserver.S3TestServer;
import java.io.File;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The bundle jar, and the core without Hadoop, in the JVMs of other platforms that {@code
 * .ci/platforms} brings: {@code PLATFORM/bin/java} in the directory of the property {@code
 * s3e.platforms}. The store is in this JVM. What each read goes to {@code results} there.
 */
@Tag("platforms")
class PlatformsTest {
  private static final Path PLATFORMS = Path.of(System.getProperty("s3e.platforms", ""));
  private static final String KEY = "on-other-platforms";
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final List<String> RESULTS = new ArrayList<>();

  @TempDir Path scratch;

  static Stream<String> platforms() throws Exception {
    try (Stream<Path> found = Files.list(PLATFORMS)) {
      return found
          .filter(platform -> Files.isExecutable(java(platform)))
          .map(platform -> platform.getFileName().toString())
          .sorted()
          .toList()
          .stream();
    }
  }

  private static Path java(Path platform) {
    return platform.resolve("bin").resolve("java");
  }

  @BeforeAll
  static void putObject() throws Exception {
    URI bucket = URI.create("s3a://" + S3AServer.BUCKET);
    Configuration conf = S3AServer.s3a(S3AServer.endpoint());
    conf.set("fs.s3a.multipart.size", "8M");
    try (FileSystem fs = FileSystem.newInstance(bucket, conf);
        OutputStream out = fs.create(new org.apache.hadoop.fs.Path(bucket + "/" + KEY))) {
      out.write(CheckedReads.content());
    }
  }

  @AfterAll
  static void tell() throws Exception {
    Files.write(
        PLATFORMS.resolve("results"),
        RESULTS,
        StandardOpenOption.CREATE,
        StandardOpenOption.TRUNCATE_EXISTING);
  }

  @ParameterizedTest
  @MethodSource("platforms")
  void theBundleReadsThroughS3a(String platform) throws Exception {
    List<String> classPath = new ArrayList<>(List.of(System.getProperty("s3e.test.bundle")));
    BundleTest.clusterClassPath().forEach(classPath::add);
    reads(platform, "s3a:// by the bundle", ReadsByHadoop.class, classPath, " fallbacks 0");
  }

  @ParameterizedTest
  @MethodSource("platforms")
  void theCoreReadsWithoutHadoop(String platform) throws Exception {
    List<String> classPath =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(
                entry ->
                    entry.contains("s3e-core")
                        || entry.contains("aws-crt")
                        || entry.contains("slf4j")
                        || entry.endsWith(
                            Path.of("s3e-hadoop", "target", "test-classes").toString()))
            .toList();
    reads(platform, "the core", ReadsByCore.class, classPath, "");
  }

  private void reads(
      String platform, String by, Class<?> program, List<String> classPath, String more)
      throws Exception {
    Path cache = Files.createDirectory(scratch.resolve("cache"));
    ForkedJvm.Launch launch =
        ForkedJvm.of(program.getName())
            .javaHome(PLATFORMS.resolve(platform))
            .options("-Xmx384m", "-Djava.io.tmpdir=" + scratch, "-Dhadoop.tmp.dir=" + scratch)
            .classPath(classPath)
            .in(scratch);
    List<String> said = new ArrayList<>();
    try (ForkedJvm jvm =
        launch.start(
            S3AServer.endpoint().toString(),
            S3AServer.BUCKET,
            KEY,
            S3TestServer.ACCESS_KEY,
            S3TestServer.SECRET_KEY,
            cache.toString())) {
      jvm.await("END", said, PATIENCE);
      jvm.awaitEnd();
      assertThat(jvm.exitCode()).as("%s", said).isZero();
    }
    String sum = CheckedReads.sha256(CheckedReads.content());
    assertThat(said)
        .contains("VECTORED 12 wrong 0", "RANDOM 60 wrong 0", "CLIENT crt-borrowed" + more);
    String rate = rate(said, "SCAN ", sum);
    String again = rate(said, "AGAIN ", sum);
    long fetched = Long.parseLong(word(said, "FETCHED AGAIN "));
    assertThat(fetched)
        .as("bytes of the second pass from the store")
        .isLessThan(CheckedReads.LENGTH / 2);
    RESULTS.add(
        String.format(
            "%s, %s: %d bytes by %s at %s MB/s, 12 ranges at once, 60 random reads; again at %s"
                + " MB/s, %d of them from local disk; SHA-256 equal",
            platform,
            by,
            CheckedReads.LENGTH,
            word(said, "CLIENT ").split(" ")[0],
            rate,
            again,
            CheckedReads.LENGTH - fetched));
  }

  /** MB/s of the last line of that name, which says the whole length and the checksum. */
  private static String rate(List<String> said, String name, String sum) {
    String[] words = word(said, name).split(" ");
    assertThat(words).hasSize(4).startsWith(Integer.toString(CheckedReads.LENGTH)).endsWith(sum);
    return words[1];
  }

  private static String word(List<String> said, String name) {
    return said.stream()
        .filter(line -> line.startsWith(name))
        .reduce((earlier, last) -> last)
        .orElseThrow(() -> new AssertionError("no " + name + "in " + said))
        .substring(name.length());
  }
}
