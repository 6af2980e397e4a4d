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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The bundle jar beside an application's own aws-crt, in JVMs of their own: S3E reads by its own,
 * the application by its own, and the JVM ends as it should.
 */
@Tag("bundle")
class BundleTest {
  private static final long PATIENCE_SECONDS = 120;
  static final int LENGTH = 3 << 20;

  /** Options of JVMs that live for seconds. They verify classes: there are others of that name. */
  static final List<String> SHORT_LIVED =
      Stream.concat(Stream.of("-Xmx512m"), ForkedJvm.SHORT_LIVED.stream()).toList();

  private static final String KEY = "beside-another-crt";
  private static final Path BUNDLE = Path.of(System.getProperty("s3e.test.bundle"));
  private static final Path OLD_CRTS = Path.of(System.getProperty("s3e.test.old.crts"));

  @TempDir Path scratch;

  @BeforeAll
  static void putObject() throws Exception {
    put(KEY);
  }

  /** Puts the object that programs over the bundle read and know: {@link #LENGTH} bytes. */
  static void put(String key) throws Exception {
    byte[] bytes = new byte[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
      bytes[i] = (byte) (i % 251);
    }
    URI bucket = URI.create("s3a://" + S3AServer.BUCKET);
    try (FileSystem fs = FileSystem.newInstance(bucket, S3AServer.s3a(S3AServer.endpoint()));
        OutputStream out = fs.create(new org.apache.hadoop.fs.Path(bucket + "/" + key))) {
      out.write(bytes);
    }
  }

  /** It would be published in its place, and who resolves this module would get one jar alone. */
  @Test
  void theBundleLeavesThePomOfTheModuleAsItIs() {
    assertThat(Path.of("dependency-reduced-pom.xml"))
        .as("to be deleted if a build of before has left it")
        .doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({
    "0.33.3, before, application",
    "0.33.3, above, s3e",
    "0.38.9, before, s3e",
    "0.38.9, after, application",
    "0.49.0, after, s3e",
    "0.49.0, above, application"
  })
  void bothReadByTheirOwn(String version, String place, String first) throws Exception {
    Path old = OLD_CRTS.resolve("aws-crt-" + version + ".jar");
    List<Path> classPath =
        switch (place) {
          case "before" -> List.of(old, BUNDLE);
          case "after" -> List.of(BUNDLE, old);
          default -> List.of(old);
        };
    List<String> options = place.equals("above") ? List.of("-Dbundle=" + BUNDLE) : List.of();
    String said = run(classPath, options, first);
    assertThat(said).contains("APPLICATION " + version + " read " + LENGTH);
    assertThat(count(said, "S3E read " + LENGTH + " wrong 0 ")).isEqualTo(2);
    assertThat(count(said, " by crt-borrowed")).isEqualTo(2);
    assertThat(said).endsWith("END\n");
  }

  @Test
  void withoutAnotherCrt() throws Exception {
    String said = run(List.of(BUNDLE), List.of(), "none");
    assertThat(count(said, " by crt-borrowed")).isEqualTo(2);
    assertThat(said).endsWith("END\n");
  }

  @Test
  void holdsNoCrtThatOthersCanSee() throws Exception {
    try (JarFile jar = new JarFile(BUNDLE.toFile())) {
      List<String> names = jar.stream().map(entry -> entry.getName()).collect(Collectors.toList());
      assertThat(names)
          .contains(
              "s3e-crt/software/amazon/awssdk/crt/CRT.class",
              "s3e-crt/linux/x86_64/glibc/libaws-crt-jni.so",
              "s3e-crt/linux/armv8/musl/libaws-crt-jni.so",
              "META-INF/LICENSE",
              "META-INF/LICENSE-AWS-LC",
              "META-INF/NOTICE")
          .doesNotHaveDuplicates();
      assertThat(names.stream().filter(name -> name.startsWith("software/"))).isEmpty();
      assertThat(names.stream().filter(name -> name.startsWith("s3e-crt/windows/"))).isEmpty();
      assertThat(jar.getManifest().getMainAttributes().getValue("Implementation-Version"))
          .isEqualTo(io.s3e.version.Version.text());
    }
  }

  /** The program's standard output; its log is in {@link #log()}. */
  private String run(List<Path> jars, List<String> options, String first) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(SHORT_LIVED);
    command.add("-Djava.io.tmpdir=" + scratch);
    command.addAll(options);
    command.add("-cp");
    command.add(
        Stream.concat(jars.stream().map(Path::toString), clusterClassPath())
            .collect(Collectors.joining(File.pathSeparator)));
    command.add(BothCrts.class.getName());
    command.addAll(
        List.of(
            S3AServer.endpoint().toString(),
            S3AServer.BUCKET,
            KEY,
            Integer.toString(LENGTH),
            S3TestServer.ACCESS_KEY,
            S3TestServer.SECRET_KEY,
            first));
    Path out = scratch.resolve("out");
    Process child =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(scratch.resolve("log").toFile())
            .start();
    try {
      assertThat(child.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS))
          .as("ended; it said %s and logged %s", Files.readString(out), log())
          .isTrue();
    } finally {
      child.destroyForcibly();
    }
    String said = Files.readString(out);
    assertThat(child.exitValue()).as("%s%n%s", said, log()).isEqualTo(0);
    return said;
  }

  private String log() throws Exception {
    return Files.readString(scratch.resolve("log"));
  }

  /** The class path of this JVM, without S3E and what the bundle brings for it. */
  static Stream<String> clusterClassPath() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(
            entry ->
                !entry.contains("s3e-core")
                    && !entry.contains("s3e-iceberg")
                    && !entry.contains("s3e-hadoop33")
                    && !entry.endsWith(Path.of("hadoop33", "target", "classes").toString())
                    && !entry.endsWith(Path.of("iceberg", "target", "classes").toString())
                    && !entry.endsWith(Path.of("s3e-hadoop", "target", "classes").toString())
                    && !entry.contains("/aws-crt/")
                    && !entry.contains("/caffeine/"));
  }

  private static int count(String text, String part) {
    return text.split(java.util.regex.Pattern.quote(part), -1).length - 1;
  }
}
