// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.s3e.block.ObjectRef;
import io.s3e.testing.HostileS3Server;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.RemoteFileChangedException;
import org.apache.hadoop.fs.s3a.S3AFileStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files of a bucket with versions, opened by what has no version id, and replaced while open. */
@Timeout(180)
class KeptVersionsTest {
  private static final ObjectRef OBJECT = new ObjectRef(S3AServer.BUCKET, "kept");
  private static final Path PATH = new Path("s3a://" + S3AServer.BUCKET + "/" + OBJECT.key());
  private static final int SIZE = 3 << 20;
  private static final byte[] BEFORE = S3AReads.random(SIZE);
  private static final byte[] AFTER = new byte[SIZE];

  private HostileS3Server server;
  private String etag;

  @BeforeEach
  void start() throws Exception {
    server = HostileS3Server.startApart();
    etag = server.put(OBJECT, "v1", BEFORE);
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
  }

  private FileSystem open(String client, String source) throws IOException {
    boolean isS3A = client.equals("classic");
    Configuration conf = isS3A ? S3AServer.s3a(server.endpoint()) : s3e(client);
    conf.set("fs.s3a.input.stream.type", "classic");
    conf.set("fs.s3a.change.detection.source", source);
    conf.set("fs.s3a.change.detection.mode", "server");
    return S3AReads.open(conf);
  }

  private Configuration s3e(String client) {
    Configuration conf = S3AServer.s3e(server.endpoint());
    conf.set("fs.s3a.s3e.client", client);
    conf.set("fs.s3a.s3e.prefetch.enabled", "false");
    return conf;
  }

  /** By a status as a listing has it, or by the length alone. */
  private FSDataInputStream open(FileSystem fs, boolean hasEtag) throws Exception {
    FutureDataInputStreamBuilder opened =
        fs.openFile(PATH).opt("fs.option.openfile.read.policy", "random");
    return hasEtag
        ? opened
            .withFileStatus(new S3AFileStatus(SIZE, 0, PATH, SIZE, "owner", etag, null))
            .build()
            .get()
        : opened.opt("fs.option.openfile.length", String.valueOf(SIZE)).build().get();
  }

  private static void assertRead(FSDataInputStream in, int from, byte[] of) throws IOException {
    byte[] bytes = new byte[1000];
    in.readFully(from, bytes);
    assertArrayEquals(Arrays.copyOfRange(of, from, from + 1000), bytes);
  }

  private List<String> targets() {
    return server.gets().stream().map(HostileS3Server.Request::target).toList();
  }

  /** S3A's stream is the measure. */
  @ParameterizedTest
  @CsvSource({
    "classic, true",
    "classic, false",
    "auto, true",
    "auto, false",
    "s3a, true",
    "s3a, false",
  })
  void theVersionOfTheFirstAnswerIsReadOn(String client, boolean hasEtag) throws Exception {
    try (FileSystem fs = open(client, "versionid");
        FSDataInputStream in = open(fs, hasEtag)) {
      server.forgetRequests();
      assertRead(in, 0, BEFORE);
      assertThat(targets()).hasSize(1).noneMatch(target -> target.contains("versionId"));
      in.unbuffer();
      server.put(OBJECT, "v2", AFTER);
      server.forgetRequests();
      assertRead(in, SIZE / 2, BEFORE);
      assertRead(in, SIZE - 1000, BEFORE);
      assertThat(targets()).isNotEmpty().allMatch(target -> target.contains("versionId=v1"));
      try (FSDataInputStream next = fs.open(PATH)) {
        assertRead(next, 0, AFTER);
      }
    }
  }

  /** A listing tells an ETag and no version id: S3A reads what is there now, and holds on to it. */
  @ParameterizedTest
  @ValueSource(strings = {"classic", "auto", "s3a"})
  void whatIsReplacedBeforeTheFirstReadIsReadAsItIsThen(String client) throws Exception {
    try (FileSystem fs = open(client, "versionid");
        FSDataInputStream in = open(fs, true)) {
      server.put(OBJECT, "v2", AFTER);
      server.forgetRequests();
      assertRead(in, 0, AFTER);
      assertThat(targets()).hasSize(1).noneMatch(target -> target.contains("versionId"));
      in.unbuffer();
      server.put(OBJECT, "v3", BEFORE);
      server.forgetRequests();
      assertRead(in, SIZE / 2, AFTER);
      assertThat(targets()).isNotEmpty().allMatch(target -> target.contains("versionId=v2"));
    }
  }

  /** A version without an id can be replaced; its ETag tells. */
  @ParameterizedTest
  @ValueSource(strings = {"auto", "s3a"})
  void aReplacedVersionUnderTheSameIdIsAChange(String client) throws Exception {
    etag = server.put(OBJECT, "null", BEFORE);
    try (FileSystem fs = open(client, "versionid");
        FSDataInputStream in = open(fs, true)) {
      assertRead(in, 0, BEFORE);
      in.unbuffer();
      server.put(OBJECT, "null", AFTER);
      assertThatThrownBy(() -> assertRead(in, SIZE / 2, BEFORE))
          .isInstanceOf(RemoteFileChangedException.class);
    }
  }

  /** Another permission than reading, so only where the version id is asked for. */
  @ParameterizedTest
  @ValueSource(strings = {"auto", "s3a"})
  void bySourceEtagNoVersionIsAskedFor(String client) throws Exception {
    try (FileSystem fs = open(client, "etag");
        FSDataInputStream in = open(fs, true)) {
      assertRead(in, 0, BEFORE);
      in.unbuffer();
      assertRead(in, SIZE / 2, BEFORE);
      server.put(OBJECT, "v2", AFTER);
      in.unbuffer();
      assertThatThrownBy(() -> assertRead(in, SIZE - 1000, BEFORE))
          .isInstanceOf(RemoteFileChangedException.class);
      assertThat(targets()).noneMatch(target -> target.contains("versionId"));
    }
  }
}
