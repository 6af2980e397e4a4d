// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.stream.EngineFixture.BLOCK;
import static io.s3e.stream.EngineFixture.OBJECT;
import static io.s3e.testing.Eventually.awaitTrue;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.RequestFailure;
import io.s3e.fetch.ExplainConfig;
import io.s3e.fetch.GetLedger;
import io.s3e.fetch.GetRecord;
import io.s3e.fetch.GetSink;
import io.s3e.memory.Purpose;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.GuessKind;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.Slow;
import io.s3e.testing.Unsayable;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What is known of each GET: why it was sent, and what became of its bytes. That records of GETs
 * add up to the counters is required after each test of {@link EngineFixture}.
 */
@Timeout(60)
class LatestGetsTest {
  private static final OpenOptions RANDOM = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM);
  private static final OpenOptions SCAN = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL);

  @RegisterExtension final EngineFixture s3e = EngineFixture.copying();

  @RegisterExtension final EngineFixture lending = EngineFixture.lending();

  private static List<GetRecord> gets(EngineFixture fixture) {
    return fixture.engine.gets().latest(OBJECT, GetLedger.CAPACITY);
  }

  /** The last word of a client may come after the bytes. */
  private static List<GetRecord> endedGets(EngineFixture fixture) throws InterruptedException {
    awaitTrue("all have ended", () -> gets(fixture).stream().allMatch(GetRecord::hasEnded));
    return gets(fixture);
  }

  @Test
  void aReadAndWhatIsAheadOfItAreToldApart() throws Exception {
    for (EngineFixture fixture : List.of(s3e, lending)) {
      byte[] content = fixture.put(200);
      try (S3EInputStream in = fixture.open(SCAN)) {
        assertThat(in.readAllBytes()).isEqualTo(content);
      }

      List<GetRecord> gets = endedGets(fixture);
      assertThat(gets.get(gets.size() - 1).reason()).isEqualTo(Purpose.DEMAND);
      assertThat(gets).extracting(GetRecord::reason).contains(GuessKind.WINDOW);
      assertThat(gets).allMatch(get -> get.state() == GetRecord.State.DONE);
      assertThat(gets.stream().mapToLong(GetRecord::used).sum()).isEqualTo(content.length);
    }
  }

  @Test
  void bytesThatNobodyReadsAreWastedByTheGetsThatBroughtThem() throws Exception {
    s3e.put(200);
    try (S3EInputStream in = s3e.open(SCAN)) {
      in.readNBytes(3 * BLOCK);
      awaitTrue(
          "guesses have come",
          () ->
              gets(s3e).stream()
                  .anyMatch(get -> get.reason() == GuessKind.WINDOW && get.received() > 0));
    }
    s3e.engine.close();

    assertThat(gets(s3e).stream().mapToLong(GetRecord::used).sum()).isEqualTo(3 * BLOCK);
    assertThat(gets(s3e))
        .filteredOn(get -> get.reason() == GuessKind.WINDOW)
        .allSatisfy(get -> assertThat(get.used() + get.wasted()).isEqualTo(get.received()))
        .anySatisfy(get -> assertThat(get.wasted()).isPositive());
  }

  @Test
  void anErrorTellsOfTheLatestGetsOfItsObject() throws Exception {
    s3e.put(8);
    s3e.client.put(new ObjectRef("bucket", "other"), s3e.content, "\"v2\"");
    try (S3EInputStream other = s3e.engine.open(new ObjectRef("bucket", "other"), RANDOM)) {
      other.readFullyAt(0, new byte[100], 0, 100);
    }
    s3e.client.faults(
        (request, number) -> Answer.GOOD.failingAfter(-1, RequestFailure.Kind.FORBIDDEN));

    try (S3EInputStream in = s3e.open(RANDOM)) {
      assertThatThrownBy(() -> in.readFullyAt(0, new byte[10], 0, 10))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("; its latest GETs: (1) ")
          .hasMessageContaining(" of s3://bucket/key for DEMAND: FAILED after ")
          .hasMessageNotContaining("s3://bucket/other")
          .hasMessageNotContaining("\n");
    }
  }

  @Test
  void anErrorTellsOfTheLatestFiveTheLatestFirst() throws Exception {
    s3e.put(9);
    try (S3EInputStream in = s3e.open(RANDOM)) {
      for (int block = 0; block < 8; block++) {
        in.readFullyAt((long) block * BLOCK, new byte[10], 0, 10);
      }
      s3e.client.faults(
          (request, number) -> Answer.GOOD.failingAfter(-1, RequestFailure.Kind.FORBIDDEN));
      assertThatThrownBy(() -> in.readFullyAt(8L * BLOCK, new byte[10], 0, 10))
          .hasMessageContainingAll(
              "(1) ", ": GET [" + 8 * BLOCK + ", ", "FAILED", "(5) ", ": GET [" + 4 * BLOCK + ", ")
          .hasMessageNotContainingAny("(6) ", ": GET [" + 3 * BLOCK + ", ");
    }
  }

  @Test
  void anEngineThatKeepsNoneHasNothingToTell() throws Exception {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    ObjectName all = new ObjectName("io.s3e:type=Gets,*");
    Set<ObjectName> before = server.queryNames(all, null);
    MemoryObjectClient client = oneBlock();
    try (S3E engine = engine(new ExplainConfig(false, null), client)) {
      try (S3EInputStream in = engine.open(OBJECT, RANDOM)) {
        assertThat(in.read()).isNotNegative();
        client.faults(
            (request, number) -> Answer.GOOD.failingAfter(-1, RequestFailure.Kind.FORBIDDEN));
      }
      try (S3EInputStream in = engine.open(new ObjectRef("bucket", "other"), RANDOM.withSize(9))) {
        assertThatThrownBy(in::read).hasMessageNotContaining("latest GETs");
      }
      assertThat(engine.gets().latest(null, 9)).isEmpty();
      assertThat(server.queryNames(all, null)).isSubsetOf(before);
      assertThat(engine.metrics().get(Counter.USED_BYTES)).isEqualTo(BLOCK);
    }
  }

  @Test
  void aRecordNamesItsStreamAndTheLabelOfItsOpener() throws Exception {
    s3e.put(8);
    try (S3EInputStream first = s3e.open(RANDOM.withLabel("stage 3, task 17"));
        S3EInputStream second = s3e.open(RANDOM)) {
      first.readFullyAt(0, new byte[9], 0, 9);
      second.readFullyAt(4 * BLOCK, new byte[9], 0, 9);
    }

    List<GetRecord> gets = endedGets(s3e);
    assertThat(gets.get(1).toString()).contains("Z stream 1, stage 3, task 17: GET [0, ");
    assertThat(gets.get(0).toString()).contains("Z stream 2: GET [" + 4 * BLOCK + ", ");
    JsonNode line = new JsonMapper().readTree(gets.get(1).json());
    assertThat(line.get("stream").intValue()).isEqualTo(1);
    assertThat(line.get("label").stringValue()).isEqualTo("stage 3, task 17");
    assertThat(gets.get(0).json()).contains("\"stream\":2,\"state\"");
  }

  /** What a line is made of is no matter of what an object is called. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "a \"quoted\" name",
        "back\\slash\\",
        "line\nend\r\ttab\0nul\u001f\u007f",
        "sm\u00f6rg\u00e5s \u65e5\u672c \ud83d\ude00",
        "half \ud83d of a pair, \ude00 and the other",
        "line\u2028separator </script>"
      })
  void aLineIsALineWhateverTheKey(String key) throws Exception {
    ObjectRef object = new ObjectRef("bucket", key);
    s3e.client.put(object, MemoryObjectClient.bytes(BLOCK, 1), "\"a\\\"b\"");
    try (S3EInputStream in = s3e.engine.open(object, RANDOM.withLabel(key))) {
      assertThat(in.read()).isNotNegative();
    }
    awaitTrue("its end", () -> s3e.engine.gets().latest(object, 1).get(0).hasEnded());

    String json = s3e.engine.gets().latest(object, 1).get(0).json();
    assertThat(json).matches("[ -~]+");
    JsonNode line = new JsonMapper().readTree(json);
    assertThat(line.get("key").stringValue()).isEqualTo(key);
    assertThat(line.get("label").stringValue()).isEqualTo(key);
    assertThat(line.get("etag").stringValue()).isEqualTo("\"a\\\"b\"");
    assertThat(line.get("reason").stringValue()).isEqualTo("DEMAND");
    assertThat(line.get("received").longValue()).isEqualTo(BLOCK);
  }

  @Slow
  @Test
  void theOldestGoesWhenThereAreTooMany() throws Exception {
    s3e.put(GetLedger.CAPACITY + 10);
    try (S3EInputStream in = s3e.open(RANDOM)) {
      for (int block = 0; block < GetLedger.CAPACITY + 10; block++) {
        in.readFullyAt((long) block * BLOCK, new byte[1], 0, 1);
      }
    }

    List<GetRecord> gets = gets(s3e);
    assertThat(gets).hasSize(GetLedger.CAPACITY);
    assertThat(gets.get(0).range().start())
        .isGreaterThanOrEqualTo((long) GetLedger.CAPACITY * BLOCK);
    assertThat(s3e.engine.gets().latest(null, 3)).isEqualTo(gets.subList(0, 3));
  }

  @Test
  void jmxShowsThemAsLongAsTheEngineIsThere() throws Exception {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    ObjectName all = new ObjectName("io.s3e:type=Gets,*");
    Set<ObjectName> before = server.queryNames(all, null);
    Set<ObjectName> added;
    try (S3E engine = engine(ExplainConfig.DEFAULTS, oneBlock())) {
      try (S3EInputStream in = engine.open(OBJECT, RANDOM)) {
        assertThat(in.read()).isNotNegative();
      }
      awaitTrue("its end", () -> engine.gets().latest(null, 1).get(0).hasEnded());
      added = server.queryNames(all, null);
      added.removeAll(before);
      assertThat(added).hasSize(1);
      String[] lines = (String[]) server.getAttribute(added.iterator().next(), "Latest");
      assertThat(lines).singleElement().asString().contains("of s3://bucket/key for DEMAND: DONE");
      String[] json = (String[]) server.getAttribute(added.iterator().next(), "LatestJson");
      assertThat(json).containsExactly(engine.gets().latest(null, 1).get(0).json());
    }
    assertThat(server.queryNames(all, null)).doesNotContainAnyElementsOf(added);
  }

  private static MemoryObjectClient oneBlock() {
    MemoryObjectClient client =
        new MemoryObjectClient(ClientLimits.copying(EngineFixture.REQUEST, 4, 0));
    client.put(OBJECT, MemoryObjectClient.bytes(BLOCK, 1), EngineFixture.ETAG);
    return client;
  }

  private static S3E engine(ExplainConfig explain, MemoryObjectClient client) {
    return S3E.create(
        S3EConfig.DEFAULTS.toBuilder().explain(explain).build(),
        new MemoryBudget(64L * BLOCK),
        granted -> client);
  }

  /** A sink is the user's: it may throw, and ask for a record from another thread. */
  @Test
  void readsGoOnWhateverASinkDoes() throws Exception {
    MemoryBudget budget = new MemoryBudget(64L << 20);
    byte[] content = MemoryObjectClient.bytes(3_000_000, 1);
    List<String> told = new CopyOnWriteArrayList<>();
    GetSink sink =
        new GetSink() {
          @Override
          public void take(GetRecord get) {
            told.add(CompletableFuture.supplyAsync(get::json).orTimeout(5, SECONDS).join());
            throw new Unsayable();
          }

          @Override
          public void close() {}
        };
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder().explain(new ExplainConfig(true, () -> sink)).build();
    MemoryObjectClient client = new MemoryObjectClient(ClientLimits.copying(1 << 20, 8, 0));
    client.put(OBJECT, content, "\"v1\"");
    client.faults(
        (request, number) ->
            number == 0
                ? Answer.GOOD.failingAfter(1000, RequestFailure.Kind.NETWORK)
                : Answer.GOOD);
    try (S3E engine = S3E.create(config, budget, memory -> client);
        S3EInputStream in = engine.open(OBJECT)) {
      assertThat(in.readAllBytes()).isEqualTo(content);
      awaitTrue("each GET is told once", () -> told.size() >= client.gets().size());
      assertThat(told).doesNotHaveDuplicates();
    }
    awaitTrue("memory is given back", () -> budget.reserved() == 0);
  }
}
