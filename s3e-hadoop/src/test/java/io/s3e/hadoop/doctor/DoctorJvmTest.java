// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.S3EAbstractFileSystem;
import io.s3e.hadoop.S3EFileSystem;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.Slow;
import java.io.File;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the doctor says of class paths, each in a JVM of its own. */
@Slow
@Tag("one-hadoop")
class DoctorJvmTest {
  private static final String BUCKET = "s3a://" + S3AServer.BUCKET;

  @TempDir Path scratch;

  /** An exit code, and all that was said and logged. */
  private record Said(int code, String text) {}

  private Said doctor(List<String> classPath, List<String> options, String... arguments)
      throws Exception {
    ForkedJvm.Launch launch =
        ForkedJvm.of(Doctor.class.getName())
            .options("-Xmx820m", "-Djava.io.tmpdir=" + scratch)
            .options("-Dorg.slf4j.simpleLogger.defaultLogLevel=off")
            .options(options.toArray(String[]::new))
            .classPath(classPath)
            .in(scratch);
    try (ForkedJvm jvm = launch.start(arguments)) {
      jvm.awaitEnd();
      return new Said(jvm.exitCode(), String.join("\n", jvm.rest()));
    }
  }

  private static List<String> jars(Predicate<String> wanted) {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(wanted)
        .toList();
  }

  private static boolean isOfS3e(String jar) {
    return jar.contains("s3e-core") || jar.contains("s3e-hadoop");
  }

  /** With a core-site.xml in front that has both keys. */
  private List<String> withCoreSite(List<String> jars) throws Exception {
    Configuration conf = S3AServer.s3a(S3AServer.endpoint());
    conf.set(Seam.IMPL, S3EFileSystem.class.getName());
    conf.set(Seam.ABSTRACT_IMPL, S3EAbstractFileSystem.class.getName());
    try (OutputStream out = Files.newOutputStream(scratch.resolve("core-site.xml"))) {
      conf.writeXml(out);
    }
    List<String> classPath = new ArrayList<>(List.of(scratch.toString()));
    classPath.addAll(jars);
    return classPath;
  }

  /** A jar that says to be a library, and holds no class that could be loaded. */
  private String jarOf(Library library, String version) throws Exception {
    return jar(library, version, List.of(library.marker));
  }

  private String jar(Library library, String version, List<String> emptyFiles) throws Exception {
    Path jar = scratch.resolve("another-" + version + ".jar");
    try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar))) {
      for (String file : emptyFiles) {
        out.putNextEntry(new ZipEntry(file));
      }
      out.putNextEntry(new ZipEntry(library.versionFile));
      out.write(("version=" + version).getBytes(UTF_8));
    }
    return jar.toString();
  }

  @Test
  void readyWithTheKeysInCoreSite() throws Exception {
    Said said = doctor(withCoreSite(jars(jar -> true)), List.of(), BUCKET);
    assertThat(said.code()).as("%s", said).isEqualTo(0);
    assertThat(said.text())
        .contains(scratch.resolve("core-site.xml").toString())
        // The serial collector counts one of its two survivor spaces only.
        .contains("budget 99 MiB of 792 MiB of direct memory, heap 792 MiB")
        .containsPattern(BUCKET + " +read by S3E, client crt")
        .endsWith("Ready.");
  }

  @Test
  void withoutHadoop() throws Exception {
    Said said = doctor(jars(jar -> isOfS3e(jar) || jar.contains("slf4j")), List.of());
    assertThat(said.code()).as("%s", said).isEqualTo(1);
    assertThat(said.text())
        .containsPattern("! Hadoop +not on the class path")
        .contains("hadoop jar BUNDLE.jar")
        .doesNotContain("do not fit together");
  }

  @Test
  void withNothingButS3e() throws Exception {
    Said said = doctor(jars(DoctorJvmTest::isOfS3e), List.of(), "--json");
    assertThat(said.code()).as("%s", said).isEqualTo(1);
    assertThat(said.text()).contains("\"ready\": false", "\"name\": \"SLF4J\"");
  }

  @Test
  void withoutHadoopAws() throws Exception {
    Said said = doctor(jars(jar -> !jar.contains("hadoop-aws")), List.of());
    assertThat(said.code()).as("%s", said).isEqualTo(1);
    assertThat(said.text())
        .containsPattern("! hadoop-aws +not on the class path")
        .contains(
            "Add org.apache.hadoop:hadoop-aws:" + System.getProperty("s3e.test.hadoop.version"))
        .doesNotContain("do not fit together");
    assertThat(toDo(said)).hasSize(1);
  }

  @Test
  void hadoopAwsAndItsSdkAreOneThingToDo() throws Exception {
    Said said =
        doctor(
            jars(
                jar ->
                    jar.contains("aws-crt")
                        || !(jar.contains("hadoop-aws") || jar.contains("awssdk"))),
            List.of());
    assertThat(said.code()).as("%s", said).isEqualTo(1);
    assertThat(toDo(said))
        .hasSize(1)
        .first()
        .asString()
        .contains(
            "Add org.apache.hadoop:hadoop-aws:" + System.getProperty("s3e.test.hadoop.version"))
        .contains("the AWS SDK that it names");
  }

  private static List<String> toDo(Said said) {
    return said.text().lines().dropWhile(line -> !line.equals("To do:")).skip(1).toList();
  }

  @Test
  void withoutTheSdk() throws Exception {
    Said said = doctor(withCoreSite(jars(jar -> !jar.contains("awssdk"))), List.of(), BUCKET);
    assertThat(said.code()).as("%s", said).isEqualTo(1);
    assertThat(said.text())
        .contains("not on the class path: AWS SDK, core; AWS SDK, s3;")
        .contains("software.amazon.awssdk:bundle")
        .contains("fs.s3a.impl", S3EFileSystem.class.getName())
        .doesNotContain("do not fit together");
    assertThat(toDo(said)).noneMatch(line -> line.contains("Put on the class path"));
  }

  @Test
  void onAnotherHadoopThanItsHadoopAws() throws Exception {
    List<String> classPath = new ArrayList<>(List.of(jar(Library.HADOOP_AWS, "3.3.4", List.of())));
    classPath.addAll(withCoreSite(jars(jar -> true)));
    Said said = doctor(classPath, List.of());
    assertThat(said.code()).as("%s", said).isEqualTo(1);
    assertThat(said.text())
        .containsPattern("! S3E cannot read here +hadoop-aws 3.3.4 is not of Hadoop's version ")
        .contains(
            "Put on the class path: Hadoop 3.3.4 to 3.3.6, or 3.4.1 or newer, hadoop-aws of exactly"
                + " that version")
        .doesNotContain("any other bucket");
  }

  @Test
  void namesTwoVersionsOfALibrary() throws Exception {
    List<String> classPath = withCoreSite(jars(jar -> true));
    classPath.add(jarOf(Library.HADOOP_AWS, "3.3.4"));
    classPath.add(jarOf(Library.SLF4J, "1.7.36"));
    classPath.add(jarOf(Library.SDK_S3, System.getProperty("s3e.test.sdk.version")));
    Said said = doctor(classPath, List.of());
    assertThat(said.code()).as("%s", said).isEqualTo(1);
    assertThat(said.text())
        .containsPattern("! hadoop-aws +again 3.3.4  .*another-3.3.4.jar")
        .contains("Leave one version of hadoop-aws on the class path: remove ")
        .containsPattern("  AWS SDK, s3 +again ")
        .containsPattern("  SLF4J +again 1.7.36 ")
        .doesNotContain("Leave one version of SLF4J")
        .doesNotContain("Leave one version of AWS SDK");
  }

  @Test
  void readsWhatSparkSubmitHandsOn() throws Exception {
    Said said =
        doctor(
            jars(jar -> true),
            List.of(
                "-Dspark.hadoop.fs.s3a.impl=" + S3EFileSystem.class.getName(),
                "-Dspark.hadoop."
                    + Seam.ABSTRACT_IMPL
                    + "="
                    + S3EAbstractFileSystem.class.getName(),
                "-Dspark.hadoop.fs.s3a.endpoint.region=us-east-1"));
    assertThat(said.code()).as("%s", said).isEqualTo(0);
    assertThat(said.text()).contains(S3EFileSystem.class.getName() + " (system properties)");
  }
}
