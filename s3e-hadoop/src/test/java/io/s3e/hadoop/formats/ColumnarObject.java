// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.formats;

import io.s3e.testing.MemoryObjectClient;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.CompressionCodec;
import org.apache.parquet.format.Encoding;
import org.apache.parquet.format.FieldRepetitionType;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.SchemaElement;
import org.apache.parquet.format.Type;
import org.apache.parquet.format.Util;

/**
 * The bytes of an object with a footer of Parquet's; what the footer names are random bytes. The
 * footer is as true as its writer wants it.
 */
final class ColumnarObject {
  /** A column chunk as the footer names it. */
  record Chunk(long start, long length) {}

  static final int COLUMNS = 4;
  static final int CHUNK_BYTES = 256 << 10;

  private static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);

  private final byte[] content;
  private final FileMetaData footer;

  private ColumnarObject(byte[] content, FileMetaData footer) {
    this.content = content;
    this.footer = footer;
  }

  /** Chunk after chunk, group after group. */
  static ColumnarObject of(int groups, long seed) throws IOException {
    return of(groups, seed, footer -> {});
  }

  /**
   * As above.
   *
   * @param lie changes the footer before it is written
   */
  static ColumnarObject of(int groups, long seed, Consumer<FileMetaData> lie) throws IOException {
    FileMetaData footer = footer(groups);
    lie.accept(footer);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] data = MemoryObjectClient.bytes(groups * COLUMNS * CHUNK_BYTES, seed);
    bytes.write(MAGIC);
    bytes.write(data);
    int before = bytes.size();
    Util.writeFileMetaData(footer, bytes);
    int length = bytes.size() - before;
    bytes.write(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(length).array());
    bytes.write(MAGIC);
    return new ColumnarObject(bytes.toByteArray(), footer);
  }

  private static FileMetaData footer(int groups) {
    List<SchemaElement> schema = new ArrayList<>();
    SchemaElement root = new SchemaElement("rows");
    root.setNum_children(COLUMNS);
    schema.add(root);
    for (int column = 0; column < COLUMNS; column++) {
      SchemaElement leaf = new SchemaElement("c" + column);
      leaf.setType(Type.INT64);
      leaf.setRepetition_type(FieldRepetitionType.REQUIRED);
      schema.add(leaf);
    }
    List<RowGroup> rowGroups = new ArrayList<>();
    long at = MAGIC.length;
    for (int group = 0; group < groups; group++) {
      List<ColumnChunk> chunks = new ArrayList<>();
      for (int column = 0; column < COLUMNS; column++) {
        ColumnMetaData meta =
            new ColumnMetaData(
                Type.INT64,
                List.of(Encoding.PLAIN),
                List.of("c" + column),
                CompressionCodec.UNCOMPRESSED,
                1000,
                CHUNK_BYTES,
                CHUNK_BYTES,
                at);
        ColumnChunk chunk = new ColumnChunk(at);
        chunk.setMeta_data(meta);
        chunks.add(chunk);
        at += CHUNK_BYTES;
      }
      RowGroup rowGroup = new RowGroup(chunks, (long) COLUMNS * CHUNK_BYTES, 1000);
      rowGroup.setTotal_compressed_size((long) COLUMNS * CHUNK_BYTES);
      rowGroup.setFile_offset(chunks.get(0).getMeta_data().getData_page_offset());
      rowGroups.add(rowGroup);
    }
    return new FileMetaData(1, schema, 1000L * groups, rowGroups);
  }

  byte[] content() {
    return content;
  }

  /** How long the footer is, with its length and the magic behind it. */
  int footerBytes() {
    return 8 + ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).getInt(content.length - 8);
  }

  int groups() {
    return footer.getRow_groupsSize();
  }

  /** What the footer says of a chunk, as far as it lies in the object. */
  Chunk chunk(int group, int column) {
    ColumnMetaData meta = footer.getRow_groups().get(group).getColumns().get(column).getMeta_data();
    long start = Math.max(0, Math.min(content.length - 1, meta.getData_page_offset()));
    long length =
        Math.max(
            1,
            Math.min(
                Math.min(4L * CHUNK_BYTES, content.length - start),
                meta.getTotal_compressed_size()));
    return new Chunk(start, length);
  }
}
