// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.crt.Layouts;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.MemoryObjectClient.Content;
import io.s3e.testing.Slow;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Many readers of one table at once, each of a file and a split of its own, with the budget of 256
 * MiB. What counts is how much of a group was asked for when its vectored read begins: all of it
 * saves a round trip, a part of it saves nothing.
 */
@Slow
@Timeout(120)
class CompanyTest {
  private static final int MIB = 1 << 20;
  private static final int BLOCK = 64 << 10;
  private static final int CHUNK = 192 << 10;
  private static final int GROUPS = 12;
  private static final int FOOTER = 30_000;
  private static final long BUDGET = 256L * MIB;
  private static final int FIRST_BYTE_MILLIS = 60;
  private static final int BYTES_PER_MILLI = 12_000;

  /** What was asked for of a group when its read began. */
  private static final class Counts {
    int whole;
    int part;
    int ranges;
    int gets;
    long blockedNanos;

    synchronized void add(int asked, int ranges, long nanos) {
      this.ranges += asked;
      whole += asked == ranges ? 1 : 0;
      part += asked > 0 && asked < ranges ? 1 : 0;
      blockedNanos += nanos;
    }
  }

  private final Map<ObjectRef, BitSet> asked = new ConcurrentHashMap<>();

  /** Every third column, so that no two of them come by one GET. */
  private static Table table(int runs) {
    return new Table(
        GROUPS, 3 * runs, CHUNK, FOOTER, IntStream.range(0, runs).map(i -> 3 * i).toArray());
  }

  private Counts read(int streams, int runs, ColumnarMode mode, ClientLimits limits)
      throws Exception {
    return read(streams, table(runs), mode, limits, BUDGET);
  }

  private Counts read(
      int streams, Table table, ColumnarMode mode, ClientLimits limits, long budgetBytes)
      throws Exception {
    Counts counts = new Counts();
    MemoryObjectClient client = new MemoryObjectClient(limits);
    client.faults(
        (request, number) -> {
          BitSet blocks = asked.computeIfAbsent(request.object(), object -> new BitSet());
          ByteRange range = request.range();
          synchronized (blocks) {
            blocks.set((int) (range.start() / BLOCK), (int) ((range.end() + BLOCK - 1) / BLOCK));
          }
          return Answer.GOOD.after(FIRST_BYTE_MILLIS + range.length() / BYTES_PER_MILLI);
        });
    S3EConfig config = S3EConfig.DEFAULTS.toBuilder().columnar(mode).build();
    MemoryBudget budget = new MemoryBudget(budgetBytes);
    ExecutorService readers = Executors.newFixedThreadPool(streams);
    try (S3E s3e = S3E.create(config, budget, granted -> client)) {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < streams; i++) {
        ObjectRef object = new ObjectRef("bucket", "table/part-" + i);
        client.put(object, content(table), "\"v1\"");
        all.add(
            readers.submit(
                () -> {
                  scan(s3e, object, table, counts);
                  return null;
                }));
      }
      for (Future<?> each : all) {
        each.get();
      }
    } finally {
      readers.shutdownNow();
    }
    System.out.printf(
        "%s %d streams, %d runs: %d ms, whole %d part %d none %d, %d ranges, %d GETs%n",
        mode,
        streams,
        table.wanted().length,
        counts.blockedNanos / 1_000_000 / streams,
        counts.whole,
        counts.part,
        streams * GROUPS - counts.whole - counts.part,
        counts.ranges,
        client.gets().size());
    counts.gets = client.gets().size();
    return counts;
  }

  private static Content content(Table table) {
    byte[] tail = table.file().last();
    long start = table.size() - tail.length;
    return new Content(
        table.size(),
        (at, count) -> {
          ByteBuffer bytes = ByteBuffer.allocate(count);
          int before = (int) Math.max(0, Math.min(count, start - at));
          if (before < count) {
            bytes.put(before, tail, (int) (at + before - start), count - before);
          }
          return bytes;
        });
  }

  private void scan(S3E s3e, ObjectRef object, Table table, Counts counts) throws Exception {
    ByteRange whole = new ByteRange(0, table.size());
    OpenOptions options =
        OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM).withSize(table.size()).withSplit(whole);
    try (S3EInputStream in = s3e.open(object, options)) {
      in.seek(table.size() - 8);
      in.readFully(new byte[8], 0, 8);
      in.seek(table.size() - FOOTER);
      in.readFully(new byte[FOOTER - 8], 0, FOOTER - 8);
      for (int group = 0; group < GROUPS; group++) {
        List<ByteRange> ranges = new ArrayList<>();
        int there = 0;
        for (int column : table.wanted()) {
          ByteRange range = table.wanted(group, column);
          ranges.add(range);
          there += isAsked(object, range) ? 1 : 0;
        }
        long begun = System.nanoTime();
        for (var result : in.readVectored(ranges, ByteBuffer::allocate, buffer -> {})) {
          result.get();
        }
        counts.add(there, ranges.size(), System.nanoTime() - begun);
      }
    }
  }

  private boolean isAsked(ObjectRef object, ByteRange range) {
    BitSet blocks = asked.get(object);
    synchronized (blocks) {
      int first = (int) (range.start() / BLOCK);
      return blocks.nextClearBit(first) * (long) BLOCK >= range.end();
    }
  }

  /** The CRT's client: 20 short requests, and slots for 34 long ones. */
  @ParameterizedTest
  @CsvSource({"8, 3, 60", "8, 5, 15", "8, 8, 0", "16, 3, 3", "16, 5, 0", "32, 3, 0", "32, 8, 0"})
  void aGroupIsAskedForAsAWholeOrNotAtAll(int streams, int runs, int leastPercent)
      throws Exception {
    Counts counts = read(streams, runs, ColumnarMode.AUTO, Layouts.lending(BUDGET / 8 * 5, 64));
    int reads = streams * GROUPS;
    assertThat(counts.part).as("groups of which a part was asked for").isLessThan(reads / 32);
    assertThat(100 * counts.whole).as("whole groups").isGreaterThanOrEqualTo(leastPercent * reads);
    assertThat(counts.gets).as("GETs").isLessThanOrEqualTo(reads * runs + 4 * streams);
  }

  /** Slots of 1 MiB, which a client has in so small a budget, hold what is guessed as well. */
  @Test
  void aSmallBudgetHoldsAGroupAhead() throws Exception {
    long budget = 64L * MIB;
    Table table = new Table(GROUPS, 12, 9 * MIB / 2, FOOTER, 0, 3, 6, 9);
    Counts counts = read(1, table, ColumnarMode.AUTO, Layouts.lending(budget / 8 * 5, 64), budget);
    assertThat(counts.ranges).as("ranges that were asked for, of 48").isGreaterThanOrEqualTo(24);
  }

  /** Places enough for three groups of each stream. */
  @ParameterizedTest
  @CsvSource({"8, 8", "16, 3", "16, 8", "32, 5"})
  void allStreamsRunAheadWhereThereAreConnections(int streams, int runs) throws Exception {
    ClientLimits roomy = new ClientLimits(MIB, 4 * streams * runs, 0, 4 * MIB, 16, 64L * MIB);
    Counts counts = read(streams, runs, ColumnarMode.AUTO, roomy);
    int reads = streams * GROUPS;
    assertThat(counts.part).as("groups of which a part was asked for").isLessThan(reads / 32);
    assertThat(counts.whole).as("whole groups").isGreaterThan(reads * 3 / 4);
  }
}
