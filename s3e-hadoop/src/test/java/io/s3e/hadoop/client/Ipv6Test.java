// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.HostileS3Server;
import java.io.IOException;
import java.net.URI;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An endpoint that is an address of IPv6, in brackets as URLs have it. */
@Timeout(60)
class Ipv6Test {
  private static final ObjectRef OBJECT = new ObjectRef(S3AServer.BUCKET, "dir/a file");

  private static HostileS3Server start() {
    try {
      return HostileS3Server.startOnIpv6();
    } catch (IOException e) {
      return abort("this host has no ::1: " + e);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"crt", "s3a"})
  void isReadFrom(String client) throws Exception {
    byte[] content = new byte[3 << 20];
    new Random(6).nextBytes(content);
    try (HostileS3Server server = start()) {
      server.put(OBJECT, content);
      assertThat(server.endpoint().toString()).startsWith("http://[");
      Configuration conf = S3AServer.s3e(server.endpoint());
      conf.set("fs.s3a.s3e.client", client);
      try (FileSystem fs = FileSystem.newInstance(URI.create("s3a://" + OBJECT.bucket()), conf);
          FSDataInputStream in = fs.open(new Path("/" + OBJECT.key()))) {
        assertThat(in.readAllBytes()).isEqualTo(content);
        assertThat(fs.hasPathCapability(new Path("/"), "fs.s3a.s3e.client." + client)).isTrue();
      }
      String host = server.endpoint().getRawAuthority();
      assertThat(server.gets()).isNotEmpty().allMatch(get -> host.equals(get.header("Host")));
    }
  }
}
