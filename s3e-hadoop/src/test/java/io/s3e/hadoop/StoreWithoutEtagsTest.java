// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.s3e.Engines;
import io.s3e.block.ObjectRef;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.NoVersionAttributeException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reading from a store that names no ETag, of any object or of some. */
@Timeout(180)
class StoreWithoutEtagsTest {
  private static final String REQUIRED = "fs.s3a.change.detection.version.required";
  private static final ObjectRef OBJECT = new ObjectRef(S3AServer.BUCKET, "without");
  private static final Path PATH = new Path("/" + OBJECT.key());
  private static final ObjectRef OTHER = new ObjectRef(S3AServer.BUCKET, "other");
  private static final byte[] DATA = S3AReads.random((3 << 20) + 77);

  private HostileS3Server server;

  @BeforeEach
  void start() throws Exception {
    server = HostileS3Server.startApart();
    server.put(OBJECT, DATA);
    server.put(OTHER, DATA);
    server.decideAll(
        request -> request.target().contains(OBJECT.key()) ? Fault.etag(null) : Fault.none());
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
  }

  private S3EFileSystem open(String client, boolean required) throws Exception {
    Configuration conf = S3AServer.s3e(server.endpoint());
    conf.set("fs.s3a.s3e.client", client);
    conf.setBoolean(REQUIRED, required);
    return (S3EFileSystem) S3AReads.open(conf);
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "s3a"})
  void withoutARequiredVersionItIsReadAsS3AReadsIt(String client) throws Exception {
    try (S3EFileSystem fs = open(client, false)) {
      try (FSDataInputStream in = fs.open(PATH)) {
        assertArrayEquals(DATA, in.readAllBytes());
      }
      try (FSDataInputStream in = fs.open(PATH)) {
        FileRange range = FileRange.createFileRange(1_000_000, 1000);
        in.readVectored(List.of(range), ByteBuffer::allocate);
        byte[] bytes = new byte[1000];
        range.getData().get(60, TimeUnit.SECONDS).get(bytes);
        assertArrayEquals(slice(1_000_000, 1000), bytes);
      }
    }
  }

  /** The CRT cannot; S3A's client takes its place, which is said once and counted. */
  @Test
  void s3AsClientReadsInPlaceOfTheCrt() throws Exception {
    try (CapturedLog log = new CapturedLog();
        S3EFileSystem fs = open("auto", false)) {
      for (int i = 0; i < 3; i++) {
        try (FSDataInputStream in = fs.open(PATH)) {
          byte[] bytes = new byte[1000];
          in.readFully(5000, bytes);
          assertArrayEquals(slice(5000, 1000), bytes);
        }
      }
      assertThat(fs.hasPathCapability(PATH, "fs.s3a.s3e.client.s3a")).isTrue();
      assertThat(fs.getIOStatistics().counters()).containsEntry("s3e_client_fallback", 1L);
      List<String> told = log.await("by S3A's client");
      assertThat(told).hasSize(1);
      assertThat(told.get(0)).contains("WARN", "no ETag", "fs.s3a.s3e.client");
    }
  }

  /** A store that names some: laid there by another program than the others. */
  @Test
  void oneObjectWithoutAnEtagAmongOthersIsReadToo() throws Exception {
    try (S3EFileSystem fs = open("auto", false)) {
      try (FSDataInputStream in = fs.open(new Path("/" + OTHER.key()))) {
        assertArrayEquals(DATA, in.readAllBytes());
      }
      assertThat(fs.hasPathCapability(PATH, "fs.s3a.s3e.client.crt")).isTrue();
      try (FSDataInputStream in = fs.open(PATH)) {
        assertArrayEquals(DATA, in.readAllBytes());
      }
      try (FSDataInputStream in = fs.open(new Path("/" + OTHER.key()))) {
        assertArrayEquals(DATA, in.readAllBytes());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "crt", "s3a"})
  void withARequiredVersionTheFirstAnswerIsTheError(String client) throws Exception {
    try (S3EFileSystem fs = open(client, true);
        FSDataInputStream in = openForRandomReads(fs)) {
      server.forgetRequests();
      assertThatThrownBy(() -> in.readFully(0, new byte[1000]))
          .isInstanceOf(NoVersionAttributeException.class)
          .hasMessageContaining("Change detection policy requires ETag");
      assertThat(server.gets()).hasSize(1);
      assertThat(fs.getIOStatistics().counters()).containsEntry("s3e_client_fallback", 0L);
    }
  }

  /** A client that was asked for by name has no other behind it. */
  @Test
  void theCrtAloneSaysAtOnceWhatItCannotRead() throws Exception {
    try (S3EFileSystem fs = open("crt", false);
        FSDataInputStream in = openForRandomReads(fs)) {
      server.forgetRequests();
      assertThatThrownBy(() -> in.readFully(0, new byte[1000]))
          .hasMessageContaining("no ETag")
          .hasMessageContaining("AWS CRT");
      assertThat(server.gets()).hasSize(1);
    }
  }

  /** What becomes of a read: its bytes, or the class of what it throws. */
  private Object outcome(Configuration conf, String mode, String source, boolean required)
      throws Exception {
    conf.set("fs.s3a.change.detection.mode", mode);
    conf.set("fs.s3a.change.detection.source", source);
    conf.setBoolean(REQUIRED, required);
    try (FileSystem fs = S3AReads.open(conf)) {
      server.forgetRequests();
      try (FSDataInputStream in =
          fs.openFile(PATH).opt("fs.option.openfile.read.policy", "random").build().get()) {
        byte[] bytes = new byte[1000];
        in.readFully(5000, bytes);
        assertArrayEquals(slice(5000, 1000), bytes);
        return "bytes";
      } catch (IOException e) {
        return e.getClass();
      }
    }
  }

  /** The stream that Hadoop 3.5 has by default ends in a NullPointerException there. */
  private Configuration classic() {
    Configuration conf = S3AServer.s3a(server.endpoint());
    conf.set("fs.s3a.input.stream.type", "classic");
    return conf;
  }

  private static Stream<Arguments> policies() {
    return Stream.of("server", "client", "warn", "none")
        .flatMap(
            mode ->
                Stream.of("etag", "versionid")
                    .flatMap(
                        source ->
                            Stream.of(true, false)
                                .map(required -> Arguments.of(mode, source, required))));
  }

  /** S3A's stream is the measure; what the CRT has asked for in vain is asked for once more. */
  @Slow
  @ParameterizedTest
  @MethodSource("policies")
  void changeDetectionEndsAsWithS3A(String mode, String source, boolean required) throws Exception {
    Object s3a = outcome(classic(), mode, source, required);
    int gets = server.gets().size();
    Object s3e = outcome(S3AServer.s3e(server.endpoint()), mode, source, required);
    assertThat(s3e).isEqualTo(s3a);
    assertThat(server.gets()).hasSizeLessThanOrEqualTo(gets + 1);
  }

  /** The version that was opened cannot be told from the answers. */
  @ParameterizedTest
  @ValueSource(strings = {"true", "false"})
  void anEtagThatOnlyTheHeadNamesEndsAsWithS3A(boolean required) throws Exception {
    server.decideAll(
        request ->
            request.method().equals("GET") && request.target().contains(OBJECT.key())
                ? Fault.etag(null)
                : Fault.none());
    Object s3a = outcome(classic(), "server", "etag", required);
    Object s3e = outcome(S3AServer.s3e(server.endpoint()), "server", "etag", required);
    assertThat(s3e).isEqualTo(s3a);
    assertThat(server.gets()).hasSizeLessThanOrEqualTo(2);
  }

  /** Nothing but its length would tell the object from another one under its name. */
  @Test
  void nothingOfItIsKeptOnDisk(@TempDir java.nio.file.Path directory) throws Exception {
    Engines.endIdle();
    Configuration conf = S3AReads.small(S3AServer.s3e(server.endpoint()));
    conf.setBoolean(REQUIRED, false);
    conf.set("fs.s3a.s3e.cache.mode", "disk");
    conf.set("fs.s3a.s3e.cache.dirs", directory.toString());
    conf.set("fs.s3a.s3e.cache.scope", "host");
    try (S3EFileSystem fs = (S3EFileSystem) S3AReads.open(conf)) {
      readWhole(fs, OTHER);
      awaitTrue("the other object is written", () -> written(fs) > 0);
      long before = counter(fs, "s3e_cache_offered_bytes");
      for (int i = 0; i < 2; i++) {
        server.forgetRequests();
        readWhole(fs, OBJECT);
        assertThat(server.gets()).isNotEmpty();
      }
      assertThat(counter(fs, "s3e_cache_offered_bytes")).isEqualTo(before);
    } finally {
      Engines.endIdle();
    }
  }

  private static void readWhole(FileSystem fs, ObjectRef object) throws IOException {
    try (FSDataInputStream in = fs.open(new Path("/" + object.key()))) {
      assertArrayEquals(DATA, in.readAllBytes());
    }
  }

  private static long written(S3EFileSystem fs) {
    return counter(fs, "s3e_cache_written_bytes");
  }

  private static long counter(S3EFileSystem fs, String name) {
    return fs.getIOStatistics().counters().get(name);
  }

  /** One GET at a time. */
  private static FSDataInputStream openForRandomReads(S3EFileSystem fs) throws Exception {
    return fs.openFile(PATH).opt("fs.option.openfile.read.policy", "random").build().get();
  }

  private static byte[] slice(int from, int length) {
    return Arrays.copyOfRange(DATA, from, from + length);
  }
}
