// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ByteRange;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Two groups of three columns; a chunk has 1,000 bytes, of which 100 are a dictionary page. */
class PickedPagesTest {
  private static final int COLUMNS = 3;
  private static final int CHUNK = 1000;
  private static final int INDEX = 200;
  private static final long INDEXES = 2 * COLUMNS * CHUNK;

  private final FileLayout layout = layout();
  private final PickedPages pages = new PickedPages(layout);

  private static FileLayout layout() {
    try {
      LayoutBuilder builder =
          new LayoutBuilder(FileLayout.Format.PARQUET, INDEXES + 2 * COLUMNS * INDEX, 2, COLUMNS);
      for (int chunk = 0; chunk < 2 * COLUMNS; chunk++) {
        builder.chunk(chunk / COLUMNS, chunk % COLUMNS, chunk * CHUNK, CHUNK, 100);
        builder.layout.offsetIndexes.set(chunk, INDEXES + chunk * INDEX, INDEX);
      }
      builder.layout.groupMark[1] = COLUMNS * CHUNK;
      return builder.build();
    } catch (MalformedException e) {
      throw new AssertionError(e);
    }
  }

  /** Pages of equal length in the first group, behind the dictionary, and of equally many rows. */
  private static byte[] index(int column, int count) {
    long[][] pages = new long[count][];
    for (int i = 0; i < count; i++) {
      int bytes = 900 / count;
      pages[i] = new long[] {i * (1200L / count), column * CHUNK + 100L + i * bytes, bytes};
    }
    return FooterWriter.offsetIndex(pages);
  }

  private static byte[] indexes(byte[]... each) {
    byte[] all = new byte[COLUMNS * INDEX];
    for (int column = 0; column < each.length; column++) {
      System.arraycopy(each[column], 0, all, column * INDEX, each[column].length);
    }
    return all;
  }

  private void read(int... columns) {
    for (int column : columns) {
      pages.onIndex(0, column);
    }
  }

  @Test
  void rowsOfOneColumnTellThePagesOfTheOthersAndTheirDictionaries() {
    read(0, 2);
    assertThat(pages.wants()).isEqualTo(ByteRange.ofLength(INDEXES, COLUMNS * INDEX));
    pages.onBytes(indexes(index(0, 6), index(1, 6), index(2, 4)));
    assertThat(pages.wants()).isNull();
    // Page 2 of 6, rows 400 to 600, lies in pages 1 of 4: rows 300 to 600.
    assertThat(pages.alike(400, 550))
        .containsExactly(new ByteRange(2000, 2100), new ByteRange(2325, 2550));
  }

  @Test
  void columnsWhoseIndexWasNotReadAreNotWanted() {
    read(0);
    pages.onBytes(indexes(index(0, 6), index(1, 6), index(2, 6)));
    assertThat(pages.alike(400, 550)).isEmpty();
  }

  @Test
  void nothingIsGuessedBeforeIndexesWereSeenNorOfOtherGroups() {
    read(0, 1);
    assertThat(pages.isKnown(0)).isFalse();
    assertThat(pages.alike(400, 550)).isEmpty();
    pages.onBytes(indexes(index(0, 6), index(1, 6), index(2, 6)));
    assertThat(pages.isKnown(0)).isTrue();
    assertThat(pages.isKnown(1)).isFalse();
    pages.onIndex(1, 0);
    assertThat(pages.isKnown(0)).isFalse();
    assertThat(pages.wants())
        .isEqualTo(ByteRange.ofLength(INDEXES + COLUMNS * INDEX, COLUMNS * INDEX));
  }

  @Test
  void aDictionaryAloneTellsNoRows() {
    read(0, 1);
    pages.onBytes(indexes(index(0, 6), index(1, 6), index(2, 6)));
    assertThat(pages.alike(0, 100)).isEmpty();
  }

  @Test
  void aColumnOfFewPagesTellsNothingOfOneThatIsCutFiner() {
    read(0, 1, 2);
    pages.onBytes(indexes(index(0, 2), index(1, 4), index(2, 5)));
    assertThat(pages.alike(100, 550))
        .containsExactly(new ByteRange(1000, 1100), new ByteRange(1100, 1550));
  }

  @Test
  void theColumnOfMostPagesHasTheLastWord() {
    read(0, 1, 2);
    pages.onBytes(indexes(index(0, 6), index(1, 3), index(2, 6)));
    // Rows 200 to 400: half of the page of rows 0 to 400, which is read next and tells no more.
    assertThat(pages.alike(250, 400)).hasSize(4).contains(new ByteRange(2250, 2400));
    assertThat(pages.alike(1000, 1400)).isEmpty();
  }

  @Test
  void indexesThatLieAreLeftAlone() {
    byte[][] lies = {
      FooterWriter.offsetIndex(new long[] {0, 900, 200}),
      FooterWriter.offsetIndex(new long[] {0, 1900, 200}),
      FooterWriter.offsetIndex(new long[] {0, 1100, 0}),
      FooterWriter.offsetIndex(new long[] {0, 1100, -5}),
      FooterWriter.offsetIndex(new long[] {0, Long.MAX_VALUE, 200}),
      FooterWriter.offsetIndex(new long[] {-1, 1100, 200}),
      FooterWriter.offsetIndex(new long[] {5, 1100, 200}, new long[] {5, 1300, 200}),
      FooterWriter.offsetIndex(new long[] {5, 1300, 200}, new long[] {6, 1100, 200}),
      {0x19, (byte) 0xFC, (byte) 0xFF, (byte) 0xFF, 0x03},
      {},
    };
    for (byte[] lie : lies) {
      PickedPages each = new PickedPages(layout);
      each.onIndex(0, 0);
      each.onIndex(0, 1);
      each.onBytes(indexes(index(0, 6), lie, index(2, 6)));
      assertThat(each.alike(400, 550)).as(Arrays.toString(lie)).isEmpty();
    }
  }

  @Test
  void damagedIndexesNameNothingOutsideTheChunks() {
    Random random = new Random(7);
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = indexes(index(0, 6), index(1, 5), index(2, 6));
      for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
        bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
      }
      PickedPages each = new PickedPages(layout);
      each.onIndex(0, 0);
      each.onIndex(0, 1);
      each.onIndex(0, 2);
      each.onBytes(bytes);
      long end = 550;
      for (ByteRange range : each.alike(400, end)) {
        assertThat(range.start()).isGreaterThanOrEqualTo(CHUNK);
        assertThat(range.end()).isLessThanOrEqualTo(COLUMNS * CHUNK);
      }
    }
  }
}
