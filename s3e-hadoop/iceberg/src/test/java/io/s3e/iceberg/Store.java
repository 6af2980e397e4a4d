// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import io.s3e.testing.Eventually;
import io.s3e.testserver.S3TestServer;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;
import org.apache.iceberg.aws.s3.S3FileIO;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.io.PositionOutputStream;

/** An S3 server with a bucket, and the properties of a catalog that is there. */
final class Store implements AutoCloseable {
  static final String BUCKET = HostileStore.BUCKET;

  private final S3TestServer server;

  Store() throws Exception {
    server = S3TestServer.inMemory().withBucket(BUCKET);
  }

  static String location(String key) {
    return "s3://" + BUCKET + "/" + key;
  }

  /**
   * @param more key, value and so on
   */
  Map<String, String> properties(String... more) {
    Map<String, String> properties = new HashMap<>();
    properties.put("s3.endpoint", server.endpoint().toString());
    properties.put("s3.path-style-access", "true");
    properties.put("s3.access-key-id", S3TestServer.ACCESS_KEY);
    properties.put("s3.secret-access-key", S3TestServer.SECRET_KEY);
    properties.put("client.region", "us-east-1");
    for (int i = 0; i < more.length; i += 2) {
      properties.put(more[i], more[i + 1]);
    }
    return properties;
  }

  <F extends FileIO> F open(F io, String... more) {
    io.initialize(properties(more));
    return io;
  }

  /** Writes by Iceberg's own client. */
  void put(String key, byte[] content) throws Exception {
    try (S3FileIO io = open(new S3FileIO())) {
      OutputFile file = io.newOutputFile(location(key));
      try (PositionOutputStream out = file.createOrOverwrite()) {
        out.write(content);
      }
    }
  }

  @Override
  public void close() throws Exception {
    server.close();
  }

  /** Until what nothing holds is gone, and finalized. */
  static void collectGarbage() throws Exception {
    WeakReference<?> unrelated = new WeakReference<>(new Object());
    Eventually.awaitTrue(
        "garbage is collected",
        () -> {
          System.gc();
          System.runFinalization();
          return unrelated.get() == null;
        });
  }
}
