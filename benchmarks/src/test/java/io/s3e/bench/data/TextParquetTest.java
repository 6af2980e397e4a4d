// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.io.LocalInputFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** parquet-java finds in these files what was to be in them. */
@Slow
class TextParquetTest {

  @TempDir private Path temp;

  private static List<BlockMetaData> groups(Path file) throws IOException {
    try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(file))) {
      return List.copyOf(reader.getRowGroups());
    }
  }

  private static String name(ColumnChunkMetaData chunk) {
    return chunk.getPath().toDotString();
  }

  private Path write(TextParquet parquet) throws IOException {
    Path file = temp.resolve("x.parquet");
    List<Long> progress = new ArrayList<>();
    parquet.write(file, progress::add);
    assertThat(progress).isSorted().last().isEqualTo(parquet.textBytes());
    try (var left = Files.list(temp)) {
      assertThat(left).containsExactly(file);
    }
    return file;
  }

  @Test
  void columnChunksFollowEachOtherAndHaveTheSizesOfLineitem() throws Exception {
    Path file = write(TextParquet.lineItem(2_000_000));

    List<BlockMetaData> groups = groups(file);
    assertThat(groups).hasSize(2);
    long end = 4;
    for (BlockMetaData group : groups) {
      assertThat(group.getColumns()).hasSize(16);
      for (ColumnChunkMetaData chunk : group.getColumns()) {
        assertThat(chunk.getStartingPos()).isEqualTo(end);
        assertThat(chunk.getTotalSize()).isPositive();
        end += chunk.getTotalSize();
        if (chunk.hasDictionaryPage()) {
          assertThat(chunk.getDictionaryPageOffset()).isEqualTo(chunk.getStartingPos());
          assertThat(chunk.getFirstDataPageOffset())
              .isGreaterThan(chunk.getStartingPos())
              .isLessThan(end);
        }
      }
      assertThat(group.getColumns().get(5).getTotalSize()).isEqualTo(153_000);
    }
    assertThat(groups.get(0).getColumns())
        .filteredOn(ColumnChunkMetaData::hasDictionaryPage)
        .extracting(TextParquetTest::name)
        .contains("l_discount", "l_shipdate")
        .doesNotContain("l_orderkey", "l_comment");
    assertThat(end).isEqualTo(2_000_004).isLessThan(Files.size(file));
  }

  @Test
  void wideFilesHaveThreeHundredColumns() throws Exception {
    List<BlockMetaData> groups = groups(write(TextParquet.wide(130 << 20)));

    assertThat(groups).as("of 64 MiB and more").hasSize(2);
    assertThat(groups.get(1).getColumns())
        .hasSize(300)
        .extracting(TextParquetTest::name)
        .containsAll(TextParquet.TWO_OF_WIDE);
  }

  @Test
  void noTwoChunksAreAlike() throws Exception {
    Path file = write(TextParquet.lineItem(6 << 20));

    byte[] bytes = Files.readAllBytes(file);
    List<ColumnChunkMetaData> first = groups(file).get(0).getColumns();
    List<ColumnChunkMetaData> second = groups(file).get(1).getColumns();
    for (int i = 0; i < first.size(); i++) {
      int at = (int) first.get(i).getStartingPos();
      int other = (int) second.get(i).getStartingPos();
      assertThat(Arrays.compare(bytes, at, at + 4_000, bytes, other, other + 4_000)).isNotZero();
    }
  }

  @Test
  void aPackHoldsWholeFilesOfOneRowGroup() throws Exception {
    Path pack = temp.resolve("pack");
    List<ObjectSlice> objects = ParquetPack.write(pack, "s3a://b/d/", 4, written -> {});

    byte[] bytes = Files.readAllBytes(pack);
    assertThat(objects).hasSize(4);
    long end = 0;
    for (ObjectSlice object : objects) {
      assertThat(object.uri()).startsWith("s3a://b/d/part-").endsWith(".parquet");
      assertThat(object.reference()).isEqualTo(end);
      end += object.length();
      Path one = temp.resolve("one.parquet");
      Files.write(one, Arrays.copyOfRange(bytes, (int) object.reference(), (int) end));
      assertThat(groups(one)).hasSize(1);
      assertThat(object.length()).isBetween(256L << 10, (4L << 20) + 8192);
    }
    assertThat(end).isEqualTo(bytes.length);
  }

  @Test
  void columnsNeedRoom() {
    assertThatThrownBy(() -> TextParquet.wide(100))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("300 columns");
  }
}
