// SPDX-License-Identifier: Apache-2.0
package io.s3e.readers;

import io.s3e.hadoop.formats.Codec;
import io.s3e.hadoop.formats.FormatReads;
import io.s3e.hadoop.formats.Reading;
import io.s3e.hadoop.formats.RowDigest;
import io.s3e.hadoop.formats.Rows;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.BytesColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.DoubleColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.hadoop.hive.ql.io.sarg.PredicateLeaf;
import org.apache.hadoop.hive.ql.io.sarg.SearchArgument;
import org.apache.hadoop.hive.ql.io.sarg.SearchArgumentFactory;
import org.apache.orc.CompressionKind;
import org.apache.orc.OrcConf;
import org.apache.orc.OrcFile;
import org.apache.orc.Reader;
import org.apache.orc.RecordReader;
import org.apache.orc.TypeDescription;
import org.apache.orc.Writer;

/** ORC by its vectorized batches. A filter leaves whole strides of rows out, not single rows. */
public final class OrcReads implements FormatReads {
  private static final TypeDescription SCHEMA =
      TypeDescription.fromString(
          "struct<id:bigint,day:int,quantity:bigint,price:double,status:string,city:string,"
              + "token:string,comment:string,flag:boolean,discount:bigint,signature:binary>");

  private static final List<String> FOUR = List.of("day", "price", "city", "comment");

  @Override
  public void write(java.nio.file.Path file, Codec codec) throws IOException {
    Configuration conf = new Configuration(false);
    // Checked every so many rows: what ends a stripe here is its size.
    OrcConf.ROWS_BETWEEN_CHECKS.setLong(conf, 250);
    CompressionKind kind =
        switch (codec) {
          case SNAPPY -> CompressionKind.SNAPPY;
          case ZSTD -> CompressionKind.ZSTD;
          case ZLIB -> CompressionKind.ZLIB;
        };
    try (Writer writer =
        OrcFile.createWriter(
            new Path(file.toUri()),
            OrcFile.writerOptions(conf)
                .setSchema(SCHEMA)
                .compress(kind)
                .bufferSize(16 << 10)
                .stripeSize(700 << 10)
                .rowIndexStride(1000)
                .bloomFilterColumns("token"))) {
      VectorizedRowBatch batch = SCHEMA.createRowBatch(1000);
      for (int row = 0; row < Rows.COUNT; row++) {
        set(batch, row);
        if (batch.size == batch.getMaxSize()) {
          writer.addRowBatch(batch);
          batch.reset();
        }
      }
      writer.addRowBatch(batch);
    }
  }

  private static void set(VectorizedRowBatch batch, int row) {
    int at = batch.size++;
    ((LongColumnVector) batch.cols[0]).vector[at] = Rows.id(row);
    ((LongColumnVector) batch.cols[1]).vector[at] = Rows.day(row);
    ((LongColumnVector) batch.cols[2]).vector[at] = Rows.quantity(row);
    ((DoubleColumnVector) batch.cols[3]).vector[at] = Rows.price(row);
    ((BytesColumnVector) batch.cols[4]).setVal(at, Rows.utf8(Rows.status(row)));
    ((BytesColumnVector) batch.cols[5]).setVal(at, Rows.utf8(Rows.city(row)));
    ((BytesColumnVector) batch.cols[6]).setVal(at, Rows.utf8(Rows.token(row)));
    ((BytesColumnVector) batch.cols[7]).setVal(at, Rows.utf8(Rows.comment(row)));
    ((LongColumnVector) batch.cols[8]).vector[at] = Rows.flag(row) ? 1 : 0;
    LongColumnVector discounts = (LongColumnVector) batch.cols[9];
    if (Rows.hasDiscount(row)) {
      discounts.vector[at] = Rows.discount(row);
    } else {
      discounts.noNulls = false;
      discounts.isNull[at] = true;
    }
    ((BytesColumnVector) batch.cols[10]).setVal(at, Rows.signature(row));
  }

  @Override
  public String read(Reading how, Path file, Configuration conf) throws IOException {
    try (Reader reader = OrcFile.createReader(file, OrcFile.readerOptions(conf))) {
      Reader.Options options = reader.options();
      List<String> names = SCHEMA.getFieldNames();
      long length = file.getFileSystem(conf).getFileStatus(file).getLen();
      return switch (how) {
        case FOUR -> digest(reader, options, FOUR);
        case ALL -> digest(reader, options, names);
        case DICTIONARY ->
            filtered(
                reader,
                options,
                "status",
                SearchArgumentFactory.newBuilder()
                    .equals("status", PredicateLeaf.Type.STRING, Rows.RARE)
                    .build());
        case BLOOM ->
            filtered(
                reader,
                options,
                "token",
                SearchArgumentFactory.newBuilder()
                    .equals("token", PredicateLeaf.Type.STRING, Rows.token(Rows.SOUGHT))
                    .build());
        case PAGE_INDEX ->
            filtered(
                reader,
                options,
                "id",
                SearchArgumentFactory.newBuilder()
                    .between(
                        "id",
                        PredicateLeaf.Type.LONG,
                        Rows.id(Rows.FIRST_SOUGHT),
                        Rows.id(Rows.LAST_SOUGHT))
                    .build());
        case SECOND_HALF -> digest(reader, options.range(length / 2, length - length / 2), names);
        case COUNT -> digest(reader, options, List.of());
      };
    }
  }

  private static String filtered(
      Reader reader, Reader.Options options, String column, SearchArgument filter)
      throws IOException {
    options.searchArgument(filter, new String[] {column});
    return digest(reader, options, List.of("day", "price", "city", "comment", column));
  }

  private static String digest(Reader reader, Reader.Options options, List<String> columns)
      throws IOException {
    boolean[] wanted = new boolean[SCHEMA.getMaximumId() + 1];
    wanted[0] = true;
    for (String column : columns) {
      wanted[SCHEMA.findSubtype(column).getId()] = true;
    }
    RowDigest digest = new RowDigest();
    VectorizedRowBatch batch = SCHEMA.createRowBatch(1000);
    try (RecordReader rows = reader.rows(options.include(wanted))) {
      while (rows.nextBatch(batch)) {
        for (int row = 0; row < batch.size; row++) {
          for (String column : columns) {
            add(digest, batch.cols[SCHEMA.getFieldNames().indexOf(column)], row);
          }
          digest.endRow();
        }
      }
    }
    return digest.toString();
  }

  private static void add(RowDigest digest, ColumnVector column, int row) {
    int at = column.isRepeating ? 0 : row;
    if (!column.noNulls && column.isNull[at]) {
      digest.addNull();
    } else if (column instanceof LongColumnVector longs) {
      digest.add(longs.vector[at]);
    } else if (column instanceof DoubleColumnVector doubles) {
      digest.add(doubles.vector[at]);
    } else {
      BytesColumnVector bytes = (BytesColumnVector) column;
      digest.add(bytes.vector[at], bytes.start[at], bytes.length[at]);
    }
  }
}
