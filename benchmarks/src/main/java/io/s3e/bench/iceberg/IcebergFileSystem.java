// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.iceberg;

import io.s3e.bench.raw.StoreSettings;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.iceberg.S3EFileIO;
import java.io.IOException;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.fs.s3a.Constants;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.iceberg.aws.s3.S3FileIO;
import org.jspecify.annotations.Nullable;

/**
 * S3A whose files are opened by a file IO of Iceberg's with the length that a manifest would tell.
 * Everything but reading is S3A's. For measurement only.
 */
public final class IcebergFileSystem extends S3AFileSystem {
  /** Names an {@link Io}. */
  public static final String IO = "s3e.bench.iceberg.io";

  private static final String CA_FILE = "fs.s3a.s3e.tls.ca.file";

  /** The file IO that reads. */
  public enum Io {
    /** Iceberg's default. */
    S3FILEIO,
    /** S3E's. */
    S3E
  }

  private @Nullable S3FileIO io;

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    Io kind = Io.valueOf(conf.getTrimmed(IO));
    S3FileIO made = kind == Io.S3E ? new S3EFileIO() : new S3FileIO();
    made.initialize(properties(kind, name, conf));
    io = made;
  }

  /** Those of a catalog at the store that S3A is told of. */
  private static Map<String, String> properties(Io kind, URI name, Configuration conf)
      throws IOException {
    AwsClientSettings store = StoreSettings.of(name, conf);
    Map<String, String> properties = new HashMap<>();
    if (store.endpoint() != null) {
      properties.put("s3.endpoint", store.endpoint().toString());
    }
    if (store.region() != null) {
      properties.put("client.region", store.region());
    }
    properties.put("s3.path-style-access", Boolean.toString(store.pathStyle()));
    String accessKey = conf.getTrimmed(Constants.ACCESS_KEY);
    if (accessKey != null) {
      properties.put("s3.access-key-id", accessKey);
      properties.put("s3.secret-access-key", conf.getTrimmed(Constants.SECRET_KEY));
    }
    String caFile = conf.getTrimmed(CA_FILE, "");
    if (kind == Io.S3E && !caFile.isEmpty()) {
      properties.put("s3e.tls.ca.file", caFile);
    }
    return properties;
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return open(path, getFileStatus(path).getLen());
  }

  @Override
  public CompletableFuture<FSDataInputStream> openFileWithOptions(
      Path path, OpenFileParameters parameters) throws IOException {
    FileStatus status = parameters.getStatus();
    return CompletableFuture.completedFuture(
        open(path, (status == null ? getFileStatus(path) : status).getLen()));
  }

  private FSDataInputStream open(Path path, long length) throws IOException {
    if (io == null) {
      throw new IOException("Filesystem closed: " + getUri());
    }
    String location = "s3://" + getBucket() + "/" + pathToKey(makeQualified(path));
    return new FSDataInputStream(
        new IcebergInputStream(io.newInputFile(location, length).newStream()));
  }

  @Override
  public void close() throws IOException {
    try {
      if (io != null) {
        io.close();
      }
    } finally {
      super.close();
    }
  }
}
