// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.testing.Slow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ParquetFooterTest {
  private static FileLayout parse(RecordedFiles.File file) throws MalformedException {
    FileTail tail = FileTail.of(lastBytes(file), file.size());
    ByteRange footer = tail.footer();
    return tail.layout(
        file.bytes(footer.start(), footer.end()),
        new OrcCodecs(ClassLoader.getSystemClassLoader()));
  }

  static byte[] lastBytes(RecordedFiles.File file) {
    return file.bytes(file.size() - FileTail.LAST_BYTES, file.size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"lineitem", "wide", "small-part-00000", "table-part-00000"})
  void realFootersSayWhatParquetJavaReadsOfThem(String name) throws Exception {
    FileLayout layout = parse(RecordedFiles.parquet(name));
    assertSame(layout, name);
    assertThat(layout.footerStart)
        .isEqualTo(RecordedFiles.header(name)[0] - 8 - RecordedFiles.header(name)[1]);
  }

  @ParameterizedTest
  @ValueSource(strings = {"lineitem", "wide", "table-part-00002"})
  void writtenFootersSayTheSame(String name) throws Exception {
    assertSame(parse(RecordedFiles.parquetLike(name)), name);
  }

  private static void assertSame(FileLayout layout, String name) {
    List<List<FooterWriter.Chunk>> groups = RecordedFiles.chunks(name);
    assertThat(layout.groups).isEqualTo(groups.size());
    assertThat(layout.columns).isEqualTo(groups.get(0).size());
    for (int group = 0; group < groups.size(); group++) {
      for (int column = 0; column < layout.columns; column++) {
        FooterWriter.Chunk chunk = groups.get(group).get(column);
        long start = chunk.dictionary() == null ? chunk.data() : chunk.dictionary();
        assertThat(layout.chunk(group, column))
            .isEqualTo(ByteRange.ofLength(start, chunk.compressed()));
        assertThat(layout.dictionary(group, column)).isEqualTo(new ByteRange(start, chunk.data()));
        assertThat(layout.columnIndexes.rangeOf(group, column))
            .isEqualTo(ByteRange.ofLength(chunk.columnIndex(), chunk.columnIndexLength()));
        assertThat(layout.offsetIndexes.rangeOf(group, column))
            .isEqualTo(ByteRange.ofLength(chunk.offsetIndex(), chunk.offsetIndexLength()));
        assertThat(layout.bloomFilters.rangeOf(group, column).isEmpty())
            .isEqualTo(chunk.bloom() == null);
      }
    }
  }

  @Test
  void aFileWithoutRowsHasALayoutWithoutGroups() throws Exception {
    FileLayout layout = ParquetFooter.parse(FooterWriter.write(List.of("a"), List.of(), 0), 4);
    assertThat(layout.groups).isZero();
    assertThat(layout.dataEnd()).isEqualTo(4);
    assertThat(layout.at(3).part()).isEqualTo(FileLayout.FilePart.NOWHERE);
    assertThat(layout.at(4).part()).isEqualTo(FileLayout.FilePart.FOOTER);
  }

  @Test
  void aBloomFilterWithoutLengthEndsWhereTheNextBegins() throws Exception {
    FileLayout layout = parse(RecordedFiles.parquet("lineitem"));
    assertThat(layout.bloomFilters.rangeOf(0, 1)).isEqualTo(new ByteRange(21463085, 21528638));
    assertThat(layout.bloomFilters.rangeOf(8, 1).end()).isEqualTo(layout.footerStart);
  }

  @Test
  void everyOffsetHasItsPlace() throws Exception {
    FileLayout layout = parse(RecordedFiles.parquet("lineitem"));
    assertThat(layout.at(4).part()).isEqualTo(FileLayout.FilePart.DICTIONARY);
    assertThat(layout.at(56739).part()).isEqualTo(FileLayout.FilePart.DATA);
    assertThat(layout.at(149650)).matches(place -> place.column() == 1 && place.group() == 0);
    assertThat(layout.at(2529420)).matches(place -> place.column() == 0 && place.group() == 1);
    assertThat(layout.at(21446855).part()).isEqualTo(FileLayout.FilePart.COLUMN_INDEX);
    assertThat(layout.at(21457288).part()).isEqualTo(FileLayout.FilePart.OFFSET_INDEX);
    assertThat(layout.at(21528638)).matches(place -> place.group() == 1);
    assertThat(layout.at(0).part()).isEqualTo(FileLayout.FilePart.NOWHERE);
    assertThat(layout.at(22053062).part()).isEqualTo(FileLayout.FilePart.FOOTER);
  }

  @Test
  void aGroupBelongsToTheSplitThatHoldsItsMiddle() throws Exception {
    FileLayout layout = parse(RecordedFiles.parquet("lineitem"));
    ByteRange secondQuarter = new ByteRange(22070665 / 4, 22070665 / 2);
    assertThat(layout.groupFrom(secondQuarter.start())).isEqualTo(2);
    assertThat(layout.groupFrom(secondQuarter.end())).isEqualTo(4);
    assertThat(layout.groupFrom(0)).isZero();
    assertThat(layout.groupFrom(1264712)).isZero();
    assertThat(layout.groupFrom(1264713)).isEqualTo(1);
  }

  /** It is wrong in files of several writers, and readers count from the first column. */
  @ParameterizedTest
  @ValueSource(strings = {"lineitem", "wide"})
  void theOffsetThatAGroupTellsOfItselfIsNotBelieved(String name) throws Exception {
    FileLayout real = parse(RecordedFiles.parquet(name));
    FileLayout lying = parse(RecordedFiles.parquetLike(name));
    for (int group = 0; group < real.groups; group++) {
      long mark = real.groupMark[group];
      for (ByteRange split : List.of(new ByteRange(0, mark), new ByteRange(0, mark + 1))) {
        assertThat(lying.groupFrom(split.end())).isEqualTo(real.groupFrom(split.end()));
      }
    }
  }

  @Test
  void manyFiltersOfUntoldLengthTakeNoLongerEach() throws Exception {
    List<List<FooterWriter.Chunk>> groups = new ArrayList<>();
    for (int group = 0; group < 100_000; group++) {
      long start = 4L + 4L * group;
      groups.add(
          List.of(
              new FooterWriter.Chunk(null, start, 4, null, 0, null, 0, 1_000_000L + group, null)));
    }
    byte[] footer = FooterWriter.write(List.of("a"), groups, 0);
    FileLayout layout =
        assertTimeoutPreemptively(
            Duration.ofSeconds(20), () -> ParquetFooter.parse(footer, 2_000_000));
    assertThat(layout.bloomFilters.rangeOf(99_998, 0))
        .isEqualTo(new ByteRange(1_099_998, 1_099_999));
  }

  @Test
  void filesOfOneSchemaHaveOneHash() throws Exception {
    long schema = parse(RecordedFiles.parquetLike("table-part-00001")).schema;
    assertThat(parse(RecordedFiles.parquetLike("table-part-00002")).schema).isEqualTo(schema);
    assertThat(parse(RecordedFiles.parquetLike("wide")).schema).isNotEqualTo(schema);
  }

  @Test
  @Slow
  void everyTruncationIsRefused() {
    for (String name : List.of("lineitem", "small-part-00000")) {
      byte[] footer = footerOf(name);
      for (int length = 0; length < footer.length; length++) {
        byte[] cut = Arrays.copyOf(footer, length);
        assertThatThrownBy(() -> ParquetFooter.parse(cut, 22053062))
            .isInstanceOf(MalformedException.class);
      }
    }
  }

  static byte[] footerOf(String name) {
    byte[] bytes = RecordedFiles.resource("files/" + name + ".footer");
    return Arrays.copyOf(bytes, bytes.length - 8);
  }

  private static FooterWriter.Chunk chunk(long data, long compressed) {
    return new FooterWriter.Chunk(null, data, compressed, null, 0, null, 0, null, null);
  }

  private static FileLayout written(List<List<FooterWriter.Chunk>> groups)
      throws MalformedException {
    byte[] footer = FooterWriter.write(List.of("a", "b"), groups, 0);
    return ParquetFooter.parse(footer, 10_000);
  }

  @Test
  void whatCannotBeIsRefused() throws Exception {
    assertThat(written(List.of(List.of(chunk(4, 100), chunk(104, 9896)))).groups).isEqualTo(1);
    List<List<List<FooterWriter.Chunk>>> lies =
        List.of(
            List.of(List.of(chunk(4, 100), chunk(104, 9897))),
            List.of(List.of(chunk(4, 100), chunk(20_000, 1))),
            List.of(List.of(chunk(4, 100), chunk(-5, 1))),
            List.of(List.of(chunk(4, 100), chunk(104, -1))),
            List.of(List.of(chunk(4, 100), chunk(104, Long.MAX_VALUE))),
            List.of(List.of(chunk(4, Long.MIN_VALUE), chunk(104, 1))),
            List.of(List.of(chunk(4, 101), chunk(104, 1))),
            List.of(List.of(chunk(104, 10), chunk(4, 101))),
            List.of(List.of(chunk(4, 10), chunk(14, 10)), List.of(chunk(20, 10), chunk(30, 1))),
            List.of(List.of(chunk(4, 10), chunk(14, 10)), List.of(chunk(30, 10))),
            List.of(List.of(), List.of()));
    for (List<List<FooterWriter.Chunk>> lie : lies) {
      assertThatThrownBy(() -> written(lie)).as("%s", lie).isInstanceOf(MalformedException.class);
    }
  }

  @Test
  void chunksInAnotherOrderAreFound() throws Exception {
    FileLayout layout = written(List.of(List.of(chunk(104, 10), chunk(4, 100))));
    assertThat(layout.group(0)).isEqualTo(new ByteRange(4, 114));
    assertThat(layout.columnAt(0, 4)).isEqualTo(1);
    assertThat(layout.columnAt(0, 103)).isEqualTo(1);
    assertThat(layout.columnAt(0, 104)).isZero();
    assertThat(layout.columnAt(0, 114)).isNegative();
  }

  /** They are looked for one by one, under a lock of the stream. */
  @Test
  void manyChunksInAnotherOrderAreRefused() throws Exception {
    List<String> names = IntStream.rangeClosed(0, 2_000).mapToObj(i -> "column" + i).toList();
    List<FooterWriter.Chunk> chunks = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      chunks.add(chunk(4 + 4 * i, 4));
    }
    byte[] inOrder = FooterWriter.write(names, List.of(chunks), 0);
    assertThat(ParquetFooter.parse(inOrder, 10_000).columns).isEqualTo(2_001);
    Collections.swap(chunks, 0, 1);
    byte[] swapped = FooterWriter.write(names, List.of(chunks), 0);
    assertThatThrownBy(() -> ParquetFooter.parse(swapped, 10_000))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("out of order");
  }

  @Test
  void fiveThousandGroupsOf16ColumnsAreRemembered() {
    FileLayout layout = new FileLayout(FileLayout.Format.PARQUET, 10_000, 5_000, 16);
    assertThat(5_000 * 16).isLessThanOrEqualTo(FileLayout.MAX_CHUNKS);
    ObjectVersion version = ObjectVersion.identified(new ObjectRef("b", "k"), 10_000, "e", null);
    LayoutMemory memory = new LayoutMemory();
    assertThat(memory.keep(version, layout)).isSameAs(layout);
    assertThat(memory.layout(version)).isSameAs(layout);
  }

  @Test
  void filtersAndIndexesOutsideTheDataAreRefused() {
    for (long start : new long[] {-1, 9_999, 10_001, Long.MAX_VALUE}) {
      for (int which = 0; which < 3; which++) {
        FooterWriter.Chunk lie =
            new FooterWriter.Chunk(
                null,
                4,
                10,
                which == 0 ? start : null,
                5,
                which == 1 ? start : null,
                5,
                which == 2 ? start : null,
                5);
        assertThatThrownBy(() -> written(List.of(List.of(lie, chunk(14, 1)))))
            .isInstanceOf(MalformedException.class);
      }
    }
  }

  @Test
  void countsAreBelievedAsFarAsThereAreBytes() {
    byte[] many = {
      0x49, // row groups: a list
      (byte) 0xFC, // of as many structs as follow
      (byte) 0xFF,
      (byte) 0xFF,
      (byte) 0xFF,
      (byte) 0xFF,
      0x07
    };
    assertThatThrownBy(() -> ParquetFooter.parse(many, 1000))
        .isInstanceOf(MalformedException.class)
        .hasMessage("more elements than bytes");
  }

  @Test
  void deepNestingIsRefused() {
    byte[] nested = new byte[100_000];
    Arrays.fill(nested, (byte) 0x1C);
    assertThatThrownBy(() -> ParquetFooter.parse(nested, 1000))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("nested deeper");
    Arrays.fill(nested, (byte) 0x19);
    assertThatThrownBy(() -> ParquetFooter.parse(nested, 1000))
        .isInstanceOf(MalformedException.class);
  }

  @Test
  void layoutsTakeWhatTheySay() throws Exception {
    FileLayout layout = parse(RecordedFiles.parquet("wide"));
    assertThat(FileLayout.CHUNK_BYTES).isLessThanOrEqualTo(64);
    assertThat(layout.weight()).isLessThan(7 * 300 * 64);
  }
}
