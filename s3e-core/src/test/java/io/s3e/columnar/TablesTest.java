// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.columnar.Replay.Split;
import io.s3e.columnar.Table.Reader;
import io.s3e.prefetch.GuessKind;
import io.s3e.prefetch.RequestSizing;
import io.s3e.prefetch.TableLedger;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tables of many files of one group, and of many columns, of which two are wanted, in the virtual
 * time of {@link Replay}. Opened by name or with a status: planners see no difference, as both tell
 * length and ETag.
 */
class TablesTest {
  /** 4 MiB, of which two columns take 512 KiB. */
  private static final Table MANY_FILES = new Table(1, 16, 256 << 10, 20_000, 3, 11);

  private static final Table FOOTERS_ALONE = new Table(1, 16, 256 << 10, 20_000);

  /** 300 columns in eight groups of 37.5 MiB. */
  private static final Table NARROW = new Table(8, 300, 128 << 10, 230_000, 7, 211);

  private final LayoutMemory memory = new LayoutMemory();

  private Replay read(Table table, String file, Reader reader, ColumnarMode mode, Split split) {
    return new Replay(memory, mode, split, null, Map.of(file, table.file()))
        .play(table.readOf(file, reader));
  }

  /** The third of files that are alike is expected to be so too. */
  @ParameterizedTest
  @EnumSource
  void eachOfManyFilesTakesOneRoundTrip(Reader reader) {
    read(MANY_FILES, "first", reader, ColumnarMode.AUTO, Split.UNKNOWN);
    read(MANY_FILES, "second", reader, ColumnarMode.AUTO, Split.UNKNOWN);
    for (int i = 0; i < 200; i++) {
      Replay replay = read(MANY_FILES, "f" + i, reader, ColumnarMode.AUTO, Split.UNKNOWN);
      assertThat(replay.dependent).as(String.join("\n", replay.log)).isEqualTo(1);
      // What is fetched of the tail is a little more than the footer, and in whole blocks.
      assertThat(replay.unusedBlocksBefore(MANY_FILES.size() - 20_000)).isLessThanOrEqualTo(1);
    }
  }

  @Test
  void theTailOfEachComesByOneGetAndTheColumnsByTwo() {
    for (int i = 0; i < 5; i++) {
      Replay replay = read(MANY_FILES, "f" + i, Reader.VECTORS, ColumnarMode.AUTO, Split.UNKNOWN);
      assertThat(replay.requests).as("file %d", i).isEqualTo(3);
    }
  }

  @Test
  void filesOfOtherLengthsAreAlike() {
    Random random = new Random(7);
    long dependent = 0;
    for (int i = 0; i < 50; i++) {
      Table table = new Table(1, 16, (64 << 10) + random.nextInt(512 << 10), 20_000, 3, 4, 5, 11);
      Replay replay = read(table, "f" + i, Reader.VECTORS, ColumnarMode.AUTO, Split.UNKNOWN);
      dependent += replay.dependent;
      assertThat(replay.unusedBlocksBefore(table.size() - 20_000))
          .as("file %d", i)
          .isLessThanOrEqualTo(3);
    }
    // Some are shorter than a megabyte, and come whole.
    assertThat(dependent).isLessThanOrEqualTo(50 + 10);
  }

  /** Footers say that most files have nothing for the query: no data is guessed. */
  @Test
  void filesThatFiltersSkipAreNotGuessed() {
    for (int i = 0; i < 40; i++) {
      Table table = i % 3 == 0 ? MANY_FILES : FOOTERS_ALONE;
      Replay replay = read(table, "f" + i, Reader.SEEKS, ColumnarMode.AUTO, Split.UNKNOWN);
      assertThat(replay.unusedBlocksBefore(table.size() - 20_000))
          .as("file %d", i)
          .isLessThanOrEqualTo(1);
    }
  }

  /** The same columns of a large file lie elsewhere: what was guessed must not take their place. */
  @ParameterizedTest
  @EnumSource
  void wrongGuessesDoNotHoldALargeFileBack(Reader reader) {
    Table large = new Table(20, 16, 512 << 10, 20_000, 3, 11);
    Map<String, RecordedFiles.File> files = Map.of("large", large.file());
    Recording recording = large.readOf("large", reader);
    Replay alone =
        new Replay(new LayoutMemory(), ColumnarMode.AUTO, Split.UNKNOWN, null, files)
            .withConnections(6)
            .play(recording);
    for (int i = 0; i < 3; i++) {
      read(MANY_FILES, "f" + i, reader, ColumnarMode.AUTO, Split.UNKNOWN);
    }
    Replay replay =
        new Replay(memory, ColumnarMode.AUTO, Split.UNKNOWN, null, files)
            .withConnections(6)
            .play(recording);
    assertThat(replay.dependent).as(log(replay)).isLessThanOrEqualTo(alone.dependent + 1);
  }

  /** The layouts of all files are known, and their bytes have left memory. */
  @ParameterizedTest
  @EnumSource
  void secondQueryOverTheFilesTakesOneRoundTripEachToo(Reader reader) {
    for (int i = 0; i < 20; i++) {
      read(MANY_FILES, "f" + i, reader, ColumnarMode.AUTO, Split.UNKNOWN);
    }
    for (int i = 0; i < 20; i++) {
      Replay replay = read(MANY_FILES, "f" + i, reader, ColumnarMode.AUTO, Split.UNKNOWN);
      assertThat(replay.dependent).as(log(replay)).isEqualTo(1);
    }
  }

  /** Spark 3.5 reads each footer by a stream of its own, here two files at once. */
  @Test
  void streamsThatReadFootersAloneGuessNothing() {
    for (int i = 0; i < 40; i += 2) {
      for (int file = i; file < i + 2; file++) {
        Replay footer =
            read(FOOTERS_ALONE, "f" + file, Reader.SEEKS, ColumnarMode.AUTO, Split.UNKNOWN);
        assertThat(footer.unusedBlocksBefore(MANY_FILES.size() - 20_000))
            .as("file %d", file)
            .isLessThanOrEqualTo(1);
      }
      for (int file = i; file < i + 2; file++) {
        Map<String, RecordedFiles.File> files = Map.of("f" + file, MANY_FILES.file());
        new Replay(memory, ColumnarMode.AUTO, Split.UNKNOWN, null, files)
            .play(MANY_FILES.dataOf("f" + file, Reader.VECTORS));
      }
    }
  }

  /** Two queries read one table by turns, each its own columns. */
  @Test
  void queriesOfOtherColumnsEndTheGuesses() {
    Table other = new Table(1, 16, 256 << 10, 20_000, 0, 1, 14);
    int unused = 0;
    for (int i = 0; i < 200; i++) {
      Table table = i / 3 % 2 == 0 ? MANY_FILES : other;
      unused +=
          read(table, "f" + i, Reader.VECTORS, ColumnarMode.AUTO, Split.UNKNOWN)
              .unusedBlocksBefore(table.size() - 20_000);
    }
    // 7 wrong guesses of some ten blocks switch the kind off; one in 16 is tried.
    assertThat(unused).isLessThanOrEqualTo(20 * 12 + 200);
  }

  @Test
  void aReaderBySeeksWaitsForEachColumnOfTheFirstFileAlone() {
    assertThat(read(MANY_FILES, "a", Reader.SEEKS, ColumnarMode.AUTO, Split.KNOWN).dependent)
        .isEqualTo(3);
    assertThat(read(MANY_FILES, "b", Reader.SEEKS, ColumnarMode.AUTO, Split.KNOWN).dependent)
        .isEqualTo(2);
  }

  /** As parquet-java reads without vectored reads: nothing is known of the table yet. */
  @Test
  void aReaderOfAllColumnsBySeeksIsHelpedAsInOtherFilesFromItsFirstGroupOn() {
    Table table = new Table(4, 4, 8 << 20, 20_000, 0, 1, 2, 3);
    Replay off = read(table, "off", Reader.SEEKS, ColumnarMode.OFF, Split.KNOWN);
    Replay first = read(table, "first", Reader.SEEKS, ColumnarMode.AUTO, Split.KNOWN);
    assertThat(first.blockedMillis()).as(log(first)).isLessThan(1.5 * off.blockedMillis());
    assertThat(first.requests).isLessThanOrEqualTo(off.requests + off.requests / 4);
  }

  /** As files that many small appends make: what GETs bring is not bound by groups. */
  @ParameterizedTest
  @CsvSource({"SEEKS, 1000, 25000", "VECTORS, 1000, 25000", "SEEKS, 400, 125000"})
  void shortGroupsComeByLongGets(Reader reader, int groups, int chunk) {
    Table table = new Table(groups, 4, chunk, 100_000, 0, 1, 2, 3);
    Replay replay = read(table, "f", reader, ColumnarMode.AUTO, Split.KNOWN);
    long least = RequestSizing.LEAST_OF_DATA_BYTES;
    assertThat(replay.requests).as(log(replay)).isLessThan(10 + 2 * (int) (table.size() / least));
  }

  /** Where guesses of groups do not pay, the reader is one of any other file. */
  @ParameterizedTest
  @EnumSource
  void whereColumnsAreNotGuessedAReaderForwardIsHelpedAsInOtherFiles(Reader reader)
      throws MalformedException {
    Table table = new Table(4, 4, 8 << 20, 20_000, 0, 1, 2, 3);
    TableLedger ledger =
        memory.table(new ObjectRef("bucket", "table/f"), table.layout().schema).ledger;
    TableLedger.OfStream wrong = ledger.ofStream();
    assertThat(wrong.admits(GuessKind.GROUP)).isTrue();
    for (int i = 0; i < 7; i++) {
      wrong.settle(GuessKind.GROUP, 0, 1 << 20);
    }
    Replay off = read(table, "off", reader, ColumnarMode.OFF, Split.KNOWN);
    Replay replay = read(table, "f", reader, ColumnarMode.AUTO, Split.KNOWN);
    assertThat(replay.blockedMillis()).as(log(replay)).isLessThan(1.1 * off.blockedMillis());
    assertThat(replay.requests).isLessThanOrEqualTo(off.requests + 4);
  }

  /** A thousand short columns by seeks: what is wanted is not made anew at each of them. */
  @Test
  void manyColumnsBySeeksAreAskedForAFewAtATime() {
    int[] each = IntStream.range(0, 1_000).map(i -> 2 * i).toArray();
    Table table = new Table(2, 2_000, 70 << 10, 2 << 20, each);
    read(table, "first", Reader.SEEKS, ColumnarMode.AUTO, Split.KNOWN);
    Replay replay = read(table, "second", Reader.SEEKS, ColumnarMode.AUTO, Split.KNOWN);
    assertThat(replay.dependent).as("waits").isLessThan(200);
  }

  @ParameterizedTest
  @EnumSource
  void twoOfManyColumnsAreReadAheadToTheEndOfTheSplit(Reader reader) {
    Replay before = read(NARROW, "before", reader, ColumnarMode.OFF, Split.UNKNOWN);
    Replay first = read(NARROW, "first", reader, ColumnarMode.AUTO, Split.KNOWN);
    Replay second = read(NARROW, "second", reader, ColumnarMode.AUTO, Split.KNOWN);
    assertThat(first.dependent).as(log(first)).isEqualTo(reader == Reader.VECTORS ? 2 : 3);
    assertThat(second.dependent).as(log(second)).isEqualTo(2);
    assertThat(first.blockedMillis()).isLessThan(before.blockedMillis() / 2);
    assertThat(second.blockedMillis()).isLessThan(before.blockedMillis() / 2);
    assertThat(second.fetchedBlocks()).isLessThanOrEqualTo(before.fetchedBlocks() + 2);
  }

  @ParameterizedTest
  @EnumSource
  void columnsThatDoNotStandInTheSchemasOrderAreReadAheadAsWell(Reader reader) {
    Map<String, RecordedFiles.File> files = Map.of("f", NARROW.fileInReverse());
    Replay replay =
        new Replay(memory, ColumnarMode.AUTO, Split.KNOWN, null, files)
            .play(NARROW.readOf("f", reader));
    assertThat(replay.dependent).as(log(replay)).isEqualTo(reader == Reader.VECTORS ? 2 : 3);
  }

  private static String log(Replay replay) {
    return String.join("\n", replay.log);
  }
}
