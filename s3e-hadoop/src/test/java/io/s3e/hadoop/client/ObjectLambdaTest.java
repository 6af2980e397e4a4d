// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AReads;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.HostileS3Server.Request;
import io.s3e.testing.MemoryObjectClient;
import java.net.URI;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A store that makes another answer for each caller, under one ETag. */
@Timeout(60)
class ObjectLambdaTest {
  private static final String ALIAS = "masked-1a4n8yjrb3kda96f67zwrwiiuse1a--ol-s3";
  private static final int BLOCK = 64 << 10;
  private static final byte[] CONTENT = MemoryObjectClient.bytes(20 * BLOCK, 8);

  @TempDir private Path disk;
  private HostileS3Server server;

  @BeforeEach
  void start() throws Exception {
    server = HostileS3Server.start();
    for (String bucket : new String[] {ALIAS, S3AServer.BUCKET}) {
      server.put(new ObjectRef(bucket, "file"), CONTENT);
    }
    server.decide(ObjectLambdaTest::madeFor);
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
  }

  /** Other bytes for all but one. */
  private static Fault madeFor(Request request) {
    String[] range = request.header("Range").substring("bytes=".length()).split("-");
    int length = Integer.parseInt(range[1]) - Integer.parseInt(range[0]) + 1;
    return request.header("Authorization").contains("Credential=owner/")
        ? Fault.none()
        : Fault.junk(length);
  }

  private Configuration s3e(String user) {
    return by(user, S3AReads.small(S3AServer.s3e(server.endpoint())));
  }

  private static Configuration by(String user, Configuration conf) {
    conf.set("fs.s3a.access.key", user);
    conf.set("fs.s3a.s3e.prefetch.enabled", "false");
    return conf;
  }

  private static FileSystem open(String bucket, Configuration conf) throws Exception {
    return FileSystem.newInstance(URI.create("s3a://" + bucket), conf);
  }

  private static byte[] read(FileSystem fs) throws Exception {
    try (FSDataInputStream in = fs.open(new org.apache.hadoop.fs.Path("/file"))) {
      byte[] bytes = new byte[CONTENT.length];
      in.readFully(0, bytes);
      return bytes;
    }
  }

  /** How many blocks the second of two file systems gets of what was made for the first. */
  private static int ofAnother(String bucket, Configuration owner, Configuration other)
      throws Exception {
    try (FileSystem first = open(bucket, owner);
        FileSystem second = open(bucket, other)) {
      assertArrayEquals(CONTENT, read(first));
      byte[] read = read(second);
      int same = 0;
      for (int at = 0; at < CONTENT.length; at += BLOCK) {
        same += Arrays.equals(CONTENT, at, at + BLOCK, read, at, at + BLOCK) ? 1 : 0;
      }
      return same;
    }
  }

  @Test
  void nobodyGetsWhatWasMadeForAnother() throws Exception {
    assertThat(ofAnother(ALIAS, s3e("owner"), s3e("other"))).isZero();
    // Of other buckets a version has the same bytes for all, whom S3 has allowed to read it.
    assertThat(ofAnother(S3AServer.BUCKET, s3e("owner"), s3e("other"))).isPositive();
  }

  /** S3A's own file system with S3E's streams, whose factory hears of the bucket by them. */
  @Tag("stream-spi")
  @Test
  void norByTheFactoryAlone() throws Exception {
    Configuration owner = S3AReads.small(S3AServer.factoryAlone(server.endpoint()));
    Configuration other = S3AReads.small(S3AServer.factoryAlone(server.endpoint()));
    assertThat(ofAnother(ALIAS, by("owner", owner), by("other", other))).isZero();
  }

  @Test
  void nothingGoesToDisk() throws Exception {
    Configuration conf = s3e("owner");
    conf.set("fs.s3a.s3e.cache.mode", "disk");
    conf.set("fs.s3a.s3e.cache.scope", "host");
    conf.set("fs.s3a.s3e.cache.dirs", disk.toString());
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = open(ALIAS, conf)) {
      assertArrayEquals(CONTENT, read(fs));
      assertThat(log.lines("goes to local disk: S3 Object Lambda")).hasSize(1);
      assertThat(log.lines("by S3A's client and not by the AWS CRT: its access point")).hasSize(1);
    }
    assertThat(disk.toFile().list()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    ALIAS + ", true",
    "arn:aws:s3-object-lambda:eu-west-1:123456789012:accesspoint/a, true",
    "arn:aws-cn:s3-object-lambda:cn-north-1:123456789012:accesspoint/a, true",
    "arn:aws:s3:eu-west-1:123456789012:accesspoint/s3-object-lambda, false",
    "test-accessp-o0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kuse10--op-s3, false",
    "logs, false"
  })
  void bucketsAreToldByTheirNames(String bucket, boolean isMade) {
    assertThat(ObjectLambda.store(bucket, "store")).isEqualTo(isMade ? null : "store");
    assertThat(ObjectLambda.notForDisk(bucket) != null).isEqualTo(isMade);
  }
}
