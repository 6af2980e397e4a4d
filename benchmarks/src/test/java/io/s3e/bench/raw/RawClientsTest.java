// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.bench.server.Operation;
import io.s3e.bench.server.ServerStats;
import io.s3e.bench.server.Shape;
import io.s3e.bench.server.ShapedS3Server;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.testing.Slow;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The duties of every raw client, against a server that speaks S3. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@Slow
class RawClientsTest {

  private static final int LENGTH = 3_000_003;
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "object");

  @TempDir private static Path temp;
  private static ShapedS3Server server;
  private static final URI BUCKET = URI.create("s3a://bucket/");
  private static final Configuration CONFIGURATION = new Configuration();
  private static byte[] content;

  @BeforeAll
  static void start() throws Exception {
    Path root = Files.createDirectories(temp.resolve("root"));
    Files.createDirectory(root.resolve(OBJECT.bucket()));
    server =
        ShapedS3Server.start(
            new ShapedS3Server.Settings(root, 0, "access", "secret", Shape.UNSHAPED));
    CONFIGURATION.set("fs.s3a.endpoint", server.endpoint().toString());
    CONFIGURATION.set("fs.s3a.endpoint.region", "us-east-1");
    CONFIGURATION.set("fs.s3a.path.style.access", "true");
    CONFIGURATION.set("fs.s3a.access.key", "access");
    CONFIGURATION.set("fs.s3a.secret.key", "secret");
    CONFIGURATION.set("hadoop.tmp.dir", temp.resolve("tmp").toString());
    content = new byte[LENGTH];
    new Random(11).nextBytes(content);
    try (FileSystem s3a = FileSystem.newInstance(BUCKET, CONFIGURATION);
        OutputStream out = s3a.create(new org.apache.hadoop.fs.Path("/object"))) {
      out.write(content);
    }
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  private static RawClient open(RawClientKind kind) throws IOException {
    return RawClients.open(new RawCeiling(kind, 4), StoreSettings.of(BUCKET, CONFIGURATION));
  }

  @ParameterizedTest
  @EnumSource
  void everyByteComesAtItsPosition(RawClientKind kind) throws Exception {
    byte[] got = new byte[LENGTH];
    ServerStats before = server.stats();
    try (RawClient client = open(kind)) {
      List<CompletableFuture<Void>> ranges = new ArrayList<>();
      for (int start = 0; start < LENGTH; start += 1_000_000) {
        ByteRange range = new ByteRange(start, Math.min(LENGTH, start + 1_000_000));
        ranges.add(
            client.get(
                OBJECT,
                range,
                (position, bytes) ->
                    bytes.duplicate().get(got, (int) position, bytes.remaining())));
      }
      for (CompletableFuture<Void> range : ranges) {
        range.get();
      }
    }

    assertThat(got).isEqualTo(content);
    assertThat(server.stats().since(before).of(Operation.GET_OBJECT).requests())
        .as("one GET for each range")
        .isEqualTo(4);
  }

  @ParameterizedTest
  @EnumSource
  void aSinkThatRefusesFailsTheRange(RawClientKind kind) throws Exception {
    try (RawClient client = open(kind)) {
      CompletableFuture<Void> range =
          client.get(
              OBJECT,
              new ByteRange(0, 1_000_000),
              (position, bytes) -> {
                throw new IOException("not these");
              });

      assertThatThrownBy(range::get).hasStackTraceContaining("not these");
    }
  }

  @ParameterizedTest
  @EnumSource
  void anObjectThatIsTooShortFailsTheRange(RawClientKind kind) throws Exception {
    try (RawClient client = open(kind)) {
      CompletableFuture<Void> range =
          client.get(OBJECT, new ByteRange(LENGTH - 10, LENGTH + 10), (position, bytes) -> {});

      assertThatThrownBy(range::get).isNotNull();
    }
  }

  @ParameterizedTest
  @EnumSource
  void anObjectThatIsNotThereFailsTheRange(RawClientKind kind) throws Exception {
    try (RawClient client = open(kind)) {
      CompletableFuture<Void> range =
          client.get(
              new ObjectRef("bucket", "none"), new ByteRange(0, 10), (position, bytes) -> {});

      assertThatThrownBy(range::get).hasStackTraceContaining("404");
    }
  }

  @Test
  void aRangeCountsItsBytes() throws Exception {
    RangeSink sink = new RangeSink(new ByteRange(5, 15), (position, bytes) -> {});
    sink.accept(ByteBuffer.allocate(6));

    assertThatThrownBy(sink::checkComplete)
        .isInstanceOf(EOFException.class)
        .hasMessageContaining("ended at 11");
    assertThatThrownBy(() -> sink.accept(ByteBuffer.allocate(5)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("more bytes than asked for");
    sink.accept(ByteBuffer.allocate(4));
    sink.checkComplete();
  }
}
