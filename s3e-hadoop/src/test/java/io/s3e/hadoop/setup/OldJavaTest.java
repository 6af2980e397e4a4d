// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.s3e.hadoop.doctor.Doctor;
import io.s3e.testing.ForkedJvm;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a Java that is too old loads of S3E, and what it is told. */
@Tag("source-tree")
class OldJavaTest {
  private static final int JAVA_8 = 52;

  @ParameterizedTest
  @ValueSource(classes = {Doctor.class, OldJava.class})
  void itsClassFilesAreOfJava8(Class<?> type) throws IOException {
    try (InputStream in = type.getResourceAsStream(type.getSimpleName() + ".class");
        DataInputStream file = new DataInputStream(in)) {
      assertThat(file.readInt()).isEqualTo(0xCAFEBABE);
      assertThat(file.readUnsignedShort()).as("minor version").isZero();
      assertThat(file.readUnsignedShort()).isEqualTo(JAVA_8);
    }
  }

  @ParameterizedTest
  @CsvSource({"1.8, 8", "9, 9", "11, 11", "16, 16"})
  void anOlderOneIsToldByItsVersionAndHome(String specification, String version) {
    assertThat(OldJava.problem(specification, "/home/of/it"))
        .isEqualTo("S3E needs Java 17; this is Java " + version + " (/home/of/it)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"17", "21", "25", "100"})
  void aNewOneIsNot(String specification) {
    assertThat(OldJava.problem(specification, "/home/of/it")).isNull();
    assertThat(OldJava.problem()).isNull();
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 11})
  void theDoctorSaysSoInOneLine(int version) throws Exception {
    Path home = home(version);
    assumeTrue(home != null, "no Java " + version + " is found by .ci/java-home");
    String classes = OldJava.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    try (ForkedJvm jvm =
        ForkedJvm.of(Doctor.class.getName()).javaHome(home).classPath(List.of(classes)).start()) {
      jvm.awaitEnd();
      String line = "S3E needs Java 17; this is Java " + version + " (";
      List<String> said = jvm.rest();
      assertThat(said).hasSize(1);
      assertThat(said.get(0)).startsWith(line).endsWith(")");
      assertThat(jvm.exitCode()).isEqualTo(1);
    }
  }

  private static Path home(int version) throws Exception {
    Process process =
        new ProcessBuilder("bash", "../.ci/java-home", Integer.toString(version))
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    String home = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return process.exitValue() == 0 ? Path.of(home.strip()) : null;
  }
}
