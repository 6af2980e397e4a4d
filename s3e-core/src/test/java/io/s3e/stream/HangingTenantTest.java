// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.stream.EngineFixture.BLOCK;
import static io.s3e.stream.EngineFixture.ETAG;
import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.GetRequest;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.Slow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two file systems of one JVM with little memory, and connections of their own. */
@Timeout(60)
@Slow
@Tag("waits")
class HangingTenantTest {
  private static final int MEMORY_BLOCKS = 8;
  private static final int READERS = 20;
  private static final Duration PATIENCE = Duration.ofSeconds(12);

  /** Well before the patience of those that hang is over. */
  private static final long WELL_SECONDS = 8;

  private static final OpenOptions RANDOM = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM);

  private final MemoryBudget budget = new MemoryBudget((long) MEMORY_BLOCKS * BLOCK);
  private final MemoryObjectClient hanging =
      new MemoryObjectClient(new ClientLimits(BLOCK, 4, 1, 0, 0, 0));
  private final MemoryObjectClient well =
      new MemoryObjectClient(new ClientLimits(BLOCK, 4, 1, 0, 0, 0));
  private final byte[] content = MemoryObjectClient.bytes(BLOCK, 7);
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void everyBufferComesBack() throws Exception {
    threads.shutdownNow();
    assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).as("readers end").isTrue();
    assertThat(budget.reserved()).as("bytes still reserved").isZero();
  }

  private S3E open(MemoryObjectClient client) throws Exception {
    return open(client, Duration.ofMillis(1));
  }

  private S3E open(MemoryObjectClient client, Duration pause) throws Exception {
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder()
            .blockBytes(BLOCK)
            .requestBytes(BLOCK)
            .stallTimeout(Duration.ofMillis(200))
            .readTimeout(PATIENCE)
            .retryBase(pause)
            .build();
    return S3E.create(config, budget, granted -> client);
  }

  private byte[] read(S3E engine, MemoryObjectClient client, String key) throws Exception {
    ObjectRef object = new ObjectRef("bucket", key);
    client.put(object, content, ETAG);
    byte[] got = new byte[BLOCK];
    try (S3EInputStream in = engine.open(object, RANDOM.withSize(BLOCK))) {
      in.readFullyAt(0, got, 0, BLOCK);
    }
    return got;
  }

  /** Begins to read all objects, until all memory is in use. */
  private List<Future<byte[]>> hangingReaders(S3E hangs) throws Exception {
    hanging.faults((request, number) -> Answer.GOOD.silentAfter(0));
    return readers(hangs, READERS);
  }

  private List<Future<byte[]>> readers(S3E engine, int count) throws Exception {
    List<Future<byte[]>> readers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String key = "hanging-" + i;
      readers.add(threads.submit(() -> read(engine, hanging, key)));
    }
    awaitTrue("all memory is in use", () -> asked() >= MEMORY_BLOCKS);
    return readers;
  }

  /** Objects of which GETs were sent: a buffer of each is in use while no run has ended. */
  private long asked() {
    return hanging.gets().stream().map(GetRequest::object).distinct().count();
  }

  @Test
  void runsThatWaitToBeSentAgainLeaveTheirMemoryToOthers() throws Exception {
    try (S3E hangs = open(hanging);
        S3E answers = open(well)) {
      List<Future<byte[]>> readers = hangingReaders(hangs);
      for (int i = 0; i < 3; i++) {
        String key = "well-" + i;
        assertThat(
                threads.submit(() -> read(answers, well, key)).get(WELL_SECONDS, TimeUnit.SECONDS))
            .isEqualTo(content);
      }
      assertThat(answers.metrics().get(Counter.FAILURES)).isZero();
      assertThat(hangs.metrics().get(Counter.FAILURES)).as("of runs that were given up").isZero();
      List<GetRequest> sent = hanging.gets();
      for (int i = 0; i < READERS; i++) {
        ObjectRef object = new ObjectRef("bucket", "hanging-" + i);
        boolean isSent = sent.stream().anyMatch(get -> get.object().equals(object));
        Future<byte[]> reader = readers.get(i);
        assertThatThrownBy(() -> reader.get(30, TimeUnit.SECONDS))
            .hasStackTraceContaining(isSent ? "stalled: no byte for" : "hanging-" + i);
      }
    }
  }

  /** Each run has to be sent again, and readers of either file system lack memory meanwhile. */
  @Test
  void fileSystemsThatGiveUpForEachOtherBothRead() throws Exception {
    for (MemoryObjectClient client : List.of(hanging, well)) {
      Map<ObjectRef, Integer> sent = new ConcurrentHashMap<>();
      client.faults(
          (request, number) ->
              sent.merge(request.object(), 1, Integer::sum) % 3 == 0
                  ? Answer.GOOD.after(20)
                  : Answer.GOOD.failingAfter(-1, Kind.NETWORK));
    }
    try (S3E one = open(hanging);
        S3E other = open(well)) {
      List<Future<byte[]>> readers = new ArrayList<>();
      for (int i = 0; i < READERS; i++) {
        String key = "failing-" + i;
        readers.add(threads.submit(() -> read(one, hanging, key)));
        readers.add(threads.submit(() -> read(other, well, key)));
      }
      for (Future<byte[]> reader : readers) {
        assertThat(reader.get(30, TimeUnit.SECONDS)).isEqualTo(content);
      }
    }
  }

  /** What a store answers is no hang: a run goes on counting it, to its end. */
  @Test
  void answersThatAreRefusedAreCountedThoughOthersLackMemory() throws Exception {
    hanging.faults((request, number) -> Answer.GOOD.failingAfter(-1, Kind.REJECTED));
    try (S3E refused = open(hanging, Duration.ofMillis(150));
        S3E answers = open(well)) {
      List<Future<byte[]>> readers = readers(refused, MEMORY_BLOCKS);
      Future<byte[]> other = threads.submit(() -> read(answers, well, "well"));
      for (Future<byte[]> reader : readers) {
        assertThatThrownBy(() -> reader.get(30, TimeUnit.SECONDS))
            .hasStackTraceContaining("8 attempts");
      }
      assertThat(hanging.gets()).as("no run was begun anew").hasSize(8 * MEMORY_BLOCKS);
      assertThat(other.get(30, TimeUnit.SECONDS)).isEqualTo(content);
    }
  }

  /** Those that gave their memory up have it again once their store answers. */
  @Test
  void readersWhoseRunsWereGivenUpReadOnceTheirStoreAnswers() throws Exception {
    try (S3E hangs = open(hanging);
        S3E answers = open(well)) {
      List<Future<byte[]>> readers = hangingReaders(hangs);
      assertThat(
              threads.submit(() -> read(answers, well, "well")).get(WELL_SECONDS, TimeUnit.SECONDS))
          .isEqualTo(content);
      hanging.faults((request, number) -> Answer.GOOD);
      for (Future<byte[]> reader : readers) {
        assertThat(reader.get(30, TimeUnit.SECONDS)).isEqualTo(content);
      }
    }
  }
}
