// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.failures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.HostileS3Server;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.file.DataFileStream;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Avro takes an {@code EOFException} for the end of the rows. A file that a shorter one replaces
 * while it is read, in a store that knows no {@code If-Match}, ends in an error all the same.
 */
@Timeout(60)
class ShrunkAvroFileTest {
  private static final ObjectRef OBJECT = new ObjectRef(S3AServer.BUCKET, "rows.avro");
  private static final int ROWS = 8_192;
  private static final Schema SCHEMA =
      SchemaBuilder.record("Row")
          .fields()
          .requiredLong("number")
          .requiredBytes("filler")
          .endRecord();

  private static byte[] file() throws IOException {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    try (DataFileWriter<GenericRecord> writer =
        new DataFileWriter<>(new GenericDatumWriter<>(SCHEMA))) {
      writer.create(SCHEMA, file);
      for (long number = 0; number < ROWS; number++) {
        GenericRecord row = new GenericData.Record(SCHEMA);
        row.put("number", number);
        row.put("filler", ByteBuffer.wrap(new byte[1024]));
        writer.append(row);
      }
    }
    return file.toByteArray();
  }

  /** Reads rows until there are {@code most} and returns how many there are, each checked. */
  private static int read(DataFileStream<GenericRecord> rows, int from, int most) {
    int count = from;
    while (count < most && rows.hasNext()) {
      assertThat(rows.next().get("number")).isEqualTo((long) count);
      count++;
    }
    return count;
  }

  @ParameterizedTest
  @ValueSource(strings = {"crt", "s3a"})
  void isNotTakenForOneWithFewerRows(String client) throws Exception {
    byte[] file = file();
    try (HostileS3Server server = HostileS3Server.start()) {
      server.put(OBJECT, file);
      server.ifMatch(HostileS3Server.IfMatch.IGNORED);
      Configuration conf = S3AServer.s3e(server.endpoint());
      conf.set("fs.s3a.s3e.client", client);
      conf.set("fs.s3a.s3e.prefetch.enabled", "false");
      try (FileSystem fs = FileSystem.newInstance(URI.create("s3a://" + OBJECT.bucket()), conf);
          DataFileStream<GenericRecord> rows =
              new DataFileStream<>(
                  fs.open(new Path("/" + OBJECT.key())), new GenericDatumReader<>())) {
        assertThat(read(rows, 0, ROWS / 4)).isEqualTo(ROWS / 4);
        server.put(OBJECT, Arrays.copyOf(file, file.length / 8));
        assertThatThrownBy(() -> assertThat(read(rows, ROWS / 4, ROWS)).isEqualTo(ROWS))
            .isInstanceOf(AvroRuntimeException.class)
            .hasMessageContaining("416");
      }
    }
  }
}
