// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the events of a log say of an application. */
class ApplicationReaderTest {
  private static final String SPLIT = "spark.sql.files.maxPartitionBytes";
  private final ApplicationReader reader = new ApplicationReader();

  private void jobStarted(int job, int stage, Map<String, Object> properties) {
    accept(
        Map.of(
            "Event",
            "SparkListenerJobStart",
            "Job ID",
            job,
            "Stage IDs",
            List.of(stage),
            "Properties",
            properties));
  }

  private void accept(Map<String, Object> event) {
    reader.accept(new ObjectMapper().valueToTree(event));
  }

  @Test
  void theSplitOfAJobIsThatOfItsSession() {
    accept(
        Map.of(
            "Event", "SparkListenerEnvironmentUpdate", "Spark Properties", Map.of(SPLIT, "64m")));
    jobStarted(1, 10, Map.of(SPLIT, "1g"));
    jobStarted(2, 20, Map.of());
    jobStarted(3, 30, Map.of(SPLIT, "what nobody understands"));
    Application application = reader.application();
    assertThat(application.splitBytes(application.stage(10, 0))).isEqualTo(1L << 30);
    assertThat(application.splitBytes(application.stage(20, 0))).isEqualTo(64L << 20);
    assertThat(application.splitBytes(application.stage(30, 0))).isEqualTo(64L << 20);
    assertThat(application.splitBytes(application.stage(40, 0)))
        .as("no job's")
        .isEqualTo(64L << 20);
  }
}
