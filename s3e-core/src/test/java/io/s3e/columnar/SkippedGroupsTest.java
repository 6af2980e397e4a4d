// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.columnar.Replay.Split;
import io.s3e.columnar.Table.Reader;
import io.s3e.metrics.EngineMetrics.Counter;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Readers of a table whose statistics rule out row groups, always the same ones, by vectored reads
 * with a known split, in the virtual time of {@link Replay}; and full scans after them.
 */
class SkippedGroupsTest {
  /** 12 groups of 3.75 MiB, of which a reader takes 3 runs of 256 KiB. */
  private static final Table TABLE = new Table(12, 15, 256 << 10, 30_000, 0, 6, 12);

  private static final String WHOLE = "xxxxxxxxxxxx";
  private static final int FILES = 40;

  private final LayoutMemory memory = new LayoutMemory();

  /** What readers of files of one table cost, beside the same ones that are not read ahead of. */
  private final class Cost {
    private long asked;
    private long wasted;
    private long blocks;
    private long blocksOff;
    private long waits;
    private long waitsOff;

    /** How often the reader of that pattern waited. */
    int read(String file, String pattern) {
      return read(TABLE, Reader.VECTORS, file, pattern);
    }

    int read(Table table, Reader how, String file, String pattern) {
      Map<String, RecordedFiles.File> files = Map.of(file, table.file());
      Recording recording = table.readOf(file, how, pattern);
      Replay off =
          new Replay(new LayoutMemory(), ColumnarMode.OFF, Split.KNOWN, null, files)
              .play(recording);
      Replay replay =
          new Replay(memory, ColumnarMode.AUTO, Split.KNOWN, null, files).play(recording);
      assertThat(replay.dependent).as("waits").isLessThanOrEqualTo(off.dependent);
      asked += replay.counted.get(Counter.COLUMNAR_ASKED_BYTES);
      wasted += replay.counted.get(Counter.COLUMNAR_GROUP_WASTED_BYTES);
      blocks += replay.fetchedBlocks();
      blocksOff += off.fetchedBlocks();
      waits += replay.dependent;
      waitsOff += off.dependent;
      return replay.dependent;
    }

    void assertWithin(int mostBytesPercent, int mostWastedPercent, int mostWaitsPercent) {
      assertThat(100 * blocks).as("bytes").isLessThanOrEqualTo(mostBytesPercent * blocksOff);
      assertThat(100 * wasted).as("wasted").isLessThanOrEqualTo(mostWastedPercent * asked);
      assertThat(100 * waits).as("waits").isLessThanOrEqualTo(mostWaitsPercent * waitsOff);
    }
  }

  /** The bounds only fall: bytes and waits in percent of those of readers without prediction. */
  @ParameterizedTest
  @CsvSource({
    "xxxxxxxxxxxx, 101, 0,  16, 2",
    "x-----------, 110, 3,  55, 3",
    "xxxx--------, 107, 7,  41, 3",
    "--------xxxx, 102, 1,  41, 2",
    "x----------x, 105, 3,  68, 3",
    "xx----xxxx--, 104, 3,  30, 3",
    "--xxxx----xx, 103, 2,  30, 2",
    "x-x-x-x-x-x-, 102, 1,  31, 3",
    "xxx-xxx-xxx-, 102, 1,  21, 3",
  })
  void whatIsSkippedOfEachFileCostsLittle(
      String pattern, int bytes, int wasted, int waits, int waitsOfNextScan) {
    Cost cost = new Cost();
    for (int i = 0; i < FILES; i++) {
      cost.read("f" + i, pattern);
    }
    cost.assertWithin(bytes, wasted, waits);
    for (int i = 0; i < 4; i++) {
      assertThat(cost.read("scan" + i, WHOLE)).isLessThanOrEqualTo(waitsOfNextScan);
    }
    assertThat(cost.read("scan", WHOLE)).as("what is read otherwise is forgotten").isEqualTo(2);
  }

  /** Files that are not sorted alike: nothing tells which groups are next. */
  @ParameterizedTest
  @CsvSource({"10, 115, 61, 100", "50, 106, 49, 98", "80, 106, 21, 85", "95, 104, 4, 26"})
  void whatIsSkippedAtRandomCostsLittle(int readPercent, int bytes, int wasted, int waits) {
    Random random = new Random(readPercent);
    Cost cost = new Cost();
    for (int i = 0; i < 4 * FILES; i++) {
      StringBuilder pattern = new StringBuilder();
      while (pattern.length() < 12) {
        pattern.append(random.nextInt(100) < readPercent ? 'x' : '-');
      }
      cost.read("f" + i, pattern.toString());
    }
    cost.assertWithin(bytes, wasted, waits);
  }

  /** Queries of one table by turns. */
  @ParameterizedTest
  @CsvSource({
    "xxxxxxxxxxxx, x-----------, 103, 2, 34",
    "xxxxxxxxxxxx, xxxx--------, 102, 1, 28",
    "xx----xxxx--, --------xxxx, 103, 1, 34",
  })
  void patternsByTurnsCostLittle(String one, String other, int bytes, int wasted, int waits) {
    Cost cost = new Cost();
    for (int i = 0; i < 4 * FILES; i++) {
      cost.read("f" + i, i % 2 == 0 ? one : other);
    }
    cost.assertWithin(bytes, wasted, waits);
  }

  /** What was foreseen is no reason to run less far ahead. */
  @Test
  void groupsThatAreForeseenToBeSkippedLeaveTheWindowAsItIs() {
    Table table = new Table(48, 15, 256 << 10, 30_000, 0, 6, 12);
    Cost cost = new Cost();
    for (int i = 0; i < 8; i++) {
      cost.read(table, Reader.SEEKS, "f" + i, "x-".repeat(24));
    }
    cost.assertWithin(102, 1, 8);
  }

  /** A short look at one file takes a few groups in vain, and is soon forgotten. */
  @Test
  void oneLimitAmongScansCostsLittle() {
    Cost cost = new Cost();
    for (int i = 0; i < FILES; i++) {
      cost.read("f" + i, i % 8 == 7 ? "x-----------" : WHOLE);
    }
    cost.assertWithin(114, 13, 37);
  }

  /** Groups of many short runs are one guess of more than a ledger excuses. */
  @Test
  void oneLimitAmongScansOfLongGroupsCostsLittle() {
    Table table = new Table(12, 25, 768 << 10, 30_000, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22);
    Cost cost = new Cost();
    int unused = cost.read(table, Reader.VECTORS, "look", "x-----------");
    for (int i = 0; i < 8; i++) {
      assertThat(cost.read(table, Reader.VECTORS, "f" + i, WHOLE)).isLessThanOrEqualTo(3);
    }
  }

  /** Who reads one of the columns that another reads is not to pay for the rest each time. */
  @Test
  void wideAndNarrowReadersByTurnsEndTheGuesses() {
    int[] wide = IntStream.range(0, 30).toArray();
    long wasted = 0;
    for (int i = 0; i < FILES; i++) {
      Table table = new Table(1, 40, 1 << 20, 30_000, i % 2 == 0 ? wide : new int[] {3});
      Replay replay =
          new Replay(memory, ColumnarMode.AUTO, Split.KNOWN, null, Map.of("f", table.file()))
              .play(table.readOf("f", Reader.SEEKS));
      wasted += replay.counted.get(Counter.COLUMNAR_GROUP_WASTED_BYTES);
    }
    // 600 MiB are read; a few wrong guesses of 16 MiB tell, and one stream in 16 probes.
    assertThat(wasted).isLessThanOrEqualTo(80L << 20);
  }
}
