// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.BINARY;
import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT64;

import io.s3e.testing.StoredContent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.hadoop.util.HadoopStreams;
import org.apache.parquet.io.ColumnIOFactory;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.io.ParquetDecodingException;
import org.apache.parquet.io.RecordReader;
import org.apache.parquet.io.SeekableInputStream;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Types;

/** A Parquet file of about 8 MiB in five row groups whose rows are a formula. */
final class SmallParquet {
  private static final int ROWS = 20_000;
  private static final int PAYLOAD_BYTES = 400;

  private static final MessageType SCHEMA =
      Types.buildMessage()
          .required(INT64)
          .named("id")
          .required(INT64)
          .named("hash")
          .required(BINARY)
          .named("payload")
          .named("rows");

  private SmallParquet() {}

  /** Writes the file, in that directory, and gives its bytes. */
  static StoredContent create(Path directory) throws IOException {
    Path file = Files.createTempDirectory(directory, "parquet").resolve("rows.parquet");
    try (ParquetWriter<Group> writer =
        ExampleParquetWriter.builder(new LocalOutputFile(file))
            .withType(SCHEMA)
            .withConf(new Configuration(false))
            .withCompressionCodec(CompressionCodecName.UNCOMPRESSED)
            .withDictionaryEncoding(false)
            .withRowGroupSize(2L << 20)
            .build()) {
      for (long id = 0; id < ROWS; id++) {
        Group row = new SimpleGroup(SCHEMA);
        row.add("id", id);
        row.add("hash", hash(id));
        row.add("payload", payload(id));
        writer.write(row);
      }
    }
    return StoredContent.of(Files.readAllBytes(file));
  }

  private static long hash(long id) {
    return new Random(id).nextLong();
  }

  private static Binary payload(long id) {
    byte[] bytes = new byte[PAYLOAD_BYTES];
    new Random(~id).nextBytes(bytes);
    return Binary.fromConstantByteArray(bytes);
  }

  /** Reads all rows and compares each. */
  static void read(FSDataInputStream in, long length) throws IOException, WrongBytesException {
    InputFile file =
        new InputFile() {
          @Override
          public long getLength() {
            return length;
          }

          @Override
          public SeekableInputStream newStream() {
            return HadoopStreams.wrap(in);
          }
        };
    long id = 0;
    try (ParquetFileReader reader = ParquetFileReader.open(file)) {
      for (PageReadStore pages = reader.readNextRowGroup();
          pages != null;
          pages = reader.readNextRowGroup()) {
        RecordReader<Group> rows =
            new ColumnIOFactory()
                .getColumnIO(SCHEMA)
                .getRecordReader(pages, new GroupRecordConverter(SCHEMA));
        for (long end = id + pages.getRowCount(); id < end; id++) {
          compare(id, rows.read());
        }
      }
    } catch (ParquetDecodingException e) {
      throw new WrongBytesException("row " + id + ": " + e);
    }
    if (id != ROWS) {
      throw new WrongBytesException(id + " rows of " + ROWS);
    }
  }

  private static void compare(long id, Group row) throws WrongBytesException {
    if (row.getLong("id", 0) != id
        || row.getLong("hash", 0) != hash(id)
        || !row.getBinary("payload", 0).equals(payload(id))) {
      throw new WrongBytesException("row " + id + " is " + row);
    }
  }
}
