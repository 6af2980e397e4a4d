// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.cli.CommandRig.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The doctor as a command; what it says is tested where it is. */
class DoctorCommandTest {
  @TempDir Path scratch;

  /** A configuration with which S3E is ready. */
  private Path ready() throws IOException {
    return Files.writeString(
        scratch.resolve("spark-defaults.conf"),
        "spark.hadoop.fs.s3a.impl io.s3e.hadoop.S3EFileSystem\n"
            + "spark.hadoop.fs.AbstractFileSystem.s3a.impl"
            + " io.s3e.hadoop.S3EAbstractFileSystem\n"
            + "spark.hadoop.fs.s3a.endpoint.region us-east-1\n"
            + "spark.hadoop.fs.s3a.s3e.cache.mode memory\n");
  }

  @Test
  void readyByASparkConfiguration() throws Exception {
    Path conf = ready();
    Outcome outcome = CommandRig.runPlainly("doctor", "--json", "--conf", conf.toString());
    assertThat(outcome.code()).as("%s", outcome.text()).isZero();
    assertThat(outcome.json().get("ready").booleanValue()).isTrue();
  }

  @Test
  void saysWhatIsToBeDoneWithoutOne() {
    Outcome outcome = CommandRig.runPlainly("doctor");
    assertThat(outcome.code()).isEqualTo(1);
    assertThat(outcome.text()).contains("Set fs.s3a.impl to io.s3e.hadoop.S3EFileSystem");
  }

  @Test
  void aFullDiskBehindStandardOutputIsAFailure() throws Exception {
    Path conf = ready();
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int value) throws IOException {
            throw new IOException("No space left on device");
          }
        };
    Outcome outcome =
        CommandRig.runPlainly(
            InputStream.nullInputStream(), full, "doctor", "--conf", conf.toString());
    assertThat(outcome.code()).isEqualTo(1);
    assertThat(outcome.err()).hasLineCount(1).contains("standard output", "No space left");
  }

  @Test
  void refusesWhatItDoesNotKnow() {
    Outcome outcome = CommandRig.runPlainly("doctor", "bucket/key");
    assertThat(outcome.code()).isEqualTo(2);
    assertThat(outcome.err()).contains("\"bucket/key\": expected s3a://BUCKET");
  }
}
