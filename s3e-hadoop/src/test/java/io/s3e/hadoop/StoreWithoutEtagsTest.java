package io.s3e.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ObjectRef;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.NoVersionAttributeException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
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
        assertThat(in.readAllBytes()).isEqualTo(DATA);
      }
      try (FSDataInputStream in = fs.open(PATH)) {
        FileRange range = FileRange.createFileRange(1_000_000, 1000);
        in.readVectored(List.of(range), ByteBuffer::allocate);
        byte[] bytes = new byte[1000];
        range.getData().get(60, TimeUnit.SECONDS).get(bytes);
        assertThat(bytes).isEqualTo(slice(1_000_000, 1000));
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
          assertThat(bytes).isEqualTo(slice(5000, 1000));
        }
      }
      assertThat(fs.hasPathCapability(PATH, "fs.s3a.s3e.client.s3a")).isTrue();
      assertThat(fs.getIOStatistics().counters()).containsEntry("s3e_client_fallback", 1L);
      List<String> told = log.lines("by S3A's client");
      assertThat(told).hasSize(1);
      assertThat(told.get(0)).contains("WARN", "no ETag", "fs.s3a.s3e.client");
    }
  }

  /** A store that names some: laid there by another program than the others. */
  @Test
  void oneObjectWithoutAnEtagAmongOthersIsReadToo() throws Exception {
    try (S3EFileSystem fs = open("auto", false)) {
      try (FSDataInputStream in = fs.open(new Path("/" + OTHER.key()))) {
        assertThat(in.readAllBytes()).isEqualTo(DATA);
      }
      assertThat(fs.hasPathCapability(PATH, "fs.s3a.s3e.client.crt")).isTrue();
      try (FSDataInputStream in = fs.open(PATH)) {
        assertThat(in.readAllBytes()).isEqualTo(DATA);
      }
      try (FSDataInputStream in = fs.open(new Path("/" + OTHER.key()))) {
        assertThat(in.readAllBytes()).isEqualTo(DATA);
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

  /** One GET at a time. */
  private static FSDataInputStream openForRandomReads(S3EFileSystem fs) throws Exception {
    return fs.openFile(PATH).opt("fs.option.openfile.read.policy", "random").build().get();
  }

  private static byte[] slice(int from, int length) {
    return Arrays.copyOfRange(DATA, from, from + length);
  }
}
