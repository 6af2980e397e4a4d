// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.client.ClientMemory;
import io.s3e.client.ObjectClient;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.jvm.Background;
import io.s3e.jvm.JvmEnd;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.Slow;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.net.URI;
import org.junit.jupiter.api.Test;

/** The end of a JVM with clients that nobody has closed, in one of its own. */
@Slow
class CrtEndTest {
  private static final String SAID = "said: ";

  /** What was opened behind the tasks that close clients would be closed by none. */
  @Test
  void noClientOpensOnceTheFirstIsClosed() throws Exception {
    try (ForkedJvm jvm = ForkedJvm.start(Left.class)) {
      jvm.awaitEnd();
      assertThat(jvm.exitCode()).isZero();
      assertThat(jvm.rest()).contains(SAID + "the JVM is ending, and the CRT has ended");
    }
  }

  /** Hooks share a thread, which any of them may have interrupted. */
  @Test
  void anInterruptedEndWaitsAtRest() throws Exception {
    try (ForkedJvm jvm = ForkedJvm.start(Interrupted.class)) {
      jvm.awaitEnd();
      assertThat(jvm.rest()).contains(SAID + "interrupted true, rested true");
    }
  }

  static final class Interrupted {
    private static volatile boolean rested;

    public static void main(String[] args) {
      JvmEnd.beforeLast(
          () -> {
            Thread hook = Thread.currentThread();
            hook.interrupt();
            Background.start("watch", () -> watch(hook));
          });
      CrtHold.take();
      JvmEnd.last(
          () ->
              System.out.println(
                  SAID + "interrupted " + Thread.interrupted() + ", rested " + rested));
    }

    /** A thread that spins keeps the interrupt; one that rests has put it aside. */
    private static void watch(Thread hook) {
      while (!rested) {
        ThreadInfo seen = ManagementFactory.getThreadMXBean().getThreadInfo(hook.getId());
        rested = seen.getThreadState() == Thread.State.TIMED_WAITING && !hook.isInterrupted();
      }
    }
  }

  static final class Left {
    public static void main(String[] args) {
      // Runs behind what is entered later.
      JvmEnd.beforeLast(Left::openAnother);
      ObjectClient unused = open();
    }

    private static ObjectClient open() {
      AwsClientSettings settings =
          AwsClientSettings.builder()
              .endpoint(URI.create("http://localhost"))
              .region("eu-west-1")
              .anonymous(true)
              .build();
      return AwsClients.crt(settings).create(new ClientMemory(16L << 20, 1 << 20, 64 << 10));
    }

    private static void openAnother() {
      try {
        System.out.println(SAID + open().name());
      } catch (IllegalStateException e) {
        System.out.println(SAID + e.getMessage());
      }
    }
  }
}
