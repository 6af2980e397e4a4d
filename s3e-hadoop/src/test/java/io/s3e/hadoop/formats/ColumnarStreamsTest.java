// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.formats;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.testing.Fault;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@value ColumnarStreamsReader#STREAMS} streams of two file systems read columnar objects at a
 * budget of 64 MiB, from a store that breaks one answer in thirty: every byte is right, the budget
 * holds, and nothing is left. {@value #SECONDS} says how long.
 */
@Tag("source-tree")
@Slow
@Tag("any-hadoop")
class ColumnarStreamsTest {
  private static final String SECONDS = "s3e.test.columnar.seconds";
  private static final int SECONDS_OF_A_BUILD = 8;

  private static final Fault[] BROKEN = {
    Fault.status(503, "SlowDown"),
    Fault.resetAtOnce(),
    Fault.resetAt(0.5),
    Fault.endAt(0.9),
    Fault.shifted(1),
    Fault.delay(Duration.ofMillis(100)),
    Fault.trickle(32 << 10, Duration.ofMillis(5)),
    Fault.stallAfter(50_000)
  };

  @TempDir private Path temporary;

  @Test
  @Timeout(value = 2, unit = TimeUnit.HOURS)
  void allStreamsAreRightWithinTheBudget() throws Exception {
    int seconds = Integer.getInteger(SECONDS, SECONDS_OF_A_BUILD);
    long seed = Seed.draw();
    try (HostileS3Server server = HostileS3Server.start()) {
      for (int number = 0; number < ColumnarStreamsReader.OBJECTS; number++) {
        byte[] content = ColumnarStreamsReader.object(number).content();
        for (String bucket : ColumnarStreamsReader.BUCKETS) {
          server.put(new ObjectRef(bucket, ColumnarStreamsReader.key(number)), content);
        }
      }
      server.storm(1 / 30.0, seed, BROKEN);
      try (ForkedJvm reader =
          ForkedJvm.of(ColumnarStreamsReader.class.getName())
              .unverified()
              .options("-Xmx384m", "-XX:MaxDirectMemorySize=256m")
              .options("-Djava.io.tmpdir=" + temporary)
              .start(
                  server.endpoint().toString(),
                  String.valueOf(seconds),
                  String.valueOf(seed),
                  temporary.toString())) {
        List<String> before = new ArrayList<>();
        Duration patience = Duration.ofSeconds(seconds + 180L);
        long peak = Long.parseLong(reader.await(ColumnarStreamsReader.PEAK, before, patience));
        assertThat(before)
            .as("errors")
            .noneMatch(line -> line.startsWith(ColumnarStreamsReader.FAILED));
        assertThat(peak)
            .as("memory in use")
            .isPositive()
            .isLessThanOrEqualTo(ColumnarStreamsReader.BUDGET_BYTES);
        String files = reader.await(ColumnarStreamsReader.FILES);
        assertThat(reader.await(ColumnarStreamsReader.UNREAD)).as("unread bytes").isEqualTo("0");
        String asked = reader.await(ColumnarStreamsReader.ASKED);
        assertThat(Long.parseLong(asked)).as("bytes asked for ahead").isPositive();
        assertThat(reader.await(ColumnarStreamsReader.RESERVED))
            .as("reserved bytes")
            .isEqualTo("0");
        reader.await(ColumnarStreamsReader.END);
        reader.awaitEnd();
        assertThat(reader.exitCode()).isZero();
        System.out.println(
            files
                + " files, "
                + asked
                + " bytes asked for ahead, at most "
                + peak
                + " in use, "
                + server.answers());
      }
      awaitTrue("all connections are closed", () -> server.openConnections() == 0);
    }
  }
}
