// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.testing.CapturedLog;
import io.s3e.testing.Pause;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;

/** A provider of credentials that hangs, while its file system is closed. */
@Timeout(180)
class SlowCredentialsTest {
  private static final int SIZE = 1 << 20;
  private static final Path FILE = new Path("/slow-credentials");

  private final ExecutorService threads = Executors.newCachedThreadPool();

  /**
   * Gives credentials that are about to expire, so that each request asks for others. S3A makes it
   * by its name, so what holds it is one for the JVM.
   */
  public static final class Held implements AwsCredentialsProvider {
    private static final AtomicInteger ASKED = new AtomicInteger();
    private static final AtomicInteger ANSWERED = new AtomicInteger();
    private static volatile CountDownLatch gate = new CountDownLatch(0);

    /** Called by S3A. */
    public Held() {}

    @Override
    public AwsCredentials resolveCredentials() {
      ASKED.incrementAndGet();
      // As a socket that does not hear of interrupts.
      while (gate.getCount() > 0) {
        Pause.nanos(1_000_000, "deaf to interrupts");
      }
      ANSWERED.incrementAndGet();
      return S3AServer.soonExpired();
    }
  }

  @AfterEach
  void stop() {
    Held.gate.countDown();
    threads.shutdownNow();
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "crt", "s3a"})
  void closingWaitsForNoCredentials(String client) throws Exception {
    Configuration conf = S3AReads.small(S3AServer.s3e(S3AServer.endpoint()));
    conf.set("fs.s3a.aws.credentials.provider", Held.class.getName());
    conf.set("fs.s3a.s3e.client", client);
    try (CapturedLog log = new CapturedLog()) {
      FileSystem fs = S3AReads.open(conf);
      try (FSDataOutputStream out = fs.create(FILE, true)) {
        out.write(new byte[SIZE]);
      }
      FSDataInputStream in =
          fs.openFile(FILE).opt("fs.option.openfile.read.policy", "random").build().get();
      in.readFully(0, new byte[10]);

      Held.gate = new CountDownLatch(1);
      int before = Held.ASKED.get();
      Future<?> reader =
          threads.submit(
              () -> {
                in.readFully(SIZE - 10, new byte[10]);
                return null;
              });
      awaitTrue("the provider is asked", () -> Held.ASKED.get() > before);
      threads
          .submit(
              () -> {
                fs.close();
                return null;
              })
          .get(60, TimeUnit.SECONDS);
      assertThatThrownBy(() -> reader.get(60, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class);
      assertThat(log.lines("did not end")).isEmpty();
      assertThat(Held.ANSWERED.get()).as("the provider still hangs").isLessThan(Held.ASKED.get());

      // What it gives at last is nobody's.
      Held.gate.countDown();
      awaitTrue("the provider answers", () -> Held.ANSWERED.get() == Held.ASKED.get());
      try (FileSystem next = S3AReads.open(conf);
          FSDataInputStream again = next.open(FILE)) {
        again.readFully(0, new byte[10]);
      }
      assertThat(log.lines("ended twice")).isEmpty();
      assertThat(log.lines(" ERROR ")).isEmpty();
    }
  }
}
