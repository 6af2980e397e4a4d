// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import io.s3e.testserver.S3TestServer;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.impl.AWSClientConfig;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;

/**
 * One S3 server for all adapter tests of this JVM, and the configuration that leads S3A to it.
 * Started at first use, stopped when the JVM ends.
 */
public final class S3AServer {
  public static final String BUCKET = "s3e-test";

  private static S3TestServer server;

  private S3AServer() {}

  /** Where the server listens. */
  public static synchronized URI endpoint() {
    if (server == null) {
      try {
        server = S3TestServer.inMemory().withBucket(BUCKET);
      } catch (Exception e) {
        throw new IllegalStateException("the test server does not start", e);
      }
      Runtime.getRuntime().addShutdownHook(new Thread(S3AServer::stop, "stop-test-server"));
    }
    return server.endpoint();
  }

  /** Creates one more bucket. */
  public static synchronized void createBucket(String name) {
    endpoint();
    server.withBucket(name);
  }

  /** The server's credentials, about to expire, so that each request asks for others. */
  static AwsSessionCredentials soonExpired() {
    return AwsSessionCredentials.builder()
        .accessKeyId(S3TestServer.ACCESS_KEY)
        .secretAccessKey(S3TestServer.SECRET_KEY)
        .sessionToken("token")
        .expirationTime(Instant.now().plusSeconds(10))
        .build();
  }

  private static synchronized void stop() {
    try {
      server.close();
    } catch (Exception e) {
      throw new IllegalStateException("the test server does not stop", e);
    }
  }

  /** S3A against {@code endpoint}, without caching of file systems; nothing of S3E is set. */
  public static Configuration s3a(URI endpoint) {
    Configuration conf = new Configuration();
    conf.set("fs.s3a.endpoint", endpoint.toString());
    conf.set("fs.s3a.endpoint.region", "us-east-1");
    conf.set("fs.s3a.access.key", S3TestServer.ACCESS_KEY);
    conf.set("fs.s3a.secret.key", S3TestServer.SECRET_KEY);
    conf.setBoolean("fs.s3a.path.style.access", true);
    conf.setBoolean("fs.s3a.connection.ssl.enabled", false);
    conf.setBoolean("fs.s3a.impl.disable.cache", true);
    // Not in memory, of which S3A takes 64 MiB for each file that is written.
    conf.set("fs.s3a.fast.upload.buffer", "disk");
    conf.set("fs.s3a.buffer.dir", Path.of(System.getProperty("java.io.tmpdir")).toString());
    conf.set("fs.s3a.attempts.maximum", "2");
    conf.set("fs.s3a.retry.limit", "2");
    conf.set("fs.s3a.retry.interval", "50ms");
    // Most tests count requests; those of the cache on disk switch it on.
    conf.set("fs.s3a.s3e.cache.mode", "memory");
    return conf;
  }

  /**
   * Has GETs that are silent for so long sent again, where a user cannot have less than 15 s. It
   * holds for all file systems of the JVM until {@link
   * AWSClientConfig#resetMinimumOperationDuration()}.
   */
  public static void stallsAfter(Configuration conf, Duration silence) {
    AWSClientConfig.setMinimumOperationDuration(silence);
    conf.set("fs.s3a.connection.timeout", silence.toMillis() + "ms");
  }

  /** S3E by its one key. */
  public static Configuration s3e(URI endpoint) {
    Configuration conf = s3a(endpoint);
    conf.set("fs.s3a.impl", S3EFileSystem.class.getName());
    return conf;
  }

  /** S3A's own file system with S3E's streams. Hadoop 3.4.2 and later. */
  public static Configuration factoryAlone(URI endpoint) {
    Configuration conf = s3a(endpoint);
    conf.set("fs.s3a.input.stream.type", "custom");
    conf.set("fs.s3a.input.stream.custom.factory", "io.s3e.hadoop.S3EStreamFactory");
    return conf;
  }
}
