// SPDX-License-Identifier: Apache-2.0
package io.s3e.readers;

import io.s3e.hadoop.formats.Codec;
import io.s3e.hadoop.formats.FormatReads;
import io.s3e.hadoop.formats.Reading;
import io.s3e.hadoop.formats.RowDigest;
import io.s3e.hadoop.formats.Rows;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.iceberg.Files;
import org.apache.iceberg.Schema;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.data.parquet.GenericParquetReaders;
import org.apache.iceberg.data.parquet.GenericParquetWriter;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.hadoop.HadoopFileIO;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.FileAppender;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.parquet.Parquet;
import org.apache.iceberg.types.Types;

/** Iceberg's own Parquet reader through HadoopFileIO. Its filters leave whole row groups out. */
public final class IcebergReads implements FormatReads {
  private static final Schema SCHEMA =
      new Schema(
          Types.NestedField.required(1, "id", Types.LongType.get()),
          Types.NestedField.required(2, "day", Types.IntegerType.get()),
          Types.NestedField.required(3, "quantity", Types.LongType.get()),
          Types.NestedField.required(4, "price", Types.DoubleType.get()),
          Types.NestedField.required(5, "status", Types.StringType.get()),
          Types.NestedField.required(6, "city", Types.StringType.get()),
          Types.NestedField.required(7, "token", Types.StringType.get()),
          Types.NestedField.required(8, "comment", Types.StringType.get()),
          Types.NestedField.required(9, "flag", Types.BooleanType.get()),
          Types.NestedField.optional(10, "discount", Types.LongType.get()),
          Types.NestedField.required(11, "signature", Types.BinaryType.get()));

  private static final Schema FOUR = SCHEMA.select("day", "price", "city", "comment");

  @Override
  public void write(java.nio.file.Path file, Codec codec) throws IOException {
    String name = codec == Codec.ZLIB ? "gzip" : codec.name().toLowerCase(Locale.ROOT);
    try (FileAppender<Record> appender =
        Parquet.write(Files.localOutput(file.toFile()))
            .schema(SCHEMA)
            .createWriterFunc(GenericParquetWriter::create)
            .set("write.parquet.compression-codec", name)
            .set("write.parquet.row-group-size-bytes", String.valueOf(700 << 10))
            .set("write.parquet.row-group-check-min-record-count", "500")
            .set("write.parquet.row-group-check-max-record-count", "500")
            .set("write.parquet.page-size-bytes", String.valueOf(16 << 10))
            .set("write.parquet.bloom-filter-enabled.column.token", "true")
            .set("write.parquet.bloom-filter-max-bytes", String.valueOf(64 << 10))
            .build()) {
      for (int row = 0; row < Rows.COUNT; row++) {
        Record record = GenericRecord.create(SCHEMA);
        record.setField("id", Rows.id(row));
        record.setField("day", Rows.day(row));
        record.setField("quantity", Rows.quantity(row));
        record.setField("price", Rows.price(row));
        record.setField("status", Rows.status(row));
        record.setField("city", Rows.city(row));
        record.setField("token", Rows.token(row));
        record.setField("comment", Rows.comment(row));
        record.setField("flag", Rows.flag(row));
        record.setField("discount", Rows.hasDiscount(row) ? Rows.discount(row) : null);
        record.setField("signature", ByteBuffer.wrap(Rows.signature(row)));
        appender.add(record);
      }
    }
  }

  @Override
  public String read(Reading how, Path file, Configuration conf) throws IOException {
    InputFile input;
    try (HadoopFileIO io = new HadoopFileIO(conf)) {
      input = io.newInputFile(file.toString());
    }
    return switch (how) {
      case FOUR -> digest(Parquet.read(input), FOUR);
      case ALL -> digest(Parquet.read(input), SCHEMA);
      case DICTIONARY -> filtered(input, "status", Expressions.equal("status", Rows.RARE));
      case BLOOM -> filtered(input, "token", Expressions.equal("token", Rows.token(Rows.SOUGHT)));
      case PAGE_INDEX ->
          filtered(
              input,
              "id",
              Expressions.and(
                  Expressions.greaterThanOrEqual("id", Rows.id(Rows.FIRST_SOUGHT)),
                  Expressions.lessThan("id", Rows.id(Rows.LAST_SOUGHT))));
      case SECOND_HALF -> {
        long length = input.getLength();
        yield digest(Parquet.read(input).split(length / 2, length - length / 2), SCHEMA);
      }
      case COUNT -> digest(Parquet.read(input), new Schema());
    };
  }

  private static String filtered(InputFile input, String column, Expression filter)
      throws IOException {
    Schema wanted = SCHEMA.select("day", "price", "city", "comment", column);
    return digest(Parquet.read(input).filter(filter), wanted);
  }

  private static String digest(Parquet.ReadBuilder builder, Schema wanted) throws IOException {
    RowDigest digest = new RowDigest();
    try (CloseableIterable<Record> rows =
        builder
            .project(wanted)
            .createReaderFunc(stored -> GenericParquetReaders.buildReader(wanted, stored))
            .build()) {
      for (Record row : rows) {
        for (Types.NestedField field : wanted.columns()) {
          add(digest, row.getField(field.name()));
        }
        digest.endRow();
      }
    }
    return digest.toString();
  }

  private static void add(RowDigest digest, Object value) {
    if (value == null) {
      digest.addNull();
    } else if (value instanceof Double number) {
      digest.add(number.doubleValue());
    } else if (value instanceof Number number) {
      digest.add(number.longValue());
    } else if (value instanceof ByteBuffer bytes) {
      byte[] copy = new byte[bytes.remaining()];
      bytes.duplicate().get(copy);
      digest.add(copy);
    } else {
      digest.add(Rows.utf8(value.toString()));
    }
  }
}
