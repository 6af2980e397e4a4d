// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.S3EAbstractFileSystem;
import io.s3e.hadoop.S3EFileSystem;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** S3E behind the other schemes that {@code bootstrap.sh} sets, by both keys of each. */
class OtherSchemesTest {
  private static final byte[] CONTENT = {1, 2, 3, 4, 5};

  @ParameterizedTest
  @ValueSource(strings = {"s3a", "s3", "s3n"})
  void isReadByS3e(String scheme) throws Exception {
    Configuration conf = S3AServer.s3a(S3AServer.endpoint());
    conf.set("fs." + scheme + ".impl", S3EFileSystem.class.getName());
    conf.set("fs.AbstractFileSystem." + scheme + ".impl", S3EAbstractFileSystem.class.getName());
    URI bucket = URI.create(scheme + "://" + S3AServer.BUCKET);
    Path path = new Path(bucket + "/of-the-scheme-" + scheme);
    try (FileSystem fs = FileSystem.newInstance(bucket, conf)) {
      try (OutputStream out = fs.create(path)) {
        out.write(CONTENT);
      }
      assertThat(fs.getFileStatus(path).getPath()).isEqualTo(path);
      assertThat(fs.hasPathCapability(path, "fs.s3a.s3e")).isTrue();
      try (InputStream in = fs.open(path)) {
        assertArrayEquals(CONTENT, in.readAllBytes());
      }
    }
    try (FSDataInputStream in = FileContext.getFileContext(bucket, conf).open(path)) {
      assertThat(in.getWrappedStream().toString()).contains("S3E");
      assertArrayEquals(CONTENT, in.readAllBytes());
    }
  }
}
