// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.stream.EngineFixture.BLOCK;
import static io.s3e.stream.EngineFixture.ETAG;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.block.ObjectRef;
import io.s3e.client.GetRequest;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.Pause;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A scan runs ahead as far as in a fresh engine, whatever other streams have done before. */
@Timeout(120)
@Slow
@Tag("waits")
class SharesTest {
  /** Idle streams have dropped out of the count after two epochs of a second. */
  private static final long FORGOTTEN_MILLIS = 2_100;

  private static final OpenOptions SEQUENTIAL =
      OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL);

  private static final ObjectRef SCANNED = new ObjectRef("bucket", "scanned");

  /** Large enough to be prefetched, small enough for 40 of them to fit into memory. */
  private static final int OTHER_BLOCKS = 17;

  @RegisterExtension final EngineFixture s3e = EngineFixture.copying();

  private S3EInputStream openOther(int number) throws IOException {
    ObjectRef object = new ObjectRef("bucket", "other-" + number);
    s3e.client.put(object, new byte[OTHER_BLOCKS * BLOCK], ETAG);
    return s3e.engine.open(object, SEQUENTIAL);
  }

  /** Bytes that the first read of a scan asks for. */
  private long firstWindow() throws IOException {
    s3e.client.put(SCANNED, MemoryObjectClient.bytes(400 * BLOCK, 1), ETAG);
    // Late enough for all of the window to be asked for: a reader whose block is there goes on.
    s3e.client.faults((request, number) -> Answer.GOOD.after(500));
    try (S3EInputStream in = s3e.engine.open(SCANNED, SEQUENTIAL)) {
      in.read();
      return s3e.client.gets().stream()
          .filter(get -> get.object().equals(SCANNED))
          .map(GetRequest::range)
          // A GET that is late may be sent twice.
          .distinct()
          .mapToLong(range -> range.length())
          .sum();
    }
  }

  private void requireWholeWindow() throws IOException {
    // The initial window of eight requests, and the block that was read.
    assertThat(firstWindow()).isEqualTo((8 * 8 + 1) * (long) BLOCK);
  }

  @Test
  void streamsThatAreOpenAndIdleTakeNoShare() throws Exception {
    List<S3EInputStream> idle = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      S3EInputStream in = openOther(i);
      in.read();
      idle.add(in);
    }
    Pause.millis(FORGOTTEN_MILLIS, "until they are forgotten");
    requireWholeWindow();
    for (S3EInputStream in : idle) {
      in.close();
    }
  }

  @Test
  void streamsThatWereClosedDuringReadsTakeNoShare() throws Exception {
    for (int i = 0; i < 1_000; i++) {
      S3EInputStream in = openOther(i % 4);
      Thread reader =
          new Thread(
              () -> {
                try {
                  in.readAllBytes();
                } catch (IOException e) {
                  assertThat(in.isOpen()).isFalse();
                }
              });
      reader.start();
      for (int spin = 0; spin < i % 50 * 100; spin++) {
        Thread.onSpinWait();
      }
      in.close();
      reader.join(20_000);
      assertThat(reader.isAlive()).isFalse();
    }
    Pause.millis(FORGOTTEN_MILLIS, "until they are forgotten");
    requireWholeWindow();
  }

  @Test
  void randomReadsBeforeAScanDoNotNarrowItsWindow() throws Exception {
    s3e.put(400);
    try (S3EInputStream in = s3e.open(OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM))) {
      byte[] target = new byte[4 << 10];
      for (int i = 0; i < 150; i++) {
        in.readFullyAt(i * 97 % 400 * (long) BLOCK, target, 0, target.length);
        // Small bodies, few in an interval: as if the link could carry no more.
        Pause.millis(4_600 / 150, "the reader's pace");
      }
    }
    requireWholeWindow();
  }
}
