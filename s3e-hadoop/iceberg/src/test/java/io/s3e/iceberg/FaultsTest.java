// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.Fault;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import io.s3e.testing.StoredContent;
import java.io.IOException;
import java.util.Random;
import org.apache.iceberg.io.RangeReadable;
import org.apache.iceberg.io.SeekableInputStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is read from a store that fails every fifth GET is what the store has. */
@Slow
class FaultsTest {
  private static final int SIZE = 24 << 20;

  @ParameterizedTest
  @ValueSource(strings = {"auto", "crt", "s3fileio"})
  void bytesAreRightWhateverFails(String client) throws IOException {
    long seed = Seed.draw();
    Random random = new Random(seed);
    try (HostileStore store = new HostileStore();
        S3EFileIO io = store.open(new S3EFileIO(), "s3e.client", client)) {
      StoredContent content = store.put("data/file", SIZE, 11);
      byte[] expected = new byte[SIZE];
      content.copy(0, expected, 0, expected.length);
      store.server.storm(
          0.2,
          seed,
          Fault.resetAt(0.4),
          Fault.endAt(0.7),
          Fault.resetAtOnce(),
          Fault.status(503, "SlowDown"),
          Fault.status(500, "InternalError"));
      try (SeekableInputStream in =
          io.newInputFile(HostileStore.location("data/file"), SIZE).newStream()) {
        assertThat(in.readAllBytes()).as("seed " + seed).isEqualTo(expected);
      }
      try (SeekableInputStream in =
          io.newInputFile(HostileStore.location("data/file"), SIZE).newStream()) {
        // At least until the store has refused one; few GETs may all have met other faults.
        for (int i = 0; i < 30 || !(hasRefused(store) || i == 1_000); i++) {
          byte[] bytes = new byte[1 + random.nextInt(1 << 20)];
          int from = random.nextInt(SIZE - bytes.length);
          ((RangeReadable) in).readFully(from, bytes);
          assertThat(bytes)
              .as("seed " + seed + " at " + from)
              .isEqualTo(java.util.Arrays.copyOfRange(expected, from, from + bytes.length));
        }
      }
      assertThat(hasRefused(store)).as("%s, seed %d", store.server.answers(), seed).isTrue();
    }
  }

  private static boolean hasRefused(HostileStore store) {
    return store.server.answers().toString().contains(" 50");
  }
}
