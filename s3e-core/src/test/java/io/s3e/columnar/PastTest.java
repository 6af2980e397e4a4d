// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ByteRange;
import io.s3e.columnar.PlaceFacts.ColumnScan;
import io.s3e.columnar.PlaceFacts.FileShape;
import io.s3e.columnar.Replay.Split;
import io.s3e.columnar.Table.Reader;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What one JVM has learnt of a table, in the first reads of another, in virtual time. */
class PastTest {
  /** 4 MiB, of which two columns take 512 KiB. */
  private static final Table SMALL = new Table(1, 16, 256 << 10, 20_000, 3, 11);

  /** The same of other columns. */
  private static final Table OTHER_COLUMNS = new Table(1, 16, 256 << 10, 20_000, 5, 14);

  /** Eight groups of 16 MiB, of which five columns are read. */
  private static final Table LARGE = new Table(8, 16, 1 << 20, 400_000, 1, 4, 7, 10, 13);

  private static Replay read(Table table, String file, Reader reader, LayoutMemory memory) {
    return replay(table, file, memory).play(table.readOf(file, reader));
  }

  private static Replay replay(Table table, String file, LayoutMemory memory) {
    return new Replay(memory, ColumnarMode.AUTO, Split.UNKNOWN, null, Map.of(file, table.file()));
  }

  private static Replay first(Table table, Reader reader, LayoutMemory past) {
    return replay(table, "first", new LayoutMemory())
        .recalling(past)
        .play(table.readOf("first", reader));
  }

  /** The memory of a JVM that has read that many files. */
  private static LayoutMemory taught(Table table, Reader reader, int files) {
    LayoutMemory memory = new LayoutMemory();
    for (int i = 0; i < files; i++) {
      read(table, "f" + i, reader, memory);
    }
    return memory;
  }

  private static LayoutMemory past(Table table, Reader reader) {
    return LayoutMemory.of(taught(table, reader, 2).facts());
  }

  @ParameterizedTest
  @EnumSource
  void firstSmallFileTakesOneRoundTrip(Reader reader) {
    assertThat(read(SMALL, "first", reader, new LayoutMemory()).dependent).isGreaterThan(1);
    Replay replay = first(SMALL, reader, past(SMALL, reader));
    assertThat(replay.dependent).as(String.join("\n", replay.log)).isEqualTo(1);
    assertThat(replay.unusedBlocksBefore(SMALL.size() - 20_000)).isLessThanOrEqualTo(1);
  }

  /** A footer that is longer than what is fetched of a file that nothing is known of. */
  @Test
  void tailIsAsLongAsFootersWere() {
    int before = read(LARGE, "first", Reader.VECTORS, new LayoutMemory()).dependent;
    assertThat(first(LARGE, Reader.VECTORS, past(LARGE, Reader.VECTORS)).dependent)
        .isLessThan(before);
  }

  /** The first column that is read by a seek names those that were read with it. */
  @Test
  void columnsThatWereReadTogetherComeTogether() {
    LayoutMemory other = taught(LARGE, Reader.SEEKS, 2);
    Map<String, PlaceFacts> columnsAlone = Map.of("bucket/table", ofScans(other));
    int before = read(LARGE, "first", Reader.SEEKS, new LayoutMemory()).dependent;
    Replay replay = first(LARGE, Reader.SEEKS, LayoutMemory.of(columnsAlone));
    assertThat(replay.dependent).as("before %d", before).isLessThanOrEqualTo(before - 3);
  }

  private static PlaceFacts ofScans(LayoutMemory memory) {
    PlaceFacts facts = memory.facts().get("bucket/table");
    assertThat(facts).isNotNull();
    return new PlaceFacts(0, List.of(), facts.scans());
  }

  @ParameterizedTest
  @EnumSource
  void whatTheEngineHasLearntItselfComesFirst(Reader reader) {
    LayoutMemory memory = taught(SMALL, reader, 2);
    LayoutMemory same = taught(SMALL, reader, 2);
    Replay without = read(SMALL, "third", reader, memory);
    Replay with =
        replay(SMALL, "third", same)
            .recalling(past(OTHER_COLUMNS, reader))
            .play(SMALL.readOf("third", reader));
    assertThat(with.log).isEqualTo(without.log);
  }

  /** One file of the table shows that the past is of another one. */
  @ParameterizedTest
  @EnumSource
  void wrongPastIsGivenUpAfterOneFile(Reader reader) {
    LayoutMemory past = past(OTHER_COLUMNS, reader);
    LayoutMemory memory = new LayoutMemory();
    long wasted = 0;
    for (int i = 0; i < 2; i++) {
      Replay replay =
          replay(SMALL, "f" + i, memory).recalling(past).play(SMALL.readOf("f" + i, reader));
      long unused = replay.unusedBlocksBefore(SMALL.size() - 20_000);
      assertThat(unused).as("file %d", i).isLessThanOrEqualTo(i == 0 ? 12 : 1);
      wasted += unused;
    }
    assertThat(wasted).as("the first file was guessed wrongly").isGreaterThanOrEqualTo(4);
  }

  @Test
  void factsAreTheSameAfterTheyWereTakenIn() {
    for (Reader reader : Reader.values()) {
      Map<String, PlaceFacts> facts = taught(SMALL, reader, 3).facts();
      assertThat(facts).containsOnlyKeys("bucket/table");
      assertThat(facts.get("bucket/table"))
          .matches(place -> place.footerBytes() >= 20_000 && place.files().size() == 2);
      assertThat(LayoutMemory.of(facts).facts()).isEqualTo(facts);
    }
  }

  /** Whatever a past says, what is wished for lies in the object and is bounded. */
  @Test
  void nonsenseIsHarmless() throws Exception {
    for (long seed = 0; seed < 500; seed++) {
      Random random = new Random(seed);
      Table table = random.nextBoolean() ? SMALL : LARGE;
      LayoutMemory past = LayoutMemory.of(Map.of("bucket/table", nonsense(random, table)));
      Reader reader = random.nextBoolean() ? Reader.SEEKS : Reader.VECTORS;
      int before = read(table, "first", reader, new LayoutMemory()).dependent;
      Replay replay = first(table, reader, past);
      assertThat(replay.dependent).as("seed %d", seed).isLessThanOrEqualTo(before + 1);
    }
  }

  private static PlaceFacts nonsense(Random random, Table table) throws MalformedException {
    List<FileShape> files = new ArrayList<>();
    for (int i = 0; i < random.nextInt(4); i++) {
      long start = any(random);
      List<ByteRange> ranges = List.of(new ByteRange(start, start + random.nextInt(1 << 24)));
      files.add(new FileShape(any(random), any(random), ranges));
    }
    BitSet columns = BitSet.valueOf(new long[] {random.nextLong(), random.nextLong()});
    long[] schemas = {0, random.nextLong(), table.layout().schema};
    ColumnScan scan = new ColumnScan(schemas[random.nextInt(schemas.length)], columns);
    return new PlaceFacts(any(random), files, List.of(scan));
  }

  private static long any(Random random) {
    return (random.nextLong() >>> 2) >>> random.nextInt(62);
  }
}
