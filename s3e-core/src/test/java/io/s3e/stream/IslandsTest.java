// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.BlockLayout;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.prefetch.RequestSizing;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.time.Duration;
import java.util.Random;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A scan of an object of which parts are in memory: it is not cut at each of them. */
@Timeout(120)
@Tag("waits")
class IslandsTest {
  private static final int KIB = 1 << 10;
  private static final int MIB = 1 << 20;
  private static final int BLOCK = 64 * KIB;
  private static final int SIZE = 96 * MIB;

  /** First byte of an island: no multiple of what GETs are long. */
  private static final int ISLAND = 5 * BLOCK;

  private static final ObjectRef READ_BEFORE = new ObjectRef("bucket", "read-before");
  private static final byte[] CONTENT = MemoryObjectClient.bytes(SIZE, 7);

  private MemoryObjectClient client = new MemoryObjectClient(ClientLimits.copying(MIB, 24, 0));
  private MemoryBudget budget = new MemoryBudget(256L * MIB);
  private S3E engine = S3E.create(S3EConfig.DEFAULTS, budget, granted -> client);

  private void lend() {
    engine.close();
    client = new MemoryObjectClient(new ClientLimits(MIB, 24, 0, 4 * MIB, 24, 96L * MIB));
    budget = new MemoryBudget(256L * MIB);
    engine = S3E.create(S3EConfig.DEFAULTS, budget, granted -> client);
  }

  @AfterEach
  void close() {
    engine.close();
    assertThat(engine.metrics().get(Counter.HELD_BYTES)).as("bytes still held").isZero();
    assertThat(
            engine.metrics().get(Counter.USED_BYTES) + engine.metrics().get(Counter.WASTED_BYTES))
        .as("bytes that were used and wasted")
        .isEqualTo(engine.metrics().get(Counter.FETCHED_BYTES));
    assertThat(budget.reserved()).as("bytes still reserved").isZero();
  }

  private void put() {
    client.put(READ_BEFORE, CONTENT, "\"v1\"");
    client.faults((request, number) -> Answer.GOOD.after(5));
  }

  private void readBlocks(int everyBytes, int bytes) throws IOException {
    readBlocks(everyBytes - BLOCK, everyBytes, bytes);
  }

  private void readBlocks(int first, int everyBytes, int bytes) throws IOException {
    try (S3EInputStream in =
        engine.open(READ_BEFORE, OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM))) {
      byte[] piece = new byte[bytes];
      for (int at = first; at < SIZE; at += everyBytes) {
        in.readFullyAt(at, piece, 0, bytes);
      }
    }
  }

  /** The patterns of which each island is worth it by itself, and all of them are not. */
  @Test
  void noMoreThanAQuarterIsFetchedOver() {
    BlockLayout layout = new BlockLayout(1 << 30, BLOCK);
    for (int seed = 0; seed < 1000; seed++) {
      Random random = new Random(seed);
      int sparse = 1 + random.nextInt(9);
      LongPredicate isThere = block -> block > 0 && new Random(block).nextInt(10) < sparse;
      long end = RequestSizing.untilGap(0, 1 + random.nextInt(200), layout, isThere, block -> true);
      long absent = LongStream.range(0, end).filter(isThere.negate()).count();
      assertThat((end - absent) * 4).as("seed %d", seed).isLessThanOrEqualTo(absent);
      assertThat(isThere.test(end - 1)).as("a run ends at an absent block").isFalse();
    }
  }

  /** By itself it would be as much as the block in front of it. */
  @Test
  void anIslandBehindTheFirstBlockIsJudgedByAllOfTheRun() {
    BlockLayout layout = new BlockLayout(1 << 30, BLOCK);
    assertThat(RequestSizing.untilGap(0, 16, layout, block -> block == 1, block -> true))
        .isEqualTo(16);
    assertThat(RequestSizing.untilGap(0, 4, layout, block -> block == 1, block -> true))
        .as("a quarter of three blocks")
        .isEqualTo(1);
    assertThat(RequestSizing.untilGap(0, 16, layout, block -> block == 1, block -> false))
        .isEqualTo(1);
  }

  /** Once the budget is full, what is fetched over must not push out what is read. */
  @Slow
  @Test
  void whatIsFetchedOverTakesNoMemory() throws IOException {
    put();
    readBlocks(8 * BLOCK, 4 * KIB);
    long wasted = engine.metrics().get(Counter.WASTED_BYTES);
    int unused = getsOfScan(READ_BEFORE);
    assertThat(engine.metrics().get(Counter.WASTED_BYTES) - wasted)
        .as("dropped as it came")
        .isBetween(SIZE / 16L, SIZE / 8L);
  }

  /** The handle's own blocks have another name once it has met one that it may not see. */
  @Slow
  @Test
  void aReaderWithoutProofScansOverIslands() throws IOException {
    engine.close();
    client = new MemoryObjectClient(new ClientLimits(MIB, 24, 0, 4 * MIB, 24, 96L * MIB));
    budget = new MemoryBudget(256L * MIB);
    engine =
        S3E.create(
            S3EConfig.DEFAULTS.toBuilder().accessMaxAge(Duration.ZERO).build(),
            budget,
            granted -> client);
    put();
    readBlocks(ISLAND, 8 * BLOCK, 4 * KIB);
    readBlocks(ISLAND, 8 * BLOCK, 4 * KIB);
    long refused = engine.metrics().get(Counter.PREFETCH_REFUSED);
    assertFewGetsEndAtIslands(8 * BLOCK);
    assertThat(engine.metrics().get(Counter.PREFETCH_REFUSED) - refused)
        .as("looks at full slots: none as a rule, and not most of those at each block")
        .isLessThan(SIZE / BLOCK / 4);
  }

  /**
   * How many GETs a scan sends depends on how fast its reader is; that islands do not end them does
   * not. By chance some do.
   */
  private void assertFewGetsEndAtIslands(int everyBytes) throws IOException {
    int before = client.gets().size();
    int gets = getsOfScan(READ_BEFORE);
    assertThat(client.gets().subList(before, before + gets))
        .extracting(get -> get.range().end() % everyBytes)
        .as("where GETs end, of each %d bytes", everyBytes)
        .filteredOn(end -> end == ISLAND)
        .hasSizeLessThanOrEqualTo(SIZE / everyBytes / 3);
  }

  private int getsOfScan(ObjectRef object) throws IOException {
    int before = client.gets().size();
    try (S3EInputStream in =
        engine.open(object, OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL))) {
      assertThat(in.readAllBytes()).isEqualTo(CONTENT);
    }
    return client.gets().size() - before;
  }

  @Slow
  @ParameterizedTest
  @CsvSource({"copying, 8", "copying, 16", "copying, 64", "lending, 8", "lending, 64"})
  void aScanIsNotCutAtBlocksThatAreInMemory(String how, int everyBlocks) throws IOException {
    if (how.equals("lending")) {
      lend();
    }
    put();
    readBlocks(ISLAND, everyBlocks * BLOCK, 4 * KIB);
    assertFewGetsEndAtIslands(everyBlocks * BLOCK);
    assertThat(engine.metrics().get(Counter.FETCHED_BYTES))
        .as("what was there is fetched once more at most, and the rest once")
        .isLessThanOrEqualTo(2L * SIZE + 2L * SIZE / everyBlocks);
  }

  /** A long stretch of memory is worth more than the GET that begins behind it. */
  @ParameterizedTest
  @ValueSource(ints = {2, 4})
  void longStretchesAreNotFetchedAgain(int megabytes) throws IOException {
    put();
    readBlocks(16 * MIB, BLOCK);
    try (S3EInputStream in =
        engine.open(READ_BEFORE, OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM))) {
      in.readFullyAt(8 * MIB, new byte[megabytes * MIB], 0, megabytes * MIB);
    }
    long before = engine.metrics().get(Counter.FETCHED_BYTES);
    int unused = getsOfScan(READ_BEFORE);
    assertThat(engine.metrics().get(Counter.FETCHED_BYTES) - before)
        .isLessThanOrEqualTo(SIZE - megabytes * MIB);
  }

  /** Single blocks between single blocks: to fetch them all would be twice the bytes. */
  @Slow
  @Test
  void everySecondBlockIsNotFetchedAgain() throws IOException {
    put();
    readBlocks(2 * BLOCK, BLOCK);
    long before = engine.metrics().get(Counter.FETCHED_BYTES);
    int unused = getsOfScan(READ_BEFORE);
    assertThat(engine.metrics().get(Counter.FETCHED_BYTES) - before).isEqualTo(SIZE / 2);
  }
}
