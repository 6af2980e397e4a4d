// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.block.ObjectRef;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * One GET in six meets a fault of the transport or a refusal that passes, drawn by the seed, the
 * object and the range: every read brings the right bytes, and none fails.
 */
@Timeout(180)
@Slow
class RandomFaultsTest {
  /** For each client; 3,000 in all each night. */
  private static final int FAULTS =
      Integer.getInteger("s3e.test.random.faults", 1_200) / EveryClient.values().length;

  private static final double SHARE = 1 / 6.0;

  /** Two of each kind. */
  private static final int READERS = 6;

  private static final byte[] CONTENT =
      MemoryObjectClient.bytes(11 * EngineOverServer.BLOCK + 4321, 7);

  private final AtomicInteger faults = new AtomicInteger();
  private final AtomicInteger objects = new AtomicInteger();
  private final Map<String, Integer> repeats = new ConcurrentHashMap<>();

  @ParameterizedTest
  @EnumSource(EveryClient.class)
  void noReadFails(EveryClient client) throws Exception {
    long seed = Seed.ofBuilds();
    try (EngineOverServer s3e = new EngineOverServer(client, Duration.ofSeconds(60))) {
      s3e.server.decide(request -> fault(request, seed));
      s3e.run(READERS, reader -> read(s3e, reader, seed));
    }
    assertThat(faults).hasValueGreaterThanOrEqualTo(FAULTS);
  }

  private void read(EngineOverServer s3e, int reader, long seed) throws Exception {
    ReaderKind kind = ReaderKind.values()[reader % ReaderKind.values().length];
    while (faults.get() < FAULTS) {
      int number = objects.incrementAndGet();
      ObjectRef object = new ObjectRef("bucket", "object-" + number);
      String etag = s3e.server.put(object, CONTENT);
      Random random = new Random(seed + number);
      OpenOptions options =
          random.nextBoolean()
              ? OpenOptions.DEFAULTS
              : OpenOptions.DEFAULTS.withSize(CONTENT.length).withVersion(etag, null);
      if (kind != ReaderKind.SEQUENTIAL) {
        options = options.withPolicy(ReadPolicy.RANDOM);
      }
      try (S3EInputStream in = s3e.engine.open(object, options)) {
        kind.read(in, CONTENT, random);
      } catch (Exception | AssertionError e) {
        throw new AssertionError(kind + " of object " + number + ", seed " + seed, e);
      }
    }
  }

  /** The same for the same seed, object, range and repetition, in whatever order they come. */
  private Fault fault(HostileS3Server.Request request, long seed) {
    String what = request.target() + " " + request.header("Range");
    int repeat = repeats.merge(what, 1, Integer::sum);
    SplittableRandom random = new SplittableRandom(seed ^ 31L * what.hashCode() + repeat);
    if (random.nextDouble() >= SHARE) {
      return Fault.none();
    }
    faults.incrementAndGet();
    int bytes = random.nextInt(2 * EngineOverServer.BLOCK);
    return switch (random.nextInt(100)) {
      case 0 -> Fault.stallAfter(bytes);
      case 1 -> Fault.stallAtOnce();
      case 2, 3, 4, 5, 6 -> Fault.delay(Duration.ofMillis(random.nextInt(100)));
      case 7, 8, 9 -> Fault.trickle(EngineOverServer.BLOCK / 2, Duration.ofMillis(5));
      default ->
          switch (random.nextInt(10)) {
            case 0 -> Fault.resetAtOnce();
            case 1 -> Fault.endAtOnce();
            case 2, 3 -> Fault.resetAfter(bytes);
            case 4, 5 -> Fault.endAfter(bytes);
            case 6 -> Fault.status(500, "InternalError");
            case 7 -> Fault.status(503, "SlowDown");
            case 8 -> Fault.status(502, "BadGateway");
            default -> Fault.status(400, "RequestTimeout");
          };
    };
  }
}
