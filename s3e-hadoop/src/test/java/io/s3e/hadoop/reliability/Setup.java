// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.SelfSigned;
import io.s3e.testing.StoredContent;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.jspecify.annotations.Nullable;

/** A server with the pace of S3, and a file system that has read from it once. */
final class Setup implements AutoCloseable {
  /** Of S3 within a region, for small objects, and of one connection. */
  private static final Duration FIRST_BYTE = Duration.ofMillis(30);

  private static final long BYTES_PER_SECOND = 60_000_000;

  private final HostileS3Server server;
  private final Configuration conf;
  private final FileSystem fs;
  private final List<FileSystem> others = new ArrayList<>();

  private Setup(HostileS3Server server, Configuration conf) throws Exception {
    this.server = server;
    this.conf = conf;
    fs = FileSystem.newInstance(URI.create("s3a://" + S3AServer.BUCKET), conf);
    ObjectRef first = new ObjectRef(S3AServer.BUCKET, "first");
    server.put(first, StoredContent.generated(64 << 10, 0));
    try (FSDataInputStream in = fs.open(new org.apache.hadoop.fs.Path("/" + first.key()))) {
      in.readFully(new byte[64 << 10]);
    }
    server.forgetRequests();
    server.shape(FIRST_BYTE, BYTES_PER_SECOND);
  }

  /** By plain HTTP, with further keys. */
  static Setup plain(Subject subject, Map<String, String> settings) throws Exception {
    HostileS3Server server = HostileS3Server.startApart();
    Configuration conf = subject.configuration(server.endpoint());
    settings.forEach(conf::set);
    return new Setup(server, conf);
  }

  /** As above, by TLS. The JVM has to trust the certificate too, for S3A's clients. */
  static Setup tls(Subject subject, SelfSigned certificate) throws Exception {
    HostileS3Server server = HostileS3Server.startTls(certificate.serverContext());
    Configuration conf = subject.configuration(server.endpoint());
    conf.set("fs.s3a.s3e.tls.ca.file", certificate.pem().toString());
    return new Setup(server, conf);
  }

  static Setup of(Subject subject, @Nullable SelfSigned certificate) throws Exception {
    return certificate == null ? plain(subject, Map.of()) : tls(subject, certificate);
  }

  HostileS3Server server() {
    return server;
  }

  FileSystem fs() {
    return fs;
  }

  /** One more file system, over that bucket. */
  FileSystem another(String bucket) throws Exception {
    FileSystem other = FileSystem.newInstance(URI.create("s3a://" + bucket), conf);
    others.add(other);
    return other;
  }

  /** A server that has closed ends what still waits for it. */
  @Override
  public void close() throws Exception {
    server.close();
    LimitedJob.close(fs);
    for (FileSystem other : others) {
      LimitedJob.close(other);
    }
  }
}
