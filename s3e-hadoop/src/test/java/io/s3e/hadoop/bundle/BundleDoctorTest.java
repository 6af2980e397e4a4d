// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.doctor.Doctor;
import io.s3e.testing.ForkedJvm;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The doctor as a user of the bundle jar starts it. */
@Tag("bundle")
class BundleDoctorTest {
  private static final String BUNDLE = System.getProperty("s3e.test.bundle");
  private static final long PATIENCE_SECONDS = 60;
  private static final String BUCKET = "s3a://" + S3AServer.BUCKET;

  @TempDir Path scratch;

  @BeforeEach
  void writeCoreSite() throws Exception {
    Configuration conf = S3AServer.s3e(S3AServer.endpoint());
    conf.set("fs.AbstractFileSystem.s3a.impl", "io.s3e.hadoop.S3EAbstractFileSystem");
    try (OutputStream out = Files.newOutputStream(scratch.resolve("core-site.xml"))) {
      conf.writeXml(out);
    }
  }

  private ForkedJvm.Launch launch(String mainClass) {
    return ForkedJvm.of(mainClass)
        .options("-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off")
        .options("-Dhadoop.tmp.dir=" + scratch, "-Djava.io.tmpdir=" + scratch)
        .in(scratch);
  }

  private static String said(ForkedJvm jvm, int code) throws Exception {
    try (jvm) {
      jvm.awaitEnd();
      String text = String.join("\n", jvm.rest());
      assertThat(jvm.exitCode()).as(text).isEqualTo(code);
      return text;
    }
  }

  @Test
  void javaJar() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-jar", BUNDLE)
            .redirectErrorStream(true)
            .redirectOutput(scratch.resolve("said").toFile())
            .start();
    try {
      assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    String text = Files.readString(scratch.resolve("said"));
    assertThat(process.exitValue()).as(text).isEqualTo(1);
    assertThat(text)
        .contains("S3E " + io.s3e.version.Version.text(), BUNDLE)
        .containsPattern("! Hadoop +not on the class path");
  }

  @Test
  void besideHadoop() throws Exception {
    List<String> classPath = new ArrayList<>(List.of(scratch.toString(), BUNDLE));
    classPath.addAll(BundleTest.clusterClassPath().toList());
    String text = said(launch(Doctor.class.getName()).classPath(classPath).start(BUCKET), 0);
    assertThat(text)
        .contains("in a class loader of S3E's own; its native library loads")
        .endsWith("Ready.");
  }

  /** As {@code hadoop jar} does it: the jar is unpacked, and a class loader made over that. */
  @Test
  void hadoopJar() throws Exception {
    List<String> classPath = new ArrayList<>(List.of(scratch.toString()));
    classPath.addAll(BundleTest.clusterClassPath().toList());
    ForkedJvm.Launch hadoop = launch("org.apache.hadoop.util.RunJar").classPath(classPath);
    String text = said(hadoop.start(BUNDLE, BUCKET), 0);
    assertThat(text).contains("its native library loads").endsWith("Ready.");
  }
}
