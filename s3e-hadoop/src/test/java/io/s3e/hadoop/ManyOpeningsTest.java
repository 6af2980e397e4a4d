// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.hadoop341.StreamSpi;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.HostileS3Server.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.store.audit.AuditSpan;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Files that are opened while the store is slow to answer the HEADs of others. */
@Timeout(60)
class ManyOpeningsTest {
  private static final Path FILE = new Path("/many-openings");
  private static final byte[] CONTENT = S3AReads.random(1000);

  private final CountDownLatch answered = new CountDownLatch(1);
  private HostileS3Server server;
  private Configuration conf;

  @BeforeEach
  void start() throws Exception {
    server = HostileS3Server.start();
    server.put(new ObjectRef(S3AServer.BUCKET, FILE.getName()), CONTENT);
    conf = S3AServer.s3e(server.endpoint());
  }

  @AfterEach
  void stop() throws Exception {
    answered.countDown();
    server.close();
  }

  private Fault heldIfHead(Request request) {
    if (request.method().equals("HEAD")) {
      try {
        assertThat(answered.await(50, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    return Fault.none();
  }

  /** By name alone, each of which costs a HEAD; {@code sent} of them go out. */
  private List<CompletableFuture<FSDataInputStream>> openHeld(FileSystem fs, int files, int sent)
      throws Exception {
    server.forgetRequests();
    server.decideAll(this::heldIfHead);
    List<CompletableFuture<FSDataInputStream>> held = new ArrayList<>();
    for (int i = 0; i < files; i++) {
      held.add(fs.openFile(FILE).build());
    }
    awaitTrue(sent + " HEADs are sent", () -> server.requests().size() == sent);
    return held;
  }

  private static void assertRead(CompletableFuture<FSDataInputStream> opened) throws Exception {
    try (FSDataInputStream in = opened.get(20, TimeUnit.SECONDS)) {
      assertThat(in.readAllBytes()).isEqualTo(CONTENT);
    }
  }

  /** S3A has 96 threads for it. */
  @Test
  void manyFilesAreAskedForAtOnce() throws Exception {
    try (FileSystem fs = S3AReads.open(conf)) {
      FileStatus status = fs.getFileStatus(FILE);
      List<CompletableFuture<FSDataInputStream>> held = openHeld(fs, 40, 40);
      assertRead(fs.openFile(FILE).withFileStatus(status).build());
      answered.countDown();
      for (CompletableFuture<FSDataInputStream> each : held) {
        assertRead(each);
      }
    }
  }

  /** S3A's own openings share the threads from Hadoop 3.4.2 on, where S3A does them. */
  @Test
  void aFileOfAKnownStatusOrLengthWaitsForNoThread() throws Exception {
    assumeFalse(StreamSpi.isPresent(), "S3A opens the file");
    conf.set("fs.s3a.threads.max", "40");
    conf.set("fs.s3a.bucket." + S3AServer.BUCKET + ".threads.max", "1");
    try (FileSystem fs = S3AReads.open(conf)) {
      FileStatus status = fs.getFileStatus(FILE);
      AuditSpan before = ((S3AFileSystem) fs).getActiveAuditSpan();
      List<CompletableFuture<FSDataInputStream>> held = openHeld(fs, 3, 2);
      assertRead(fs.openFile(FILE).withFileStatus(status).build());
      assertRead(fs.openFile(FILE).opt("fs.option.openfile.length", "1000").build());
      CompletableFuture<FSDataInputStream> known = fs.openFile(FILE).withFileStatus(status).build();
      assertThat(((S3AFileSystem) fs).getActiveAuditSpan()).as("span").isSameAs(before);
      assertRead(known);
      assertThat(server.requests())
          .as("HEADs")
          .filteredOn(r -> r.method().equals("HEAD"))
          .hasSize(2);
      answered.countDown();
      for (CompletableFuture<FSDataInputStream> each : held) {
        assertRead(each);
      }
    }
  }
}
