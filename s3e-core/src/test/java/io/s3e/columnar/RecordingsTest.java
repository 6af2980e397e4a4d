// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.columnar.Replay.Split;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.testing.Slow;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the planners make of recorded readers, in the virtual time of {@link Replay}. The bounds on
 * time and bytes are those of a model that was made of these recordings before there was a planner.
 */
class RecordingsTest {
  private static final double ROUNDING = 0.005;

  /** Time of the first file of a table to that of those that follow. */
  private static final double MOST_OF_FIRST_FILE = 1.6;

  /** After the last byte of the last row group of each file, whatever the recording. */
  private static final long END_OF_DATA = 21446855;

  /**
   * Fetches that a reader waits for one after the other, milliseconds blocked, bytes fetched over
   * bytes read: with the split known, and not known. Other files of the place were read before, and
   * with the split known one of the table: the first one does not show before its second group that
   * its reader goes on.
   */
  @Slow
  @ParameterizedTest
  @CsvSource({
    "parquet-java-1.16.0_four,        2, 103, 1.25,  2, 205, 1.25",
    "spark-4.1.4_four,                2, 103, 1.25,  2, 205, 1.25",
    "iceberg-1.10.1_four,             2, 103, 1.25,  2, 205, 1.25",
    "parquet-java-1.13.1_four,        3, 133, 1.25,  3, 205, 1.25",
    "iceberg-1.9.2_four,              3, 133, 1.25,  3, 205, 1.25",
    "spark-3.5.9_four,                3, 133, 1.25,  3, 205, 1.25",
    "parquet-java-1.16.0_one,         2, 103, 1.28,  2, 205, 1.28",
    "parquet-java-1.16.0_dictionary,  3, 103, 2.56,  3, 103, 2.56",
    "parquet-java-1.13.1_dictionary,  4, 133, 2.56,  4, 133, 2.56",
    "iceberg-1.10.1_dictionary,       3, 163, 2.69,  3, 163, 2.69",
    "parquet-java-1.16.0_bloom,       2,  95, 1.05,  2,  95, 1.05",
    "parquet-java-1.13.1_bloom,       2,  95, 1.05,  2,  95, 1.05",
    "parquet-java-1.16.0_pageindex,   3, 110, 1.19,  3, 110, 1.19",
    "spark-4.1.4_pageindex,           3, 110, 1.19,  3, 110, 1.19",
    "parquet-java-1.13.1_pageindex,   2, 110, 1.19,  2, 110, 1.19",
    "spark-3.5.9_pageindex,           2, 110, 1.19,  2, 110, 1.19",
    "iceberg-1.9.2_filter,            4, 132, 1.38,  4, 132, 1.38",
    "parquet-java-1.16.0_pageindex-none, 4, 171, 1.32, 4, 210, 1.32",
    "iceberg-1.10.1_filter,           3, 103, 1.38,  3, 103, 1.38",
    "iceberg-1.10.1_split2of4,        2, 103, 1.28,  2, 107, 1.92",
    "parquet-java-1.16.0_split2of4,   2, 103, 1.28,  2, 107, 1.92",
    "parquet-java-1.13.1_split2of4,   3, 133, 1.28,  3, 133, 1.92",
    "parquet-java-1.16.0_split2of2,   2, 103, 1.29,  2, 133, 1.29",
    "parquet-java-1.16.0_small,       6, 213, 4.77,  6, 213, 4.77",
    "spark-3.5.9_table,               9, 300, 1.57,  9, 300, 1.57",
    "spark-3.5.9_splits,              5, 185, 1.25,  4, 225, 1.25",
    "spark-4.1.4_splits,              4, 160, 1.25,  3, 195, 1.25",
    "parquet-java-1.16.0_count,       1,  32, 2.87,  1,  32, 2.87",
    "parquet-java-1.16.0_splitempty,  1,  32, 2.87,  1,  32, 2.87",
    "orc-2.2.2_four,                  3, 105, 1.57,  3, 185, 1.57",
    "orc-1.9.8_four,                  4, 135, 1.51,  4, 210, 1.51",
    "orc-2.2.2_one,                   3, 100, 1.63,  3, 170, 1.63",
    "orc-1.9.8_one,                   3, 100, 1.63,  3, 170, 1.63",
    "orc-2.2.2_split2of4,             3, 105, 1.59,  3, 150, 2.60",
    "orc-2.2.2_filter,                4, 130, 5.20,  4, 130, 5.20",
    "orc-1.9.8_filter,                6, 225, 5.36,  6, 225, 5.36",
    "orc-2.2.2_bloom,                 3,  95, 2.45,  3,  95, 2.45",
    "orc-1.9.8_bloom,                 3, 126, 2.45,  3, 126, 2.45",
    "orc-2.2.2_count,                 1,  32, 4.84,  1,  32, 4.84",
  })
  void readersWaitForFewFetchesAndFetchLittleForNothing(
      String name,
      int fetches,
      double millis,
      double overFetch,
      int fetchesUnknown,
      double millisUnknown,
      double overFetchUnknown) {
    LayoutMemory memory = RecordingsTable.memoryOfLikeFiles(name);
    assertBounds(
        RecordingsTable.replay(name, ColumnarMode.AUTO, Split.KNOWN, memory),
        fetches,
        millis * MOST_OF_FIRST_FILE,
        overFetch);
    assertBounds(
        RecordingsTable.replay(name, "next-", ColumnarMode.AUTO, Split.KNOWN, memory),
        fetches,
        millis,
        overFetch);
    memory = RecordingsTable.memoryOfLikeFiles(name);
    assertBounds(
        RecordingsTable.replay(name, ColumnarMode.AUTO, Split.UNKNOWN, memory),
        fetchesUnknown,
        millisUnknown,
        overFetchUnknown);
  }

  /** A footer of 230 KB in a file of 9 MB is longer than one part in a hundred. */
  @ParameterizedTest
  @CsvSource({
    "parquet-java-1.16.0_wide, 3, 129, 4.72, 3, 222, 4.72",
    "parquet-java-1.13.1_wide, 4, 129, 4.72, 4, 222, 4.72",
  })
  void aLongFooterCostsARoundTripOnce(
      String name,
      int fetches,
      double millis,
      double overFetch,
      int fetchesUnknown,
      double millisUnknown,
      double overFetchUnknown) {
    LayoutMemory memory = new LayoutMemory();
    assertBounds(
        RecordingsTable.replay(name, ColumnarMode.AUTO, Split.KNOWN, memory),
        fetches,
        millis * MOST_OF_FIRST_FILE,
        overFetch);
    assertBounds(
        RecordingsTable.replay(name, ColumnarMode.AUTO, Split.UNKNOWN, new LayoutMemory()),
        fetchesUnknown,
        millisUnknown,
        overFetchUnknown);
    assertThat(RecordingsTable.replay(name, ColumnarMode.AUTO, Split.KNOWN, memory).dependent)
        .isLessThan(fetches);
  }

  private static void assertBounds(Replay replay, int fetches, double millis, double overFetch) {
    String log = String.join("\n", replay.log);
    assertThat(replay.dependent).as(log).isLessThanOrEqualTo(fetches);
    assertThat(replay.blockedMillis()).as(log).isLessThanOrEqualTo(millis);
    assertThat(replay.overFetch()).as(log).isLessThanOrEqualTo(overFetch + ROUNDING);
  }

  /** Readers that need few groups, or none: no block of columns is fetched that they do not ask. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "parquet-java-1.13.1_count",
        "parquet-java-1.16.0_count",
        "spark-3.5.9_count",
        "spark-4.1.4_count",
        "parquet-java-1.13.1_splitempty",
        "parquet-java-1.16.0_splitempty",
        "parquet-java-1.13.1_pageindex",
        "parquet-java-1.16.0_pageindex",
        "spark-3.5.9_pageindex",
        "spark-4.1.4_pageindex",
        "iceberg-1.9.2_filter",
        "iceberg-1.10.1_filter",
        "parquet-java-1.16.0_dictionary",
        "parquet-java-1.16.0_bloom",
      })
  void nothingOfColumnsIsFetchedForNothing(String name) {
    for (Split split : Split.values()) {
      Replay replay = RecordingsTable.replay(name, ColumnarMode.AUTO, split, new LayoutMemory());
      assertThat(replay.unusedBlocksBefore(END_OF_DATA)).as(String.join("\n", replay.log)).isZero();
    }
  }

  /** Page indexes take no longer than they took readers that were read ahead of. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "parquet-java-1.13.1_pageindex",
        "spark-3.5.9_pageindex",
        "parquet-java-1.16.0_pageindex",
        "spark-4.1.4_pageindex",
      })
  void pagesArePickedAsFastAsBefore(String name) {
    Replay before =
        RecordingsTable.replay(name, ColumnarMode.OFF, Split.UNKNOWN, new LayoutMemory());
    LayoutMemory memory = RecordingsTable.memoryOfLikeFiles(name);
    Replay replay = RecordingsTable.replay(name, ColumnarMode.AUTO, Split.UNKNOWN, memory);
    assertThat(replay.blockedMillis()).isLessThanOrEqualTo(before.blockedMillis());
    assertThat(replay.fetchedBlocks()).isLessThanOrEqualTo(before.fetchedBlocks());
  }

  /** But for the tail of the first file of a place. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "parquet-java-1.13.1_pageindex",
        "spark-3.5.9_pageindex",
        "parquet-java-1.16.0_dictionary",
        "parquet-java-1.16.0_bloom",
        "parquet-java-1.16.0_pageindex",
        "iceberg-1.10.1_filter",
        "iceberg-1.10.1_dictionary",
      })
  void filtersTakeTwoBlocksMoreAtMost(String name) {
    int before =
        RecordingsTable.replay(name, ColumnarMode.OFF, Split.UNKNOWN, new LayoutMemory())
            .fetchedBlocks();
    LayoutMemory memory = RecordingsTable.memoryOfLikeFiles(name);
    assertThat(RecordingsTable.replay(name, ColumnarMode.AUTO, Split.KNOWN, memory).fetchedBlocks())
        .isLessThanOrEqualTo(before + 2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"parquet-java-1.16.0_four", "spark-3.5.9_splits", "orc-1.9.8_four"})
  void observedReadersAreReadAsBefore(String name) {
    LayoutMemory memory = new LayoutMemory();
    Replay observed = RecordingsTable.replay(name, ColumnarMode.OBSERVE, Split.KNOWN, memory);
    Replay off = RecordingsTable.replay(name, ColumnarMode.OFF, Split.KNOWN, new LayoutMemory());
    assertThat(observed.log).isEqualTo(off.log);
    assertThat(observed.fetchedBlocks()).isEqualTo(off.fetchedBlocks());
    assertThat(observed.counted.get(Counter.COLUMNAR_GROUP_USED_BYTES)).isPositive();
    assertThat(off.counted.snapshot().values()).containsOnly(0L);
  }

  /** The same calls give the same answers. */
  @ParameterizedTest
  @ValueSource(strings = {"parquet-java-1.13.1_dictionary", "spark-3.5.9_table"})
  void sameReadsSamePlans(String name) {
    Replay first = RecordingsTable.replay(name, ColumnarMode.AUTO, Split.KNOWN, new LayoutMemory());
    Replay second =
        RecordingsTable.replay(name, ColumnarMode.AUTO, Split.KNOWN, new LayoutMemory());
    assertThat(first.log).isEqualTo(second.log);
  }
}
