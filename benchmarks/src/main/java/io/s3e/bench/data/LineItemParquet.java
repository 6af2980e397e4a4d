// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.data;

import static org.apache.parquet.schema.LogicalTypeAnnotation.dateType;
import static org.apache.parquet.schema.LogicalTypeAnnotation.decimalType;
import static org.apache.parquet.schema.LogicalTypeAnnotation.stringType;
import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.BINARY;
import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT32;
import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT64;

import io.trino.tpch.LineItem;
import io.trino.tpch.LineItemGenerator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.api.WriteSupport;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.io.OutputFile;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.io.api.RecordConsumer;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Types;
import org.jspecify.annotations.Nullable;

/** TPC-H lineitem as a Parquet file: 16 columns, Snappy, several row groups. */
public final class LineItemParquet {

  /** Row groups of {@link #writeFiltered}. */
  public static final int FILTERED_GROUPS = 12;

  /** Rows of each of them: some 4 MB, six pages a column. */
  public static final int ROWS_OF_FILTERED_GROUP = 120_000;

  /** The one column of {@link #writeFiltered} that has Bloom filters, and no dictionaries. */
  public static final String BLOOM_FILTERED = "l_extendedprice";

  /** {@code l_suppkey} of the first row of {@link #writeFiltered}. */
  public static final long SUPPLIER_OF_FIRST_ROW = 7_706;

  /** {@link #BLOOM_FILTERED} of the first row of {@link #writeFiltered}, in cents. */
  public static final long PRICE_OF_FIRST_ROW = 2_116_823;

  /** Suppliers are dealt out to so many row groups in turn; so are the keys of their rows. */
  public static final int SHARES_OF_SUPPLIERS = 4;

  /** Row group of Spark and of parquet-java, by default. */
  private static final long MOST_ROW_GROUP_BYTES = 128L << 20;

  private static final long ROW_GROUP_BYTES_OF_SCALE_1 = 32L << 20;

  private static final long LEAST_ROW_GROUP_BYTES = 8L << 20;

  /** Lines of scale 1, near enough for a progress bar. */
  private static final long ROWS_OF_SCALE_1 = 6_001_215;

  private static final int CENTS_PRECISION = 15;

  private static final MessageType SCHEMA =
      Types.buildMessage()
          .required(INT64)
          .named("l_orderkey")
          .required(INT64)
          .named("l_partkey")
          .required(INT64)
          .named("l_suppkey")
          .required(INT32)
          .named("l_linenumber")
          .required(INT64)
          .as(decimalType(2, CENTS_PRECISION))
          .named("l_quantity")
          .required(INT64)
          .as(decimalType(2, CENTS_PRECISION))
          .named("l_extendedprice")
          .required(INT64)
          .as(decimalType(2, CENTS_PRECISION))
          .named("l_discount")
          .required(INT64)
          .as(decimalType(2, CENTS_PRECISION))
          .named("l_tax")
          .required(BINARY)
          .as(stringType())
          .named("l_returnflag")
          .required(BINARY)
          .as(stringType())
          .named("l_linestatus")
          .required(INT32)
          .as(dateType())
          .named("l_shipdate")
          .required(INT32)
          .as(dateType())
          .named("l_commitdate")
          .required(INT32)
          .as(dateType())
          .named("l_receiptdate")
          .required(BINARY)
          .as(stringType())
          .named("l_shipinstruct")
          .required(BINARY)
          .as(stringType())
          .named("l_shipmode")
          .required(BINARY)
          .as(stringType())
          .named("l_comment")
          .named("lineitem");

  private LineItemParquet() {}

  /** Rows at a scale, near enough for a progress bar. */
  public static long approximateRows(double scale) {
    return Math.round(ROWS_OF_SCALE_1 * scale);
  }

  /**
   * A file of scale 4 and above has Spark's row groups; those of a smaller one are smaller, so that
   * it has several all the same. (Scale 1 is about 200 MB.)
   */
  private static long rowGroupBytes(double scale) {
    long scaled = Math.round(ROW_GROUP_BYTES_OF_SCALE_1 * scale);
    return Math.max(LEAST_ROW_GROUP_BYTES, Math.min(scaled, MOST_ROW_GROUP_BYTES));
  }

  /**
   * Writes the whole table.
   *
   * @param scale TPC-H scale factor; 1 is about six million rows
   * @param progress told how many rows are written, now and then
   */
  public static void write(Path file, double scale, LongConsumer progress) throws IOException {
    write(
        new Builder(new LocalOutputFile(file)).withRowGroupSize(rowGroupBytes(scale)),
        new LineItemGenerator(scale, 1, 1).iterator(),
        progress);
  }

  /**
   * Writes a part of the table for readers that filter: rows in the order of {@code l_orderkey}; of
   * the suppliers every fourth in a row group, so that statistics tell nothing and dictionaries
   * all; one column with Bloom filters in place of dictionaries; page indexes.
   *
   * @param groups how many row groups; {@link #FILTERED_GROUPS}
   * @param rows rows of each of them; {@link #ROWS_OF_FILTERED_GROUP}
   * @param progress told how many rows are written, now and then
   */
  public static void writeFiltered(Path file, int groups, int rows, LongConsumer progress)
      throws IOException {
    Iterator<LineItem> items = new LineItemGenerator(1, 1, 1).iterator();
    long first = SUPPLIER_OF_FIRST_ROW;
    write(
        new Builder(new LocalOutputFile(file))
            .withRowGroupRowCountLimit(rows)
            .withDictionaryEncoding(BLOOM_FILTERED, false)
            .withBloomFilterEnabled(BLOOM_FILTERED, true)
            .withBloomFilterNDV(BLOOM_FILTERED, rows),
        LongStream.range(0, (long) groups * rows)
            .mapToObj(row -> next(items, (first + row / rows) % SHARES_OF_SUPPLIERS))
            .iterator(),
        progress);
  }

  /** The next row whose supplier is of a share. */
  private static LineItem next(Iterator<LineItem> items, long share) {
    LineItem item = items.next();
    while (item.getSupplierKey() % SHARES_OF_SUPPLIERS != share) {
      item = items.next();
    }
    return item;
  }

  private static void write(Builder builder, Iterator<LineItem> items, LongConsumer progress)
      throws IOException {
    try (ParquetWriter<LineItem> writer =
        builder
            .withCompressionCodec(CompressionCodecName.SNAPPY)
            .withConf(new Configuration(false))
            .build()) {
      for (long rows = 1; items.hasNext(); rows++) {
        writer.write(items.next());
        if (rows % 10_000 == 0) {
          progress.accept(rows);
        }
      }
    }
  }

  private static final class Builder extends ParquetWriter.Builder<LineItem, Builder> {
    Builder(OutputFile file) {
      super(file);
    }

    @Override
    protected Builder self() {
      return this;
    }

    @Override
    protected WriteSupport<LineItem> getWriteSupport(Configuration configuration) {
      return new LineItemWriteSupport();
    }
  }

  private static final class LineItemWriteSupport extends WriteSupport<LineItem> {
    private @Nullable RowWriter rows;

    @Override
    public WriteContext init(Configuration configuration) {
      return new WriteContext(SCHEMA, Map.of());
    }

    @Override
    public void prepareForWrite(RecordConsumer consumer) {
      rows = new RowWriter(consumer);
    }

    @Override
    public void write(LineItem item) {
      if (rows == null) {
        throw new IllegalStateException("A row came before prepareForWrite");
      }
      rows.write(item);
    }
  }

  /** Turns rows into calls of Parquet's record consumer, column after column of the schema. */
  private static final class RowWriter implements LineItemColumns {
    private final RecordConsumer consumer;
    private int column;

    RowWriter(RecordConsumer consumer) {
      this.consumer = consumer;
    }

    void write(LineItem item) {
      column = 0;
      consumer.startMessage();
      LineItemColumns.of(item, this);
      consumer.endMessage();
    }

    @Override
    public void add(long value) {
      begin();
      consumer.addLong(value);
      end();
    }

    @Override
    public void add(int value) {
      begin();
      consumer.addInteger(value);
      end();
    }

    @Override
    public void add(String value) {
      begin();
      consumer.addBinary(Binary.fromString(value));
      end();
    }

    private void begin() {
      consumer.startField(SCHEMA.getFieldName(column), column);
    }

    private void end() {
      consumer.endField(SCHEMA.getFieldName(column), column);
      column++;
    }
  }
}
