// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.DirectorySessions;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Pause;
import io.s3e.testing.Slow;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Buckets of S3 Express One Zone, which are read by S3E's own client with sessions of S3A's. */
class DirectoryBucketTest {
  private static final String BUCKET = "fast--use1-az4--x-s3";
  private static final byte[] CONTENT = MemoryObjectClient.bytes(6 << 20, 5);

  /** S3E gives no request credentials that end within 20 s. */
  private static final Duration LIFE = Duration.ofSeconds(21);

  private final DirectorySessions sessions = new DirectorySessions(LIFE);
  private HostileS3Server server;

  @BeforeEach
  void start() throws Exception {
    server = HostileS3Server.startApart();
    server.decideAll(sessions);
    for (int i = 0; i < 4; i++) {
      server.put(new ObjectRef(BUCKET, "file-" + i), CONTENT);
    }
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
  }

  private FileSystem open(Configuration conf) throws Exception {
    return FileSystem.newInstance(URI.create("s3a://" + BUCKET), conf);
  }

  private Configuration own() {
    Configuration conf = S3AServer.s3e(server.endpoint());
    conf.set("fs.s3a.s3e.client", "crt");
    return conf;
  }

  private static void read(FSDataInputStream in, int from, int length) throws Exception {
    byte[] bytes = new byte[length];
    in.readFully(from, bytes);
    assertArrayEquals(Arrays.copyOfRange(CONTENT, from, from + length), bytes);
  }

  private List<HostileS3Server.Request> objectGets() {
    return server.gets().stream().filter(get -> get.header("Range") != null).toList();
  }

  @Test
  void isReadByTheCrtWithASession() throws Exception {
    try (FileSystem fs = open(own());
        FSDataInputStream in = fs.open(new Path("/file-0"))) {
      read(in, 0, CONTENT.length);
    }
    assertThat(objectGets())
        .isNotEmpty()
        .allMatch(get -> get.header("User-Agent").contains("S3E"))
        .allMatch(get -> get.header("x-amz-s3session-token") != null);
    assertThat(sessions.refused()).isZero();
  }

  @Slow
  @Test
  void theSessionIsRenewedBeforeItEnds() throws Exception {
    try (FileSystem fs = open(own());
        FSDataInputStream in = fs.open(new Path("/file-0"))) {
      read(in, 0, 1000);
      int first = sessions.made();
      Pause.millis(1500, "the session has less than 20 s to go");
      try (FSDataInputStream other = fs.open(new Path("/file-1"))) {
        read(other, 1_000_000, 1000);
      }
      assertThat(sessions.made()).isGreaterThan(first);
    }
    assertThat(sessions.refused()).isZero();
    assertThat(objectGets().stream().map(get -> get.header("x-amz-s3session-token")).distinct())
        .hasSizeGreaterThan(1);
  }

  /** What was proven by one session is by the next one of the same key. */
  @Slow
  @Test
  void whatIsInMemoryIsReadOnByTheNextSession() throws Exception {
    try (FileSystem fs = open(own())) {
      try (FSDataInputStream in = fs.open(new Path("/file-0"))) {
        read(in, 0, CONTENT.length);
      }
      int first = sessions.made();
      Pause.millis(1500, "the session has less than 20 s to go");
      try (FSDataInputStream other = fs.open(new Path("/file-1"))) {
        read(other, 0, 1000);
      }
      assertThat(sessions.made()).isGreaterThan(first);
      int gets = objectGets().size();
      try (FSDataInputStream again = fs.open(new Path("/file-0"))) {
        read(again, 0, CONTENT.length);
      }
      assertThat(objectGets()).as("GETs of what is in memory").hasSize(gets);
    }
  }

  @Test
  void aBucketWhoseSessionsAreRefusedSaysSo() throws Exception {
    sessions.refuse();
    Configuration conf = S3AServer.s3e(server.endpoint());
    conf.set("fs.s3a.s3e.client", "auto");
    List<Throwable> failures = new ArrayList<>();
    for (Configuration each : List.of(conf, S3AServer.s3a(server.endpoint()))) {
      try (FileSystem fs = open(each)) {
        failures.add(
            catchThrowable(
                () -> {
                  try (FSDataInputStream in =
                      fs.openFile(new Path("/file-0"))
                          .opt("fs.option.openfile.length", Integer.toString(CONTENT.length))
                          .build()
                          .get()) {
                    read(in, 0, 1000);
                  }
                }));
      }
    }
    assertThat(failures)
        .extracting(failure -> failure == null ? null : failure.toString())
        .allSatisfy(words -> assertThat(words).contains("AccessDenied", BUCKET));
    // S3A's says it at the opening, by an IOException.
    assertThat(failures.get(0)).isInstanceOf(AccessDeniedException.class);
  }

  @Test
  void aSessionThatEndsUnderWayFailsNoRead() throws Exception {
    try (FileSystem fs = open(own());
        FSDataInputStream in = fs.open(new Path("/file-0"))) {
      read(in, 0, 1000);
      try (FSDataInputStream other = fs.open(new Path("/file-1"))) {
        sessions.revoke();
        read(other, 0, CONTENT.length);
      }
    }
    assertThat(sessions.refused()).isPositive();
  }

  /** As S3A's users may say who have no right to create sessions. */
  @Test
  void withoutSessionsS3AsClientReads() throws Exception {
    Configuration conf = S3AServer.s3e(server.endpoint());
    conf.set("fs.s3a.s3express.create.session", "false");
    server.decideAll(request -> Fault.none());
    try (FileSystem fs = open(conf);
        FSDataInputStream in = fs.open(new Path("/file-2"))) {
      read(in, 0, CONTENT.length);
    }
    assertThat(objectGets())
        .isNotEmpty()
        .noneMatch(get -> get.header("User-Agent").contains("S3E"));
    assertThat(sessions.made()).isZero();
  }
}
