// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import static io.s3e.testing.Eventually.awaitTrue;

import io.s3e.testing.ForkedJvm;
import io.s3e.testing.Pause;
import io.s3e.testing.Slow;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads that live as long as the JVM keep nothing of who reads first, as a session of Spark. */
@Slow
@Timeout(120)
class FirstReaderTest {
  @Test
  void theTimerOfTheJdkKeepsNothingOfTheFirstReader() throws Exception {
    try (ForkedJvm jvm = ForkedJvm.start(FirstRead.class)) {
      jvm.await("collected");
    }
  }

  /** Opens, and later waits for an answer as a client in doubt does, in a session of its own. */
  static final class FirstRead {
    private static final InheritableThreadLocal<Object> VALUE = new InheritableThreadLocal<>();

    public static void main(String[] args) throws Exception {
      WeakReference<ClassLoader> loader = new WeakReference<>(new URLClassLoader(new URL[0]));
      WeakReference<Object> value = new WeakReference<>(new Object());
      Thread session = session(loader.get(), value.get());
      session.start();
      session.join();
      session = null;
      awaitTrue(
          "nobody keeps the session",
          () -> {
            System.gc();
            return loader.get() == null && value.get() == null;
          });
      System.out.println("collected");
    }

    /** A method of its own: what its variables held is nobody's afterwards. */
    private static Thread session(ClassLoader loader, Object value) {
      Thread session =
          new Thread(
              () -> {
                VALUE.set(value);
                HadoopTables.opened(FirstRead.class);
                try {
                  Pause.millis(1_000, "from opening to the first GET of a cold JVM");
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
                var unused = new CompletableFuture<>().orTimeout(1, TimeUnit.MILLISECONDS);
              });
      session.setContextClassLoader(loader);
      return session;
    }
  }
}
