// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.block.ObjectRef;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * GETs that went out are those of the server's log, whatever was given up before it was sent; and
 * bytes that came were used or wasted.
 */
@Timeout(300)
@Slow
class CountsOverServerTest {
  private static final int READERS = 6;
  private static final int STREAMS = 15;

  /** Of requests that found no connection. */
  private static final int MOST_GIVEN_UP = 3;

  private static final ObjectRef OBJECT = new ObjectRef("bucket", "counted");
  private static final byte[] CONTENT =
      MemoryObjectClient.bytes(60 * EngineOverServer.BLOCK + 4321, 7);

  @ParameterizedTest
  @EnumSource
  void whatIsToldIsTheLog(EveryClient client) throws Exception {
    long seed = Seed.draw();
    try (EngineOverServer s3e = new EngineOverServer(client, Duration.ofSeconds(60))) {
      s3e.server.put(OBJECT, CONTENT);
      s3e.server.shape(Duration.ofMillis(3), 20_000_000);
      s3e.run(READERS, reader -> read(s3e, new Random(seed + reader)));
      EngineMetrics metrics = s3e.engine.metrics();
      // A GET that was cancelled ends a moment later here, and is read a moment later there.
      try {
        awaitTrue(
            "GETs and bytes are told",
            () ->
                isTold(client, metrics, s3e.server.gets().size())
                    && metrics.get(Counter.FETCHED_BYTES)
                        == metrics.get(Counter.USED_BYTES)
                            + metrics.get(Counter.WASTED_BYTES)
                            + metrics.get(Counter.HELD_BYTES));
      } catch (AssertionError e) {
        int log = s3e.server.gets().size();
        throw new AssertionError(
            "seed " + seed + ", GETs in the log " + log + ": " + metrics.snapshot(), e);
      }
      assertThat(metrics.get(Counter.GETS))
          .isGreaterThanOrEqualTo(metrics.get(Counter.PREFETCH_GETS));
    }
  }

  /**
   * The SDK does not tell of a request that found no connection: it failed, and was sent again, or
   * had been given up meanwhile.
   */
  private static boolean isTold(EveryClient client, EngineMetrics metrics, int log) {
    long more = metrics.get(Counter.GETS) - log;
    return client.isCrt()
        ? more == 0
        : more >= 0 && more <= metrics.get(Counter.RETRIES) + MOST_GIVEN_UP;
  }

  private static void read(EngineOverServer s3e, Random random) throws Exception {
    for (int stream = 0; stream < STREAMS; stream++) {
      OpenOptions options =
          OpenOptions.DEFAULTS
              .withSize(CONTENT.length)
              .withPolicy(random.nextBoolean() ? ReadPolicy.SEQUENTIAL : ReadPolicy.ADAPTIVE);
      try (S3EInputStream in = s3e.engine.open(OBJECT, options)) {
        for (int step = random.nextInt(6); step > 0; step--) {
          switch (random.nextInt(4)) {
            case 0 -> in.seek(random.nextInt(CONTENT.length));
            case 1 -> in.unbuffer();
            default -> {
              int at = Math.toIntExact(in.position());
              byte[] some = in.readNBytes(random.nextInt(1, 200_000));
              assertThat(some).isEqualTo(Arrays.copyOfRange(CONTENT, at, at + some.length));
            }
          }
        }
      }
    }
  }
}
