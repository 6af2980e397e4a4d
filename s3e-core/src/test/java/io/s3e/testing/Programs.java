package io.s3e.testing;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;

/**
 * Short concurrent programs for Lincheck in words: {@code "pop push"} is a thread that pops and
 * then pushes. An operation with a parameter gets the number of its thread; what runs before and
 * after the threads runs in thread 0.
 */
public final class Programs {
  private Programs() {}

  public static ExecutionScenario program(
      Class<?> test, String before, String after, String... threads) {
    List<List<Actor>> parallel = new ArrayList<>();
    for (int t = 0; t < threads.length; t++) {
      parallel.add(actors(test, threads[t], t));
    }
    return new ExecutionScenario(actors(test, before, 0), parallel, actors(test, after, 0), null);
  }

  private static List<Actor> actors(Class<?> test, String words, int thread) {
    List<Actor> actors = new ArrayList<>();
    for (String word : words.split(" ")) {
      if (!word.isEmpty()) {
        Method method = operation(test, word);
        List<Object> arguments = method.getParameterCount() == 0 ? List.of() : List.of(thread);
        actors.add(new Actor(method, arguments));
      }
    }
    return actors;
  }

  private static Method operation(Class<?> test, String name) {
    return Arrays.stream(test.getDeclaredMethods())
        .filter(method -> method.getName().equals(name))
        .findAny()
        .orElseThrow();
  }
}
