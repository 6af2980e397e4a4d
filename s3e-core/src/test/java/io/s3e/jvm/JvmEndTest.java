// SPDX-License-Identifier: Apache-2.0
package io.s3e.jvm;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.ForkedJvm;
import io.s3e.testing.Slow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** In JVMs of their own, for a JVM ends once. */
@Slow
class JvmEndTest {
  private static final String SAID = "said: ";

  @Test
  void tasksRunInOrderAndOnlyThoseThatAreLeft() throws Exception {
    assertThat(said(Tasks.class)).containsExactly("running", "first", "third, ending: true");
  }

  @Test
  void aHostsHooksAreUsedAndLeftWithoutATask() throws Exception {
    assertThat(said(HostHooks.class)).containsExactly("entered", "removed", "entered", "task");
  }

  @Test
  void tasksMoveToTheHooksOfAHostThatComesLater() throws Exception {
    assertThat(said(LateHost.class)).containsExactly("entered", "first", "second");
  }

  @Test
  void aWaitEndsWhenTheJvmBeginsToEnd() throws Exception {
    assertThat(said(Waits.class)).containsExactly("done: false");
  }

  private static List<String> said(Class<?> program) throws Exception {
    try (ForkedJvm jvm = ForkedJvm.start(program)) {
      jvm.awaitEnd();
      assertThat(jvm.exitCode()).isZero();
      return jvm.rest().stream()
          .filter(line -> line.startsWith(SAID))
          .map(line -> line.substring(SAID.length()))
          .toList();
    }
  }

  private static void say(String what) {
    System.out.println(SAID + what);
  }

  /** One task is taken back, one fails. */
  static final class Tasks {
    public static void main(String[] args) {
      JvmEnd.last(() -> say("first"));
      Runnable forgotten = () -> say("forgotten");
      JvmEnd.last(forgotten);
      JvmEnd.last(
          () -> {
            throw new IllegalStateException("must not keep others from running");
          });
      JvmEnd.last(() -> say("third, ending: " + JvmEnd.hasBegun()));
      JvmEnd.forget(forgotten);
      say(JvmEnd.hasBegun() ? "ending" : "running");
    }
  }

  /** Says what becomes of them; the programs run those that are left. */
  private record HooksOfAHost(List<Runnable> entered) implements JvmEnd.Hooks {
    @Override
    public void enter(Runnable hook) {
      say("entered");
      entered.add(hook);
    }

    @Override
    public void remove(Runnable hook) {
      say("removed");
      entered.remove(hook);
    }
  }

  /** Hooks of a host's, in place of the JVM's. */
  static final class HostHooks {
    public static void main(String[] args) {
      HooksOfAHost hooks = new HooksOfAHost(new ArrayList<>());
      JvmEnd.enterHooksBy(hooks);
      Runnable one = () -> say("task");
      JvmEnd.last(one);
      JvmEnd.last(one);
      JvmEnd.forget(one);
      JvmEnd.last(one);
      hooks.entered().forEach(Runnable::run);
    }
  }

  /** S3E has begun before its host says how hooks are ordered. */
  static final class LateHost {
    public static void main(String[] args) {
      JvmEnd.last(() -> say("second"));
      JvmEnd.beforeLast(() -> say("first"));
      HooksOfAHost hooks = new HooksOfAHost(new ArrayList<>());
      JvmEnd.enterHooksBy(hooks);
      hooks.entered().forEach(Runnable::run);
    }
  }

  /** A hook waits for what never comes. */
  static final class Waits {
    public static void main(String[] args) {
      long deadline = System.nanoTime() + Duration.ofMinutes(10).toNanos();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> await(deadline)));
    }

    private static void await(long deadline) {
      say("done: " + JvmEnd.await(() -> false, deadline));
    }
  }
}
