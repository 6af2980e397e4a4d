// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.s3e.hadoop.RecordingProxy;
import io.s3e.hadoop.S3AServer;
import java.net.URI;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reads behind an HTTP proxy: every GET takes the way that S3A's requests take. */
class ProxiedReadsTest {
  private static final int SIZE = 100_000;

  private RecordingProxy proxy;

  @BeforeEach
  void start() throws Exception {
    proxy = new RecordingProxy(S3AServer.endpoint());
  }

  @AfterEach
  void stop() throws Exception {
    for (String name : new String[] {"proxyHost", "proxyPort", "nonProxyHosts"}) {
      System.clearProperty("http." + name);
    }
    proxy.close();
  }

  @Test
  void aProxyOfTheJvmsPropertiesIsNotGoneAround() throws Exception {
    System.setProperty("http.proxyHost", proxy.endpoint().getHost());
    System.setProperty("http.proxyPort", String.valueOf(proxy.endpoint().getPort()));
    assertThat(getsThroughProxy("by-property", S3AServer.s3e(S3AServer.endpoint()))).isPositive();
  }

  @Test
  void aProxyOfS3AsKeysIsNotGoneAround() throws Exception {
    Configuration conf = S3AServer.s3e(S3AServer.endpoint());
    conf.set("fs.s3a.proxy.host", proxy.endpoint().getHost());
    conf.setInt("fs.s3a.proxy.port", proxy.endpoint().getPort());
    assertThat(getsThroughProxy("by-key", conf)).isPositive();
  }

  @Test
  void anExceptedHostIsReadDirectly() throws Exception {
    System.setProperty("http.proxyHost", proxy.endpoint().getHost());
    System.setProperty("http.proxyPort", String.valueOf(proxy.endpoint().getPort()));
    System.setProperty("http.nonProxyHosts", "127.*|localhost");
    assertThat(getsThroughProxy("excepted", S3AServer.s3e(S3AServer.endpoint()))).isZero();
    assertThat(proxy.requests()).isEmpty();
  }

  private int getsThroughProxy(String name, Configuration conf) throws Exception {
    byte[] data = new byte[SIZE];
    new Random(20261122).nextBytes(data);
    Path file = new Path("s3a://" + S3AServer.BUCKET + "/proxied/" + name);
    try (FileSystem fs = FileSystem.newInstance(URI.create(file.toUri().toString()), conf)) {
      try (var out = fs.create(file, true)) {
        out.write(data);
      }
      byte[] read = new byte[SIZE];
      try (FSDataInputStream in = fs.open(file)) {
        in.readFully(0, read);
      }
      assertArrayEquals(data, read);
    }
    return proxy.reads(name).size();
  }
}
