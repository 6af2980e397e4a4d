// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.ForkedJvm;
import io.s3e.testing.Slow;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A read that waits ends when Spark kills its task; Spark's own classes are stood in for. */
@Timeout(300)
@Slow
class KilledTaskTest {
  @TempDir Path classes;

  @Test
  void itsReadEndsAndNamesTheTask() throws Exception {
    try (ForkedJvm jvm = SparkStandIn.start(KilledTaskReader.class, classes)) {
      jvm.await("KILLED");
      assertThat(jvm.await("FAILED "))
          .contains("InterruptedIOException")
          .contains("Spark has killed task 42 of stage 7")
          .contains("file.csv");
    }
  }
}
