// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.testing.Pause;
import io.s3e.testing.Slow;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Slow
class ChildJvmTest {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @TempDir private Path temp;
  private ChildJvm child;

  /** A child that echoes, refuses, dies, falls silent, and prints where it should not. */
  public static final class Child {
    private Child() {}

    public static void main(String[] args) throws InterruptedException {
      ControlLoop loop = new ControlLoop();
      loop.serve(
          Map.of(
              "echo",
              body -> {
                System.out.println("a library that prints");
                loop.event("half", body.asText().substring(0, 2));
                return body.asText();
              },
              "refuse",
              body -> {
                throw new IllegalStateException("not today", new RuntimeException("rain"));
              },
              "die",
              body -> {
                System.err.println("last words");
                Runtime.getRuntime().halt(3);
                return null;
              },
              "sleep",
              body -> {
                Pause.millis(600_000, "a job that does not end");
                return null;
              }));
    }
  }

  @BeforeEach
  void start() throws Exception {
    List<String> options = List.of("-Xmx64m", "-Xlog:gc");
    child = ChildJvm.start("child", Child.class, options, temp.resolve("log"));
  }

  @AfterEach
  void stop() {
    child.close();
    assertThat(child.isAlive()).isFalse();
  }

  @Test
  void answersAfterItsEvents() throws Exception {
    List<String> events = new ArrayList<>();

    String answer =
        child.call(
            "echo", "hello", PATIENCE, String.class, (name, body) -> events.add(name + body));

    assertThat(answer).isEqualTo("hello");
    assertThat(events).containsExactly("half\"he\"");
    assertThat(temp.resolve("log")).content().as("what the JVM itself printed").contains("[gc");
  }

  @Test
  void refusalCarriesItsCausesAndTheChildLives() throws Exception {
    assertThatThrownBy(() -> child.call("refuse", null, PATIENCE, String.class))
        .isInstanceOf(ChildFailureException.class)
        .hasMessageContaining("not today")
        .hasMessageContaining("rain");
    assertThatThrownBy(() -> child.call("dance", null, PATIENCE, String.class))
        .hasMessageContaining("No such command: dance");
    assertThat(child.call("echo", "still", PATIENCE, String.class)).isEqualTo("still");
  }

  @Test
  void deathIsToldWithTheLastWords() {
    assertThatThrownBy(() -> child.call("die", null, PATIENCE, String.class))
        .isInstanceOf(ChildFailureException.class)
        .hasMessageContaining("ended unexpectedly")
        .hasMessageContaining("last words");
  }

  @Test
  void silenceEndsTheChild() throws Exception {
    child.call("echo", "up", PATIENCE, String.class);

    assertThatThrownBy(() -> child.call("sleep", null, Duration.ofSeconds(1), String.class))
        .isInstanceOf(ChildFailureException.class)
        .hasMessageContaining("silent for 1 s");
    assertThat(child.isAlive()).isFalse();
  }

  @Test
  void endOfTheLineEndsACommandThatRuns() throws Exception {
    child.call("echo", "up", PATIENCE, String.class);
    Thread caller =
        new Thread(
            () -> {
              try {
                child.call("sleep", null, PATIENCE, String.class);
              } catch (Exception ended) {
                Thread.currentThread().interrupt();
              }
            });
    caller.start();
    child.close();
    caller.join(PATIENCE.toMillis());

    assertThat(caller.isAlive()).isFalse();
  }
}
