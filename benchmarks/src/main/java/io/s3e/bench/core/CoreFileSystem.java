// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.core;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.bench.raw.StoreSettings;
import io.s3e.block.ObjectRef;
import io.s3e.client.aws.AwsClients;
import io.s3e.prefetch.ReadPolicy;
import java.io.IOException;
import java.net.URI;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Options.OpenFileOptions;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.jspecify.annotations.Nullable;

/**
 * S3A whose files are read by S3E's core with its defaults, over the CRT in the form that it has
 * where it cannot lend. Everything but reading is S3A's. For measurement only: no audit, no
 * statistics, no change detection beyond the core's.
 */
public final class CoreFileSystem extends S3AFileSystem {

  private @Nullable S3E engine;

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    engine =
        S3E.create(S3EConfig.DEFAULTS, AwsClients.crtWithoutLending(StoreSettings.of(name, conf)));
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return open(path, OpenOptions.DEFAULTS);
  }

  @Override
  public CompletableFuture<FSDataInputStream> openFileWithOptions(
      Path path, OpenFileParameters parameters) throws IOException {
    OpenOptions options = OpenOptions.DEFAULTS.withPolicy(policy(parameters.getOptions()));
    FileStatus status = parameters.getStatus();
    return CompletableFuture.completedFuture(
        open(path, status == null ? options : options.withSize(status.getLen())));
  }

  private FSDataInputStream open(Path path, OpenOptions options) throws IOException {
    if (engine == null) {
      throw new IOException("Filesystem closed: " + getUri());
    }
    Path full = makeQualified(path);
    ObjectRef object = new ObjectRef(getBucket(), pathToKey(full));
    return new FSDataInputStream(new CoreInputStream(engine.open(object, options)));
  }

  /** The first policy of the list that the core knows. */
  private static ReadPolicy policy(Configuration options) {
    for (String name :
        options.getTrimmedStringCollection(OpenFileOptions.FS_OPTION_OPENFILE_READ_POLICY)) {
      switch (name.toLowerCase(Locale.ROOT)) {
        case OpenFileOptions.FS_OPTION_OPENFILE_READ_POLICY_SEQUENTIAL:
          return ReadPolicy.SEQUENTIAL;
        case OpenFileOptions.FS_OPTION_OPENFILE_READ_POLICY_WHOLE_FILE:
          return ReadPolicy.WHOLE_FILE;
        case OpenFileOptions.FS_OPTION_OPENFILE_READ_POLICY_ADAPTIVE:
          return ReadPolicy.ADAPTIVE;
        default:
          break;
      }
    }
    return ReadPolicy.ADAPTIVE;
  }

  @Override
  public void close() throws IOException {
    try {
      if (engine != null) {
        engine.close();
      }
    } finally {
      super.close();
    }
  }
}
