// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JobNameTest {
  private final Configuration conf = new Configuration(false);

  @ParameterizedTest
  @CsvSource({
    "nightly,nightly",
    "Nightly 2026-11-26,nightly #",
    "Nightly 2026-11-27T04:30:00,nightly #",
    "etl_20261126_0430,etl_#",
    "run 17 of load,run # of load",
    "application_1700000000000_0042,application_#",
    "'  padded  ',padded"
  })
  void digitsAndDatesAreFolded(String name, String folded) {
    assertThat(JobName.folded(name)).isEqualTo(folded);
    assertThat(JobName.folded(folded)).isEqualTo(folded);
  }

  @Test
  void theUsersNameComesBeforeTheEngines() {
    assertThat(JobName.of("", conf)).isNull();
    conf.set("mapreduce.job.name", "word count");
    assertThat(JobName.of("", conf)).isEqualTo("word count");
    conf.set("spark.app.name", "Spark");
    assertThat(JobName.of("", conf)).isEqualTo("spark");
    assertThat(JobName.of("Mine", conf)).isEqualTo("mine");
  }

  @Test
  void directoriesAreNamesOfFilesAndTellJobsApart() {
    assertThat(JobName.directory("a/../b #")).matches("[a-z0-9._-]+").doesNotContain("/");
    assertThat(JobName.directory("a/b")).isNotEqualTo(JobName.directory("a b"));
    assertThat(JobName.directory("x".repeat(5000))).hasSizeLessThan(120);
    assertThat(JobName.directory("é")).matches("[a-z0-9._-]+");
  }
}
