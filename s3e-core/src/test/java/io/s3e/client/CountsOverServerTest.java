// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.block.ObjectRef;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.Fault;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
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
      s3e.run(READERS, reader -> read(s3e.engine, new Random(seed + reader)));
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

  /**
   * A line for each GET, and together they are the counters of both tenants and the server's log.
   */
  @ParameterizedTest
  @EnumSource(names = {"CRT_BORROWED", "CRT_COPIED"})
  void linesAreTheLogWithFaultsHedgesAndTwoTenants(EveryClient client) throws Exception {
    long seed = Seed.draw();
    EngineOverServer s3e = new EngineOverServer(client, Duration.ofSeconds(60));
    S3E other = s3e.another();
    List<S3E> tenants = List.of(s3e.engine, other);
    try (s3e;
        other) {
      s3e.server.put(OBJECT, CONTENT);
      s3e.server.shape(Duration.ofMillis(3), 20_000_000);
      s3e.server.storm(
          0.05,
          seed,
          Fault.status(500, "InternalError"),
          Fault.resetAtOnce(),
          Fault.resetAt(0.5),
          Fault.endAt(0.3),
          Fault.delay(Duration.ofMillis(700)));
      s3e.run(READERS, reader -> read(tenants.get(reader % 2), new Random(seed + reader)));
      s3e.server.heal();
      readUntilOneIsHedged(s3e);
      other.close();
      s3e.engine.close();
      // The clients have ended; the server may still be about to read what they have sent.
      awaitTrue(
          "seed " + seed + ": the log's GETs are told, and each has its line",
          () ->
              sum(tenants, Counter.GETS) == s3e.server.gets().size()
                  && s3e.lines.sum("sent") == s3e.server.gets().size()
                  && s3e.lines.sum("held") == 0);
    }
    long log = s3e.server.gets().size();
    assertThat(sum(tenants, Counter.RETRIES)).as("seed %d", seed).isPositive();
    assertThat(sum(tenants, Counter.GETS)).isEqualTo(log);
    assertThat(s3e.lines.sum("sent")).as("seed %d", seed).isEqualTo(log);
    assertThat(s3e.lines.sum("received")).isEqualTo(sum(tenants, Counter.FETCHED_BYTES));
    assertThat(s3e.lines.sum("used")).isEqualTo(sum(tenants, Counter.USED_BYTES));
    assertThat(s3e.lines.sum("wasted")).isEqualTo(sum(tenants, Counter.WASTED_BYTES));
    assertThat(s3e.lines.last())
        .allSatisfy(
            get ->
                assertThat(get.get("used").longValue() + get.get("wasted").longValue())
                    .as("held is nothing any more: %s", get)
                    .isEqualTo(get.get("received").longValue()))
        .filteredOn(get -> get.get("reason").stringValue().equals("HEDGE"))
        .filteredOn(get -> get.get("sent").intValue() > 0)
        .hasSize(Math.toIntExact(sum(tenants, Counter.HEDGES)));
  }

  /** What AWS support asks for is known of good answers too. */
  @ParameterizedTest
  @EnumSource
  void aLineHasTheStoresNameOfTheRequest(EveryClient client) throws Exception {
    EngineOverServer s3e = new EngineOverServer(client, Duration.ofSeconds(60));
    try (s3e) {
      s3e.server.put(OBJECT, CONTENT);
      s3e.server.always(Fault.header("x-amz-request-id", "NAME OF A REQUEST"));
      try (S3EInputStream in = s3e.engine.open(OBJECT)) {
        assertThat(in.read()).isEqualTo(CONTENT[0] & 0xff);
      }
    }
    // A guess may have been cancelled before it was answered.
    assertThat(s3e.lines.last())
        .filteredOn(get -> get.get("received").longValue() > 0)
        .isNotEmpty()
        .allSatisfy(
            get -> assertThat(get.get("requestId").stringValue()).isEqualTo("NAME OF A REQUEST"));
    assertThat(s3e.lines.last())
        .allSatisfy(
            get -> assertThat(get.get("etag").stringValue()).as("%s", get).startsWith("\""));
  }

  private static long sum(List<S3E> tenants, Counter counter) {
    return tenants.stream().mapToLong(tenant -> tenant.metrics().get(counter)).sum();
  }

  /**
   * A reader waits for a GET that is never answered. What has failed before may hold a hedge up,
   * and so may GETs that took long: good ones are read before, until there is one.
   */
  private static void readUntilOneIsHedged(EngineOverServer s3e) throws Exception {
    OpenOptions options =
        OpenOptions.DEFAULTS.withSize(CONTENT.length).withPolicy(ReadPolicy.RANDOM);
    for (int i = 0; s3e.engine.metrics().get(Counter.HEDGES) == 0; i++) {
      ObjectRef object = new ObjectRef("bucket", "hanging-" + i);
      s3e.server.put(object, CONTENT);
      try (S3EInputStream in = s3e.engine.open(object, options)) {
        for (int block = 58; block > 0; block -= 2) {
          readAt(in, block);
        }
        s3e.server.next(Fault.stallAtOnce());
        readAt(in, 0);
      }
    }
  }

  private static void readAt(S3EInputStream in, int block) throws Exception {
    int at = block * EngineOverServer.BLOCK;
    byte[] some = new byte[1000];
    in.readFullyAt(at, some, 0, some.length);
    assertThat(some).isEqualTo(Arrays.copyOfRange(CONTENT, at, at + some.length));
  }

  private static void read(S3E engine, Random random) throws Exception {
    for (int stream = 0; stream < STREAMS; stream++) {
      OpenOptions options =
          OpenOptions.DEFAULTS
              .withSize(CONTENT.length)
              .withPolicy(random.nextBoolean() ? ReadPolicy.SEQUENTIAL : ReadPolicy.ADAPTIVE);
      try (S3EInputStream in = engine.open(OBJECT, options)) {
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
