// SPDX-License-Identifier: Apache-2.0
package io.s3e.parquet;

import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.BINARY;
import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT64;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.ColumnIOFactory;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.io.RecordReader;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Types;

/** A Parquet file of some MiB with several row groups, and its rows as parquet-java reads them. */
final class Samples {
  static final int ROWS = 12_000;

  private static final MessageType SCHEMA =
      Types.buildMessage()
          .required(INT64)
          .named("id")
          .required(BINARY)
          .named("left")
          .required(INT64)
          .named("hash")
          .required(BINARY)
          .named("right")
          .named("rows");

  private Samples() {}

  /** Writes the file. */
  static Path write(Path file) throws IOException {
    Random random = new Random(7);
    try (ParquetWriter<Group> writer =
        ExampleParquetWriter.builder(new LocalOutputFile(file))
            .withType(SCHEMA)
            .withConf(new PlainParquetConfiguration())
            .withCompressionCodec(CompressionCodecName.UNCOMPRESSED)
            .withDictionaryEncoding(false)
            .withRowGroupSize(2L << 20)
            .build()) {
      for (long id = 0; id < ROWS; id++) {
        Group row = new SimpleGroup(SCHEMA);
        row.add("id", id);
        row.add("left", payload(random));
        row.add("hash", random.nextLong());
        row.add("right", payload(random));
        writer.write(row);
      }
    }
    return file;
  }

  private static Binary payload(Random random) {
    byte[] bytes = new byte[300];
    random.nextBytes(bytes);
    return Binary.fromConstantByteArray(bytes);
  }

  static ParquetReadOptions options(boolean isVectored) {
    return ParquetReadOptions.builder(new PlainParquetConfiguration())
        .withUseHadoopVectoredIo(isVectored)
        .build();
  }

  /** Reads those columns of all rows; the sum of what their words hash to, and how many came. */
  static String digest(InputFile file, boolean isVectored, String... columns) throws IOException {
    long rows = 0;
    long sum = 0;
    try (ParquetFileReader reader = ParquetFileReader.open(file, options(isVectored))) {
      List<Type> wanted =
          List.of(columns).stream()
              .map(column -> reader.getFileMetaData().getSchema().getType(column))
              .toList();
      MessageType schema = new MessageType("rows", wanted);
      reader.setRequestedSchema(schema);
      for (PageReadStore pages = reader.readNextRowGroup();
          pages != null;
          pages = reader.readNextRowGroup()) {
        RecordReader<Group> records =
            new ColumnIOFactory()
                .getColumnIO(schema)
                .getRecordReader(pages, new GroupRecordConverter(schema));
        for (long i = 0; i < pages.getRowCount(); i++) {
          sum = 31 * sum + records.read().toString().hashCode();
          rows++;
        }
      }
    }
    return rows + " rows, " + sum;
  }
}
