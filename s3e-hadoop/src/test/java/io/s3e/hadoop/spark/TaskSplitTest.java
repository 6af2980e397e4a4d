// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.ForkedJvm;
import io.s3e.testing.Slow;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A Parquet file is read ahead to the end of the split that Spark tells when columns are read
 * first, after the file was opened; Spark's own classes are stood in for.
 */
@Timeout(300)
@Slow
class TaskSplitTest {
  @TempDir Path classes;

  @Test
  void itIsReadAheadToItsEnd() throws Exception {
    try (ForkedJvm jvm = SparkStandIn.start(TaskSplitReader.class, classes)) {
      assertThat(jvm.await("OTHER FILE ")).as("one row group ahead").isEqualTo("2 3");
      assertThat(jvm.await("THIS FILE ")).as("the split").isEqualTo("2 3 4 5");
      assertThat(jvm.await("GETS BY")).isEqualTo("[stage 7, task 42]");
    }
  }
}
