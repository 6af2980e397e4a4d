// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Slow;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A bucket that is read through an access point, by S3A's client and by S3E's own. S3A allows no
 * other endpoint than AWS's, so a JVM with a network and a list of hosts of its own is where AWS's
 * name leads to a server on this machine.
 */
@Slow
class AccessPointTest {
  private static final String ARN = "arn:aws:s3:eu-west-1:123456789012:accesspoint/logs";
  private static final String HOST = "logs-123456789012.s3-accesspoint.eu-west-1.amazonaws.com";
  private static final byte[] CONTENT = MemoryObjectClient.bytes(3_000_000, 7);

  /** As root of a namespace that has nothing but a loopback interface, where port 80 is free. */
  private static String[] namespace(Path hosts) {
    String script = "ip link set lo up && mount --bind '" + hosts + "' /etc/hosts && exec \"$@\"";
    String[] unshare = {"unshare", "--user", "--map-root-user", "--mount", "--net"};
    List<String> command = new ArrayList<>(List.of(unshare));
    command.addAll(List.of("sh", "-c", script, "sh"));
    return command.toArray(String[]::new);
  }

  @Test
  void isReadByTheCrtWhereS3AsClientReadsIt(@TempDir Path directory) throws Exception {
    Path hosts = Files.writeString(directory.resolve("hosts"), "127.0.0.1 localhost " + HOST);
    assumeTrue(
        ForkedJvm.isAllowed(List.of(namespace(hosts))),
        "namespaces (unshare, ip) are not allowed here");
    try (ForkedJvm jvm = ForkedJvm.of(Reader.class.getName()).through(namespace(hosts)).start()) {
      for (String who : List.of("S3A", "S3E")) {
        List<String> before = new ArrayList<>();
        String told = jvm.await(who + ": ", before);
        assertThat(told).as("%s, after %s", who, before).startsWith("3000000 bytes from " + HOST);
        assertThat(told.contains("S3E/")).as(told).isEqualTo(who.equals("S3E"));
      }
      jvm.awaitEnd();
      assertThat(jvm.exitCode()).isZero();
    }
  }

  /** Reads by both and says what the server saw. */
  static final class Reader {
    private Reader() {}

    public static void main(String[] arguments) throws Exception {
      try (HostileS3Server server = HostileS3Server.startAt(80)) {
        // The bucket is in the host.
        server.put(new ObjectRef("folder", "file"), CONTENT);
        Configuration s3a = S3AServer.s3a(server.endpoint());
        Configuration s3e = S3AServer.s3e(server.endpoint());
        s3e.set("fs.s3a.s3e.client", "crt");
        for (Configuration conf : List.of(s3a, s3e)) {
          conf.unset("fs.s3a.endpoint");
          conf.unset("fs.s3a.endpoint.region");
          conf.setBoolean("fs.s3a.path.style.access", false);
          conf.set("fs.s3a.bucket.reports.accesspoint.arn", ARN);
          try (FileSystem fs = FileSystem.newInstance(URI.create("s3a://reports"), conf);
              FSDataInputStream in =
                  fs.open(new org.apache.hadoop.fs.Path("s3a://reports/folder/file"))) {
            byte[] bytes = new byte[CONTENT.length];
            in.readFully(0, bytes);
            assertArrayEquals(CONTENT, bytes);
            // As errors and reports of leaks name it: S3A knows the bucket by its ARN.
            String named = in.getWrappedStream().toString();
            assertTrue(conf == s3a || named.contains("{s3a://reports/folder/file, "), named);
          }
          HostileS3Server.Request last = server.gets().get(server.gets().size() - 1);
          System.out.printf(
              "%s: %d bytes from %s by %s%n",
              conf == s3a ? "S3A" : "S3E",
              CONTENT.length,
              last.header("Host"),
              last.header("User-Agent"));
        }
      }
    }
  }
}
