// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.ByteRange;
import io.s3e.columnar.Recording.Call;
import io.s3e.columnar.Recording.Kind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/**
 * Parquet files of a table, all alike, and how a reader of some columns reads one: its footer, then
 * group by group.
 *
 * @param footer bytes of the footer and what is behind it
 */
record Table(int groups, int columns, int chunk, int footer, int... wanted) {
  /** How a reader goes to the columns of a group. */
  enum Reader {
    VECTORS,
    SEEKS
  }

  long size() {
    return 4 + (long) groups * columns * chunk + footer;
  }

  ByteRange wanted(int group, int column) {
    return ByteRange.ofLength(4 + ((long) group * columns + column) * chunk, chunk);
  }

  /** Reads the footer and then the data, by one stream. */
  Recording readOf(String file, Reader reader) {
    return readOf(file, reader, "x".repeat(groups));
  }

  /** Reads the footer and then the groups that have an x. */
  Recording readOf(String file, Reader reader, String pattern) {
    List<Call> calls = footerReads();
    calls.addAll(dataReads(reader, pattern));
    return stream(file, reader, calls);
  }

  /** Reads the data alone: the footer was read by another stream. */
  Recording dataOf(String file, Reader reader) {
    return stream(file, reader, dataReads(reader, "x".repeat(groups)));
  }

  private Recording stream(String file, Reader reader, List<Call> reads) {
    boolean vectors = reader == Reader.VECTORS;
    List<Call> calls = new ArrayList<>();
    calls.add(new Call(Kind.OPEN, "s", file, size(), vectors, null, List.of()));
    calls.addAll(reads);
    calls.add(new Call(Kind.CLOSE, "s", "", 0, vectors, null, List.of()));
    return new Recording(file, calls);
  }

  private List<Call> footerReads() {
    List<Call> calls = new ArrayList<>();
    add(calls, Kind.READ, new ByteRange(size() - 8, size()));
    add(calls, Kind.READ, new ByteRange(size() - footer, size() - 8));
    return calls;
  }

  private List<Call> dataReads(Reader reader, String pattern) {
    List<Call> calls = new ArrayList<>();
    for (int group = 0; group < groups; group++) {
      if (pattern.charAt(group) != 'x') {
        continue;
      }
      List<ByteRange> ranges = new ArrayList<>();
      for (int column : wanted) {
        ranges.add(wanted(group, column));
      }
      if (reader == Reader.VECTORS && !ranges.isEmpty()) {
        add(calls, Kind.VECTORED, ranges.toArray(ByteRange[]::new));
      } else {
        ranges.forEach(range -> add(calls, Kind.READ, range));
      }
    }
    return calls;
  }

  private static void add(List<Call> calls, Kind kind, ByteRange... ranges) {
    calls.add(new Call(kind, "s", "", 0, true, null, List.of(ranges)));
  }

  RecordedFiles.File file() {
    return file(chunks -> {});
  }

  FileLayout layout() throws MalformedException {
    RecordedFiles.File file = file();
    ByteRange bytes = FileTail.of(ParquetFooterTest.lastBytes(file), file.size()).footer();
    return ParquetFooter.parse(file.bytes(bytes.start(), bytes.end()), bytes.start());
  }

  /** The columns of the schema stand in the opposite order. */
  RecordedFiles.File fileInReverse() {
    return file(Collections::reverse);
  }

  private RecordedFiles.File file(Consumer<List<FooterWriter.Chunk>> order) {
    List<String> names = new ArrayList<>();
    List<List<FooterWriter.Chunk>> all = new ArrayList<>();
    for (int column = 0; column < columns; column++) {
      names.add("c" + column);
    }
    for (int group = 0; group < groups; group++) {
      List<FooterWriter.Chunk> chunks = new ArrayList<>();
      for (int column = 0; column < columns; column++) {
        long start = wanted(group, column).start();
        chunks.add(new FooterWriter.Chunk(null, start, chunk, null, 0, null, 0, null, null));
      }
      order.accept(chunks);
      all.add(chunks);
    }
    byte[] bytes = FooterWriter.write(names, all, footer - 8);
    return new RecordedFiles.File(size(), RecordedFiles.parquetTail(bytes));
  }
}
