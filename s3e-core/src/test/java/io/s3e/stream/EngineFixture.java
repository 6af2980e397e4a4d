// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.GetRequest;
import io.s3e.client.ResponseHead;
import io.s3e.fetch.GetLedger;
import io.s3e.fetch.GetRecord;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.testing.GetLines;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.MemoryObjectClient.Answer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * One engine over objects in memory, and the check after each test that everything was given back.
 */
final class EngineFixture implements AfterEachCallback {
  static final int BLOCK = 64 << 10;
  static final int REQUEST = 8 * BLOCK;
  static final ObjectRef OBJECT = new ObjectRef("bucket", "key");
  static final String ETAG = "\"v1\"";

  final GetLines lines = new GetLines();
  final MemoryObjectClient client;
  final MemoryBudget budget;
  final S3E engine;
  byte[] content = new byte[0];

  private EngineFixture(
      ClientLimits limits, long budgetBlocks, UnaryOperator<S3EConfig.Builder> changes) {
    client = new MemoryObjectClient(limits);
    budget = new MemoryBudget(budgetBlocks * BLOCK);
    S3EConfig.Builder config =
        S3EConfig.DEFAULTS.toBuilder()
            .blockBytes(BLOCK)
            .requestBytes(REQUEST)
            .readTimeout(Duration.ofSeconds(20))
            .retryBase(Duration.ofMillis(1))
            .explain(lines.config());
    engine = S3E.create(changes.apply(config).build(), budget, granted -> client);
  }

  /** A client that copies, with room for everything. */
  static EngineFixture copying() {
    return copying(changes -> changes);
  }

  static EngineFixture copying(UnaryOperator<S3EConfig.Builder> changes) {
    return new EngineFixture(ClientLimits.copying(REQUEST, 32, 0), 1024, changes);
  }

  /**
   * Clients that copy and lend, with few places, a few more for GETs that hang, and long stalls.
   */
  static EngineFixture crowded() {
    return new EngineFixture(
        new ClientLimits(BLOCK, 8, 2, REQUEST, 8, 8L * REQUEST),
        256,
        config -> config.stallTimeout(Duration.ofMinutes(5)).readTimeout(Duration.ofMinutes(5)));
  }

  /**
   * A client that carries one GET, which is waited for: however long it takes, it is neither sent a
   * second time nor given up.
   */
  static EngineFixture ofOneGet() {
    return new EngineFixture(
        ClientLimits.copying(REQUEST, 1, 0),
        1024,
        config -> config.stallTimeout(Duration.ofMinutes(5)).readTimeout(Duration.ofMinutes(5)));
  }

  /** A client that lends, with few slots. */
  static EngineFixture lending() {
    return new EngineFixture(
        new ClientLimits(BLOCK, 8, 0, REQUEST, 8, 8L * REQUEST), 256, changes -> changes);
  }

  byte[] put(int blocks) {
    return putBytes(blocks * BLOCK);
  }

  byte[] putBytes(int bytes) {
    content = MemoryObjectClient.bytes(bytes, 42);
    client.put(OBJECT, content, ETAG);
    return content;
  }

  /** The good answer under an encoding of its own. */
  Answer encoded(GetRequest request, String encoding) {
    long start = request.range().start();
    long end = Math.min(content.length, request.range().end());
    String range = "bytes " + start + "-" + (end - 1) + "/" + content.length;
    return Answer.GOOD.withHead(new ResponseHead(206, range, end - start, ETAG, null, encoding));
  }

  S3EInputStream open() throws IOException {
    return open(OpenOptions.DEFAULTS);
  }

  S3EInputStream open(OpenOptions options) throws IOException {
    return engine.open(OBJECT, options);
  }

  private List<GetRecord> gets() {
    return engine.gets().latest(null, GetLedger.CAPACITY);
  }

  private void requireThatGetsAddUp(EngineMetrics metrics) {
    List<GetRecord> gets = gets();
    assertThat(gets)
        .allSatisfy(get -> assertThat(get.used() + get.wasted()).isEqualTo(get.received()));
    if (gets.size() < GetLedger.CAPACITY) {
      assertThat(gets.stream().mapToLong(GetRecord::timesSent).sum())
          .as("GETs by their records")
          .isEqualTo(metrics.get(Counter.GETS));
      assertThat(gets.stream().mapToLong(GetRecord::received).sum())
          .as("bytes by the records of GETs")
          .isEqualTo(metrics.get(Counter.FETCHED_BYTES));
      assertThat(gets.stream().mapToLong(GetRecord::used).sum())
          .as("used bytes by the records of GETs")
          .isEqualTo(metrics.get(Counter.USED_BYTES));
    }
    requireThatLinesAddUp(metrics, gets);
  }

  /** Lines are handed over once a GET is settled: each is what the record says at the end. */
  private void requireThatLinesAddUp(EngineMetrics metrics, List<GetRecord> gets) {
    assertThat(lines.isClosed()).as("the engine has ended").isTrue();
    assertThat(lines.all()).as("lines").containsAll(gets.stream().map(GetRecord::json).toList());
    assertThat(lines.sum("sent")).as("GETs by lines").isEqualTo(metrics.get(Counter.GETS));
    assertThat(lines.sum("received")).isEqualTo(metrics.get(Counter.FETCHED_BYTES));
    assertThat(lines.sum("used")).isEqualTo(metrics.get(Counter.USED_BYTES));
    assertThat(lines.sum("wasted")).isEqualTo(metrics.get(Counter.WASTED_BYTES));
    assertThat(lines.sum("held")).isZero();
  }

  @Override
  public void afterEach(ExtensionContext context) throws InterruptedException {
    engine.close();
    EngineMetrics metrics = engine.metrics();
    // What ends runs on threads of the client and of the timer too, which may be at it still.
    awaitTrue(
        "all that came is used or wasted",
        () ->
            metrics.get(Counter.USED_BYTES) + metrics.get(Counter.WASTED_BYTES)
                == metrics.get(Counter.FETCHED_BYTES));
    awaitTrue("all GETs have ended", () -> gets().stream().allMatch(GetRecord::hasEnded));
    assertThat(metrics.get(Counter.HELD_BYTES)).as("bytes still held").isZero();
    requireThatGetsAddUp(metrics);
    assertThat(budget.reserved()).as("bytes still reserved").isZero();
    assertThat(client.lentOut()).as("lent buffers still out").isZero();
    assertThat(client.doubleCloses()).as("lent buffers closed twice").isZero();
  }
}
