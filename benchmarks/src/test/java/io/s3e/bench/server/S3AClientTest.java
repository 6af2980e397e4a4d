// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.testing.Slow;
import java.io.FileNotFoundException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.s3a.RemoteFileChangedException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server as S3A uses it: writes in parts, renames, lists, deletes, and notices a change. */
class S3AClientTest {

  private static final int PART_BYTES = 5 << 20;

  @TempDir private static Path temp;
  private static ShapedS3Server server;
  private static FileSystem s3a;

  @BeforeAll
  static void start() throws Exception {
    Path root = Files.createDirectory(temp.resolve("root"));
    Files.createDirectory(root.resolve("bucket"));
    server =
        ShapedS3Server.start(
            new ShapedS3Server.Settings(root, 0, "access", "secret", Shape.UNSHAPED));
    Configuration configuration = new Configuration();
    configuration.set("fs.s3a.endpoint", server.endpoint().toString());
    configuration.set("fs.s3a.endpoint.region", "us-east-1");
    configuration.set("fs.s3a.path.style.access", "true");
    configuration.set("fs.s3a.access.key", "access");
    configuration.set("fs.s3a.secret.key", "secret");
    configuration.set("fs.s3a.multipart.size", Integer.toString(PART_BYTES));
    configuration.set("fs.s3a.input.stream.type", "classic");
    configuration.set("hadoop.tmp.dir", temp.resolve("tmp").toString());
    s3a = FileSystem.newInstance(URI.create("s3a://bucket/"), configuration);
  }

  @AfterAll
  static void stop() throws Exception {
    s3a.close();
    server.close();
  }

  private static org.apache.hadoop.fs.Path path(String key) {
    return new org.apache.hadoop.fs.Path("s3a://bucket/" + key);
  }

  private static byte[] write(String key, int length) throws Exception {
    byte[] content = new byte[length];
    new Random(length).nextBytes(content);
    try (FSDataOutputStream out = s3a.create(path(key), true)) {
      out.write(content);
    }
    return content;
  }

  @Test
  @Slow
  void largeFileIsWrittenInPartsAndReadBack() throws Exception {
    ServerStats before = server.stats();
    byte[] content = write("large", 3 * PART_BYTES + 17);
    ServerStats written = server.stats().since(before);
    byte[] got = new byte[content.length];
    try (FSDataInputStream in = s3a.open(path("large"))) {
      in.readFully(0, got);
    }

    assertThat(written.of(Operation.UPLOAD_PART).requests()).isEqualTo(4);
    assertThat(written.of(Operation.COMPLETE_MULTIPART_UPLOAD).requests()).isEqualTo(1);
    assertThat(got).isEqualTo(content);
    assertThat(server.stats().relayedGets()).isZero();
  }

  @Test
  @Slow
  void positionedReadAndSeek() throws Exception {
    byte[] content = write("seek", 600_000);
    byte[] got = new byte[1000];
    try (FSDataInputStream in = s3a.open(path("seek"))) {
      in.readFully(500_000, got);
      assertThat(got).isEqualTo(Arrays.copyOfRange(content, 500_000, 501_000));
      in.seek(10);
      in.readFully(got);
      assertThat(got).isEqualTo(Arrays.copyOfRange(content, 10, 1010));
    }
  }

  @Test
  @Slow
  void listRenameDelete() throws Exception {
    write("dir/a", 10);
    write("dir/b", 20);

    assertThat(s3a.listStatus(path("dir")))
        .extracting(FileStatus::getLen)
        .containsExactly(10L, 20L);
    s3a.rename(path("dir"), path("moved"));
    assertThat(s3a.getFileStatus(path("moved/b")).getLen()).isEqualTo(20);
    s3a.delete(path("moved"), true);
    assertThatThrownBy(() -> s3a.getFileStatus(path("moved/b")))
        .isInstanceOf(FileNotFoundException.class);
  }

  @Test
  void changeWhileReadingIsNoticed() throws Exception {
    write("changing", 400_000);
    byte[] one = new byte[1];
    try (FSDataInputStream in = s3a.open(path("changing"))) {
      in.readFully(0, one);
      write("changing", 400_001);
      assertThatThrownBy(() -> in.readFully(399_000, one))
          .isInstanceOf(RemoteFileChangedException.class);
    }
  }
}
