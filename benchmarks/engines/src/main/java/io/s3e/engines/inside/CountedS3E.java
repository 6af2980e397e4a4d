// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.inside;

import io.s3e.hadoop.S3EFileSystem;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.impl.OpenFileParameters;

/**
 * S3E as it is, and a count of the bytes that its streams give to their readers: for engines that
 * ask S3E for other bytes than S3A, because a read of S3E's ends elsewhere.
 */
public final class CountedS3E extends S3EFileSystem {

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    GivenBytes.reportTo(conf.getTrimmed(CountedS3A.DIRECTORY, ""));
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return new CountedInputStream(super.open(path, bufferSize));
  }

  @Override
  public CompletableFuture<FSDataInputStream> openFileWithOptions(
      Path path, OpenFileParameters parameters) throws IOException {
    return super.openFileWithOptions(path, parameters).thenApply(CountedInputStream::new);
  }
}
