// SPDX-License-Identifier: Apache-2.0
package io.s3e.readers;

import static org.apache.parquet.filter2.predicate.FilterApi.and;
import static org.apache.parquet.filter2.predicate.FilterApi.binaryColumn;
import static org.apache.parquet.filter2.predicate.FilterApi.eq;
import static org.apache.parquet.filter2.predicate.FilterApi.gtEq;
import static org.apache.parquet.filter2.predicate.FilterApi.longColumn;
import static org.apache.parquet.filter2.predicate.FilterApi.lt;
import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.BINARY;
import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.BOOLEAN;
import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.DOUBLE;
import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY;
import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT32;
import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT64;

import io.s3e.hadoop.formats.Codec;
import io.s3e.hadoop.formats.FormatReads;
import io.s3e.hadoop.formats.Reading;
import io.s3e.hadoop.formats.RowDigest;
import io.s3e.hadoop.formats.Rows;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.filter2.compat.FilterCompat;
import org.apache.parquet.filter2.predicate.FilterPredicate;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.ParquetReader;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.api.ReadSupport;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.example.GroupReadSupport;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Types;

/** parquet-java by its own records. */
public final class ParquetReads implements FormatReads {
  private static final MessageType SCHEMA =
      Types.buildMessage()
          .required(INT64)
          .named("id")
          .required(INT32)
          .named("day")
          .required(INT64)
          .named("quantity")
          .required(DOUBLE)
          .named("price")
          .required(BINARY)
          .named("status")
          .required(BINARY)
          .named("city")
          .required(BINARY)
          .named("token")
          .required(BINARY)
          .named("comment")
          .required(BOOLEAN)
          .named("flag")
          .optional(INT64)
          .named("discount")
          .required(FIXED_LEN_BYTE_ARRAY)
          .length(Rows.SIGNATURE_BYTES)
          .named("signature")
          .named("rows");

  private static final List<String> FOUR = List.of("day", "price", "city", "comment");

  @Override
  public void write(java.nio.file.Path file, Codec codec) throws IOException {
    CompressionCodecName name =
        switch (codec) {
          case SNAPPY -> CompressionCodecName.SNAPPY;
          case ZSTD -> CompressionCodecName.ZSTD;
          case ZLIB -> CompressionCodecName.GZIP;
        };
    try (ParquetWriter<Group> writer =
        ExampleParquetWriter.builder(new Path(file.toUri()))
            .withType(SCHEMA)
            .withConf(new Configuration(false))
            .withCompressionCodec(name)
            .withRowGroupSize(700L << 10)
            .withPageSize(16 << 10)
            .withPageRowCountLimit(350)
            .withDictionaryEncoding("token", false)
            .withDictionaryEncoding("comment", false)
            .withDictionaryEncoding("quantity", false)
            .withDictionaryEncoding("price", false)
            .withDictionaryEncoding("signature", false)
            .withBloomFilterEnabled("token", true)
            .withBloomFilterNDV("token", Rows.PER_GROUP)
            .build()) {
      for (int row = 0; row < Rows.COUNT; row++) {
        Group group = new SimpleGroup(SCHEMA);
        group.add("id", Rows.id(row));
        group.add("day", Rows.day(row));
        group.add("quantity", Rows.quantity(row));
        group.add("price", Rows.price(row));
        group.add("status", Rows.status(row));
        group.add("city", Rows.city(row));
        group.add("token", Rows.token(row));
        group.add("comment", Rows.comment(row));
        group.add("flag", Rows.flag(row));
        if (Rows.hasDiscount(row)) {
          group.add("discount", Rows.discount(row));
        }
        group.add("signature", Binary.fromConstantByteArray(Rows.signature(row)));
        writer.write(group);
      }
    }
  }

  @Override
  public String read(Reading how, Path file, Configuration conf) throws IOException {
    return switch (how) {
      case FOUR -> digest(read(file, conf, FOUR));
      case ALL -> digest(read(file, conf, names()));
      case DICTIONARY ->
          digest(filtered(file, conf, eq(binaryColumn("status"), Binary.fromString(Rows.RARE))));
      case BLOOM ->
          digest(
              filtered(
                  file,
                  conf,
                  eq(binaryColumn("token"), Binary.fromString(Rows.token(Rows.SOUGHT)))));
      case PAGE_INDEX ->
          digest(
              filtered(
                  file,
                  conf,
                  and(
                      gtEq(longColumn("id"), Rows.id(Rows.FIRST_SOUGHT)),
                      lt(longColumn("id"), Rows.id(Rows.LAST_SOUGHT)))));
      case SECOND_HALF -> {
        long length = file.getFileSystem(conf).getFileStatus(file).getLen();
        yield digest(read(file, conf, names()).withFileRange(length / 2, length));
      }
      case COUNT -> count(file, conf);
    };
  }

  private static List<String> names() {
    return SCHEMA.getFields().stream().map(Type::getName).toList();
  }

  private static ParquetReader.Builder<Group> filtered(
      Path file, Configuration conf, FilterPredicate filter) {
    List<String> columns = new ArrayList<>(FOUR);
    columns.addAll(List.of("id", "status", "token"));
    return read(file, conf, columns).withFilter(FilterCompat.get(filter));
  }

  private static ParquetReader.Builder<Group> read(
      Path file, Configuration conf, List<String> columns) {
    Configuration own = new Configuration(conf);
    MessageType wanted = new MessageType("rows", columns.stream().map(SCHEMA::getType).toList());
    own.set(ReadSupport.PARQUET_READ_SCHEMA, wanted.toString());
    return ParquetReader.builder(new GroupReadSupport(), file).withConf(own);
  }

  private static String digest(ParquetReader.Builder<Group> builder) throws IOException {
    RowDigest digest = new RowDigest();
    try (ParquetReader<Group> reader = builder.build()) {
      for (Group row = reader.read(); row != null; row = reader.read()) {
        add(digest, row);
      }
    }
    return digest.toString();
  }

  private static void add(RowDigest digest, Group row) {
    GroupType type = row.getType();
    for (int i = 0; i < type.getFieldCount(); i++) {
      if (row.getFieldRepetitionCount(i) == 0) {
        digest.addNull();
        continue;
      }
      switch (type.getType(i).asPrimitiveType().getPrimitiveTypeName()) {
        case INT32 -> digest.add((long) row.getInteger(i, 0));
        case INT64 -> digest.add(row.getLong(i, 0));
        case DOUBLE -> digest.add(row.getDouble(i, 0));
        case BOOLEAN -> digest.add(row.getBoolean(i, 0) ? 1L : 0L);
        default -> digest.add(row.getBinary(i, 0).getBytes());
      }
    }
    digest.endRow();
  }

  /** As Spark counts: every group without a column. */
  private static String count(Path file, Configuration conf) throws IOException {
    long rows = 0;
    try (ParquetFileReader reader = ParquetFileReader.open(HadoopInputFile.fromPath(file, conf))) {
      reader.setRequestedSchema(new MessageType("rows", Collections.emptyList()));
      for (PageReadStore pages = reader.readNextRowGroup();
          pages != null;
          pages = reader.readNextRowGroup()) {
        rows += pages.getRowCount();
      }
    }
    return rows + " rows";
  }
}
