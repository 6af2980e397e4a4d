// SPDX-License-Identifier: Apache-2.0
package io.s3e.jvm;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class BackgroundTest {
  /** They live as long as the engine, which the application's class loader may not. */
  @Test
  void threadsKeepNothingOfWhoStartsThem() throws Exception {
    InheritableThreadLocal<String> local = new InheritableThreadLocal<>();
    Thread self = Thread.currentThread();
    ClassLoader before = self.getContextClassLoader();
    AtomicReference<String> inherited = new AtomicReference<>("not run");
    Thread thread;
    try (URLClassLoader application = new URLClassLoader(new URL[0])) {
      self.setContextClassLoader(application);
      local.set("the application's");
      thread = Background.start("test", () -> inherited.set(local.get()));
      assertThat(thread.getContextClassLoader()).isNotSameAs(application);
    } finally {
      self.setContextClassLoader(before);
      local.remove();
    }
    assertThat(Background.await(thread, 20_000)).isTrue();
    assertThat(inherited.get()).isNull();
  }
}
