// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.stream.EngineFixture.BLOCK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.s3e.OpenOptions;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.client.GetRequest;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.Pause;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A store that is away for a time fails no read, however it is away. The time is that of {@code
 * -Ds3e.test.outage.seconds}.
 */
@Timeout(180)
@Slow
@Tag("waits")
class OutageTest {
  private static final int OUTAGE_SECONDS = Integer.getInteger("s3e.test.outage.seconds", 2);
  private static final int READERS = 16;
  private static final int BLOCKS = 60;

  @RegisterExtension
  final EngineFixture s3e =
      EngineFixture.copying(
          config ->
              config
                  .retryBase(S3EConfig.DEFAULTS.retryBase())
                  .readTimeout(Duration.ofSeconds(OUTAGE_SECONDS + 60L)));

  private volatile long awayUntil = System.nanoTime();

  private Answer answer(Kind kind) {
    return System.nanoTime() - awayUntil < 0
        ? Answer.GOOD.failingAfter(-1, kind)
        : Answer.GOOD.after(2);
  }

  @ParameterizedTest
  @EnumSource(
      value = Kind.class,
      names = {"NETWORK", "SERVER", "THROTTLED", "TLS", "CREDENTIALS", "CANCELLED"})
  void failsNoRead(Kind kind) throws Exception {
    byte[] content = s3e.put(BLOCKS);
    s3e.client.faults((request, number) -> answer(kind));
    try (S3EInputStream in = s3e.open()) {
      assertThat(in.read()).as("the store has answered once").isEqualTo(content[0] & 0xff);
    }
    awayUntil = System.nanoTime() + TimeUnit.SECONDS.toNanos(OUTAGE_SECONDS);
    int before = s3e.client.gets().size();
    ExecutorService threads = Executors.newFixedThreadPool(READERS);
    try {
      List<Future<Void>> reads = new ArrayList<>();
      for (int reader = 0; reader < READERS; reader++) {
        int seed = reader;
        Callable<Void> read =
            switch (reader % 3) {
              case 0 -> () -> scan(content);
              case 1 -> () -> readAtRandom(content, seed);
              default -> () -> readVectored(content);
            };
        reads.add(threads.submit(read));
      }
      Pause.of(Duration.ofNanos(awayUntil - System.nanoTime()), "the store is away");
      // Each of them at once, then less and less often.
      int sends = s3e.client.gets().size() - before;
      assertThat(sends).as("GETs while the store was away").isLessThan(READERS * 40);
      for (Future<Void> read : reads) {
        read.get(60, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private Void scan(byte[] content) throws Exception {
    try (S3EInputStream in = s3e.open()) {
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
    return null;
  }

  private Void readAtRandom(byte[] content, int seed) throws Exception {
    Random random = new Random(seed);
    try (S3EInputStream in = s3e.open(OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM))) {
      for (int i = 0; i < 20; i++) {
        int at = random.nextInt(content.length - 100_000);
        byte[] read = new byte[100_000];
        in.readFullyAt(at, read, 0, read.length);
        assertThat(read).isEqualTo(Arrays.copyOfRange(content, at, at + read.length));
      }
    }
    return null;
  }

  private Void readVectored(byte[] content) throws Exception {
    List<ByteRange> ranges = new ArrayList<>();
    for (int block = 0; block < BLOCKS; block += 10) {
      ranges.add(ByteRange.ofLength((long) block * BLOCK + 7, 3 * BLOCK));
    }
    try (S3EInputStream in = s3e.open()) {
      var results = in.readVectored(ranges, ByteBuffer::allocate, buffer -> {});
      for (int i = 0; i < ranges.size(); i++) {
        ByteRange range = ranges.get(i);
        assertThat(results.get(i).get(100, TimeUnit.SECONDS).array())
            .isEqualTo(Arrays.copyOfRange(content, (int) range.start(), (int) range.end()));
      }
    }
    return null;
  }

  @RegisterExtension
  final EngineFixture hasty =
      EngineFixture.copying(config -> config.readTimeout(Duration.ofMillis(600)));

  /** Blocks come one by one: the read is never without progress for long, but long in all. */
  @Test
  void aReadThatGetsOnDoesNotFailHoweverLongItTakes() throws Exception {
    byte[] content = hasty.put(24);
    hasty.client.faults((request, number) -> Answer.GOOD.inChunksOf(BLOCK).after(200));
    try (S3EInputStream in = hasty.open(OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM))) {
      long started = System.nanoTime();
      byte[] read = new byte[8 * BLOCK];
      in.readFully(read, 0, read.length);
      assertThat(read).isEqualTo(Arrays.copyOf(content, read.length));

      List<ByteRange> ranges = List.of(ByteRange.ofLength(8L * BLOCK, 8 * BLOCK));
      assertThat(
              in.readVectored(ranges, ByteBuffer::allocate, buffer -> {})
                  .get(0)
                  .get(20, TimeUnit.SECONDS)
                  .array())
          .isEqualTo(Arrays.copyOfRange(content, 8 * BLOCK, 16 * BLOCK));

      in.readFullyAt(16L * BLOCK, read, 0, read.length);
      assertThat(read).isEqualTo(Arrays.copyOfRange(content, 16 * BLOCK, 24 * BLOCK));
      assertThat(Duration.ofNanos(System.nanoTime() - started))
          .isGreaterThan(Duration.ofSeconds(3));
    }
  }

  /** Most of them send nothing: the gate lets one request a second through. */
  @Test
  void readsThatWereNeverSentFailAsThoseThatWereRefused() throws Exception {
    int rounds = 4;
    hasty.put(rounds * READERS);
    hasty.client.faults((request, number) -> Answer.GOOD.failingAfter(-1, Kind.THROTTLED));
    ExecutorService threads = Executors.newFixedThreadPool(READERS);
    List<RequestFailure> failures = new ArrayList<>();
    try (S3EInputStream in = hasty.open(OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM))) {
      for (int round = 0; round < rounds; round++) {
        List<Future<IOException>> reads = new ArrayList<>();
        for (int reader = 0; reader < READERS; reader++) {
          long at = (round * READERS + reader) * (long) BLOCK;
          reads.add(
              threads.submit(
                  () ->
                      catchThrowableOfType(
                          IOException.class, () -> in.readFullyAt(at, new byte[1], 0, 1))));
        }
        for (Future<IOException> read : reads) {
          failures.add((RequestFailure) read.get(30, TimeUnit.SECONDS).getCause());
        }
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(failures).allMatch(failure -> failure.kind() == Kind.THROTTLED);
    assertThat(failures).filteredOn(failure -> failure.effort().attempts() == 0).isNotEmpty();
    assertThat(failures)
        .filteredOn(failure -> failure.effort().attempts() == 0)
        .allSatisfy(
            failure ->
                assertThat(failure)
                    .hasMessageContaining("not sent, since the store refused all")
                    .hasMessageEndingWith(
                        "; 0 attempts in 0.6 s, then the read's deadline passed"));
  }

  @RegisterExtension
  final EngineFixture quiet = EngineFixture.copying(config -> config.requestBytes(2 * BLOCK));

  @RegisterExtension
  final EngineFixture throttled = EngineFixture.copying(config -> config.requestBytes(2 * BLOCK));

  /** One in twenty is refused; nothing is fetched twice and nothing in smaller pieces for it. */
  @Test
  void aThrottledScanSendsLittleMoreThanAQuietOne() throws Exception {
    int blocks = 1100;
    long seed = Seed.draw();
    Random random = new Random(seed);
    int[] refused = {0};
    throttled.client.faults(
        (request, number) -> {
          synchronized (random) {
            if (random.nextInt(20) > 0) {
              return Answer.GOOD.after(1);
            }
            refused[0]++;
            return Answer.GOOD.after(1).failingAfter(-1, Kind.THROTTLED);
          }
        });
    quiet.client.faults((request, number) -> Answer.GOOD.after(1));
    for (EngineFixture one : List.of(quiet, throttled)) {
      byte[] content = one.put(blocks);
      try (S3EInputStream in = one.open(OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL))) {
        assertThat(in.readAllBytes()).isEqualTo(content);
      }
    }
    int most = quiet.client.gets().size() + 3 * refused[0];
    assertThat(quiet.client.gets()).hasSizeGreaterThan(500);
    assertThat(throttled.client.gets().stream().map(GetRequest::range))
        .as("GETs with %d refused, seed %d", refused[0], seed)
        .hasSizeLessThanOrEqualTo(most);
  }
}
