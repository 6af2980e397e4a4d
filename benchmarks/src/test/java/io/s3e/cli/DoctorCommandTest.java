// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.cli.CommandRig.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The doctor as a command; what it says is tested where it is. */
class DoctorCommandTest {
  @TempDir Path scratch;

  @Test
  void readyByASparkConfiguration() throws Exception {
    Path conf =
        Files.writeString(
            scratch.resolve("spark-defaults.conf"),
            "spark.hadoop.fs.s3a.impl io.s3e.hadoop.S3EFileSystem\n"
                + "spark.hadoop.fs.AbstractFileSystem.s3a.impl"
                + " io.s3e.hadoop.S3EAbstractFileSystem\n"
                + "spark.hadoop.fs.s3a.endpoint.region us-east-1\n"
                + "spark.hadoop.fs.s3a.s3e.cache.mode memory\n");
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
  void refusesWhatItDoesNotKnow() {
    Outcome outcome = CommandRig.runPlainly("doctor", "bucket/key");
    assertThat(outcome.code()).isEqualTo(2);
    assertThat(outcome.err()).contains("\"bucket/key\": expected s3a://BUCKET");
  }
}
