// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.inside;

import java.io.IOException;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.fs.s3a.S3AFileSystem;

/**
 * S3A as it is, and a count of the bytes that its streams give to their readers. S3A's own counters
 * do not tell them: its classic stream leaves vectored reads out, its analytics stream all reads.
 */
public final class CountedS3A extends S3AFileSystem {

  /** A directory where each process leaves a file with its count. */
  public static final String DIRECTORY = "s3e.engines.counts.directory";

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    GivenBytes.reportTo(conf.getTrimmed(DIRECTORY, ""));
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
