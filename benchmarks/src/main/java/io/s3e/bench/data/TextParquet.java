// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.data;

import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.BINARY;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongConsumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.EncodingStats;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.hadoop.metadata.ColumnPath;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.hadoop.util.HadoopStreams;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.io.SeekableInputStream;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Types;

/**
 * Parquet files for reads without processing: parquet-java writes them, with a footer that every
 * reader takes, and copies text where it would copy the column chunks of another file. The text has
 * no two places alike, so that a byte from the wrong place is found out; nobody can decode it.
 *
 * @param columns in the order of their chunks
 * @param groupBytes size of a row group; a few bytes are lost to rounding
 * @param groups how many row groups there are
 */
public record TextParquet(List<Column> columns, long groupBytes, int groups) {

  public TextParquet {
    columns = List.copyOf(columns);
    if (groupBytes < shares(columns)) {
      throw new IllegalArgumentException(
          "No room for %d columns in row groups of %d bytes".formatted(columns.size(), groupBytes));
    }
  }

  /**
   * A column.
   *
   * @param share of its chunks in the row group, among the shares of all columns
   * @param coding whether a dictionary page begins its chunks
   */
  public record Column(String name, int share, Coding coding) {}

  /** How the values of a column are encoded, if the footer is to be believed. */
  public enum Coding {
    PLAIN,
    DICTIONARY
  }

  /** Names of two columns of {@link #wide}, which are far from each other. */
  public static final List<String> TWO_OF_WIDE = List.of("c070", "c210");

  private static final int WIDE_COLUMNS = 300;
  private static final long MOST_GROUP_BYTES = 64L << 20;
  private static final int LEAST_GROUPS = 2;
  private static final int MOST_DICTIONARY_BYTES = 32 << 10;

  /** A row of lineitem is about 33 bytes long in Parquet. */
  private static final int ROW_BYTES = 33;

  /** Sizes as {@link LineItemParquet}'s column chunks have them, in thousandths of the group. */
  private static final List<Column> LINE_ITEM =
      List.of(
          new Column("l_orderkey", 64, Coding.PLAIN),
          new Column("l_partkey", 127, Coding.PLAIN),
          new Column("l_suppkey", 45, Coding.DICTIONARY),
          new Column("l_linenumber", 7, Coding.DICTIONARY),
          new Column("l_quantity", 22, Coding.DICTIONARY),
          new Column("l_extendedprice", 153, Coding.PLAIN),
          new Column("l_discount", 14, Coding.DICTIONARY),
          new Column("l_tax", 14, Coding.DICTIONARY),
          new Column("l_returnflag", 7, Coding.DICTIONARY),
          new Column("l_linestatus", 4, Coding.DICTIONARY),
          new Column("l_shipdate", 45, Coding.DICTIONARY),
          new Column("l_commitdate", 45, Coding.DICTIONARY),
          new Column("l_receiptdate", 45, Coding.DICTIONARY),
          new Column("l_shipinstruct", 7, Coding.DICTIONARY),
          new Column("l_shipmode", 11, Coding.DICTIONARY),
          new Column("l_comment", 390, Coding.PLAIN));

  /** 16 columns with the sizes of lineitem's, in row groups of 64 MiB; at least two groups. */
  public static TextParquet lineItem(long bytes) {
    return ofGroups(LINE_ITEM, bytes);
  }

  /** 300 columns, all of one size, in as many row groups. */
  public static TextParquet wide(long bytes) {
    List<Column> columns = new ArrayList<>();
    for (int i = 0; i < WIDE_COLUMNS; i++) {
      columns.add(new Column("c%03d".formatted(i), 1, Coding.PLAIN));
    }
    return ofGroups(columns, bytes);
  }

  /** The columns of {@link #lineItem} in one row group. */
  public static TextParquet oneGroup(long bytes) {
    return new TextParquet(LINE_ITEM, bytes, 1);
  }

  private static TextParquet ofGroups(List<Column> columns, long bytes) {
    int groups = Math.toIntExact(Math.max(LEAST_GROUPS, bytes / MOST_GROUP_BYTES));
    return new TextParquet(columns, bytes / groups, groups);
  }

  private static long shares(List<Column> columns) {
    return columns.stream().mapToLong(Column::share).sum();
  }

  /** Length of the text that its chunks take. */
  public long textBytes() {
    return groupBytes * groups;
  }

  /**
   * Writes the file.
   *
   * @param progress told how many bytes of chunks are written, now and then
   */
  public void write(Path file, LongConsumer progress) throws IOException {
    Path text = file.resolveSibling(file.getFileName() + ".text");
    try {
      LineItemText.write(text, textBytes(), written -> {});
      write(file, text, 0, progress);
    } finally {
      Files.deleteIfExists(text);
    }
  }

  /**
   * Writes the file.
   *
   * @param text where the chunks' bytes come from
   * @param from position in it of the first of them
   */
  void write(Path file, Path text, long from, LongConsumer progress) throws IOException {
    MessageType schema = schema();
    // parquet-java's own stream of a local file asks the kernel for each byte.
    FileSystem local = FileSystem.getLocal(new Configuration(false)).getRaw();
    try (SeekableInputStream source =
            HadoopStreams.wrap(local.open(new org.apache.hadoop.fs.Path(text.toUri())));
        ParquetFileWriter writer =
            new ParquetFileWriter(
                new LocalOutputFile(file),
                schema,
                ParquetFileWriter.Mode.OVERWRITE,
                groupBytes,
                ParquetWriter.MAX_PADDING_SIZE_DEFAULT,
                null,
                ParquetProperties.builder().build())) {
      writer.start();
      for (int group = 0; group < groups; group++) {
        writer.startBlock(groupBytes / ROW_BYTES);
        appendChunks(writer, schema, source, from + group * groupBytes);
        writer.endBlock();
        progress.accept((group + 1) * groupBytes);
      }
      writer.end(Map.of());
    }
  }

  private MessageType schema() {
    Types.MessageTypeBuilder schema = Types.buildMessage();
    columns.forEach(column -> schema.required(BINARY).named(column.name()));
    return schema.named("text");
  }

  private void appendChunks(
      ParquetFileWriter writer, MessageType schema, SeekableInputStream source, long from)
      throws IOException {
    long shares = shares(columns);
    long before = 0;
    for (Column column : columns) {
      long start = from + groupBytes * before / shares;
      before += column.share();
      long end = from + groupBytes * before / shares;
      ColumnDescriptor descriptor = schema.getColumnDescription(new String[] {column.name()});
      writer.appendColumnChunk(
          descriptor, source, chunk(column, descriptor, start, end), null, null, null);
    }
  }

  /** What a footer would say of bytes of the text if they were a column chunk. */
  private ColumnChunkMetaData chunk(
      Column column, ColumnDescriptor descriptor, long start, long end) {
    EncodingStats.Builder pages = new EncodingStats.Builder();
    Set<Encoding> encodings = Collections.singleton(Encoding.PLAIN);
    long firstPage = start;
    switch (column.coding()) {
      case PLAIN -> pages.addDataEncoding(Encoding.PLAIN);
      case DICTIONARY -> {
        pages.addDictEncoding(Encoding.PLAIN).addDataEncoding(Encoding.RLE_DICTIONARY);
        encodings = Set.of(Encoding.PLAIN, Encoding.RLE_DICTIONARY);
        firstPage = start + Math.min(MOST_DICTIONARY_BYTES, Math.max(1, (end - start) / 10));
      }
    }
    return ColumnChunkMetaData.get(
        ColumnPath.get(column.name()),
        descriptor.getPrimitiveType(),
        CompressionCodecName.UNCOMPRESSED,
        pages.build(),
        encodings,
        Statistics.createStats(descriptor.getPrimitiveType()),
        firstPage,
        firstPage > start ? start : 0,
        groupBytes / ROW_BYTES,
        end - start,
        end - start);
  }
}
