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
    try (HostileStore store = new HostileStore();
        S3EFileIO io = store.open(new S3EFileIO(), "s3e.client", client)) {
      store.server.storm(
          0.2,
          seed,
          Fault.resetAt(0.4),
          Fault.endAt(0.7),
          Fault.resetAtOnce(),
          Fault.status(503, "SlowDown"),
          Fault.status(500, "InternalError"));
      // The GETs of one object may all have met other faults than refusals.
      for (int version = 0; version < 3 || !(hasRefused(store) || version == 100); version++) {
        readsWell(store, io, version, seed);
      }
      assertThat(hasRefused(store)).as("%s, seed %d", store.server.answers(), seed).isTrue();
    }
  }

  private static void readsWell(HostileStore store, S3EFileIO io, int version, long seed)
      throws IOException {
    Random random = new Random(seed + version);
    String key = "data/file-" + version;
    StoredContent content = store.put(key, SIZE, version);
    byte[] expected = new byte[SIZE];
    content.copy(0, expected, 0, expected.length);
    try (SeekableInputStream in = io.newInputFile(HostileStore.location(key), SIZE).newStream()) {
      for (int i = 0; i < 20; i++) {
        byte[] bytes = new byte[1 + random.nextInt(1 << 20)];
        int from = random.nextInt(SIZE - bytes.length);
        ((RangeReadable) in).readFully(from, bytes);
        assertThat(bytes)
            .as("seed " + seed + " at " + from)
            .isEqualTo(java.util.Arrays.copyOfRange(expected, from, from + bytes.length));
      }
    }
    try (SeekableInputStream in = io.newInputFile(HostileStore.location(key), SIZE).newStream()) {
      assertThat(in.readAllBytes()).as("seed " + seed).isEqualTo(expected);
    }
  }

  private static boolean hasRefused(HostileStore store) {
    return store.server.answers().toString().contains(" 50");
  }
}
