// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** Writes Parquet footers by Thrift's compact protocol, as far as tests need them. */
final class FooterWriter {
  /** What a chunk's metadata say; null for what they leave out. */
  record Chunk(
      Long dictionary,
      long data,
      long compressed,
      Long columnIndex,
      int columnIndexLength,
      Long offsetIndex,
      int offsetIndexLength,
      Long bloom,
      Integer bloomLength) {}

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final Deque<Integer> outer = new ArrayDeque<>();
  private int last;

  /**
   * A footer without what stands behind it.
   *
   * @param length its length in bytes; 0 for as long as it comes out
   */
  static byte[] write(List<String> columns, List<List<Chunk>> groups, int length) {
    int bare = new FooterWriter().file(columns, groups, 0).length;
    if (length == 0) {
      return new FooterWriter().file(columns, groups, 0);
    }
    for (int padding = Math.max(0, length - bare - 4); padding <= length - bare; padding++) {
      byte[] footer = new FooterWriter().file(columns, groups, padding);
      if (footer.length == length) {
        return footer;
      }
    }
    throw new IllegalArgumentException("no footer of " + length + " bytes: it takes " + bare);
  }

  /**
   * The offset index of a chunk.
   *
   * @param pages first row, offset and length of each
   */
  static byte[] offsetIndex(long[]... pages) {
    FooterWriter writer = new FooterWriter();
    writer.field(1, CompactReader.LIST);
    writer.list(pages.length, CompactReader.STRUCT);
    for (long[] page : pages) {
      writer.begin();
      writer.integer(1, CompactReader.I64, page[1]);
      writer.integer(2, CompactReader.I32, page[2]);
      writer.integer(3, CompactReader.I64, page[0]);
      writer.end();
    }
    writer.end();
    return writer.out.toByteArray();
  }

  private byte[] file(List<String> columns, List<List<Chunk>> groups, int padding) {
    integer(1, CompactReader.I32, 1);
    field(2, CompactReader.LIST);
    list(columns.size() + 1, CompactReader.STRUCT);
    for (int i = 0; i <= columns.size(); i++) {
      begin();
      text(4, i == 0 ? "schema" : columns.get(i - 1));
      end();
    }
    integer(3, CompactReader.I64, 1000);
    field(4, CompactReader.LIST);
    list(groups.size(), CompactReader.STRUCT);
    groups.forEach(this::group);
    text(6, "x".repeat(padding));
    end();
    return out.toByteArray();
  }

  private void group(List<Chunk> chunks) {
    begin();
    field(1, CompactReader.LIST);
    list(chunks.size(), CompactReader.STRUCT);
    chunks.forEach(this::chunk);
    integer(2, CompactReader.I64, chunks.stream().mapToLong(Chunk::compressed).sum() * 2);
    if (!chunks.isEmpty()) {
      // As Arrow before 6 has it: where the group's first chunk ends.
      Chunk first = chunks.get(0);
      long start = first.dictionary == null ? first.data : first.dictionary;
      integer(5, CompactReader.I64, start + first.compressed);
    }
    end();
  }

  private void chunk(Chunk chunk) {
    begin();
    integer(2, CompactReader.I64, 0);
    field(3, CompactReader.STRUCT);
    begin();
    integer(1, CompactReader.I32, 1);
    integer(7, CompactReader.I64, chunk.compressed);
    integer(9, CompactReader.I64, chunk.data);
    optional(11, chunk.dictionary);
    optional(14, chunk.bloom);
    optional(15, chunk.bloomLength == null ? null : (long) chunk.bloomLength);
    end();
    optional(4, chunk.offsetIndex);
    optional(5, chunk.offsetIndex == null ? null : (long) chunk.offsetIndexLength);
    optional(6, chunk.columnIndex);
    optional(7, chunk.columnIndex == null ? null : (long) chunk.columnIndexLength);
    end();
  }

  private void optional(int id, Long value) {
    if (value != null) {
      integer(id, CompactReader.I64, value);
    }
  }

  private void begin() {
    outer.push(last);
    last = 0;
  }

  private void end() {
    out.write(0);
    last = outer.isEmpty() ? 0 : outer.pop();
  }

  private void field(int id, int type) {
    int delta = id - last;
    if (delta > 0 && delta < 16) {
      out.write(delta << 4 | type);
    } else {
      out.write(type);
      varint((long) id << 1);
    }
    last = id;
  }

  private void list(int size, int type) {
    if (size < 15) {
      out.write(size << 4 | type);
    } else {
      out.write(0xF0 | type);
      varint(size);
    }
  }

  private void integer(int id, int type, long value) {
    field(id, type);
    varint(value << 1 ^ value >> 63);
  }

  private void text(int id, String value) {
    field(id, CompactReader.BINARY);
    byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
    varint(bytes.length);
    out.writeBytes(bytes);
  }

  private void varint(long value) {
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      out.write((int) (rest & 0x7F | 0x80));
      rest >>>= 7;
    }
    out.write((int) rest);
  }
}
