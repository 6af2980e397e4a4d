// SPDX-License-Identifier: Apache-2.0
package io.s3e.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.S3ProxyServer;
import io.s3e.testing.Slow;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The example runs, and runs without Hadoop. */
@Timeout(120)
@Slow
class CopyObjectTest {
  @RegisterExtension static final S3ProxyServer SERVER = S3ProxyServer.anonymous();

  @Test
  void copiesAnObjectWithoutHadoopOnTheClassPath(@TempDir Path dir) throws Exception {
    assertThatThrownBy(() -> Class.forName("org.apache.hadoop.fs.FileSystem"))
        .isInstanceOf(ClassNotFoundException.class);
    byte[] content = MemoryObjectClient.bytes(3_000_000, 5);
    SERVER.createBucket("example");
    SERVER.put("example", "data.bin", content);
    System.setProperty("aws.accessKeyId", S3ProxyServer.ACCESS_KEY);
    System.setProperty("aws.secretAccessKey", S3ProxyServer.SECRET_KEY);
    try {
      Path target = dir.resolve("copy.bin");

      CopyObject.main(
          new String[] {"example", "data.bin", target.toString(), SERVER.endpoint().toString()});

      assertThat(Files.readAllBytes(target)).isEqualTo(content);
    } finally {
      System.clearProperty("aws.accessKeyId");
      System.clearProperty("aws.secretAccessKey");
    }
  }
}
