// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.StressOptions;

/**
 * Checks that the operations of a test are linearizable: that they behave like those of its nested
 * class {@code Sequential}, one call at a time. Lincheck makes up programs; short ones can be given
 * in words: {@code "pop push"} is a thread that pops and then pushes. An operation with a parameter
 * gets the number of its thread; the parts before and after the threads run in thread 0.
 */
public final class Programs {
  /** How many more programs and runs than in a build: {@code -Ds3e.lincheck.scale=3} for long. */
  private static final int SCALE = Integer.getInteger("s3e.lincheck.scale", 1);

  private final Class<?> test;
  private final List<ExecutionScenario> given = new ArrayList<>();

  public Programs(Class<?> test) {
    this.test = test;
  }

  /** One program more than those that Lincheck makes up. */
  public Programs with(String before, String after, String... threads) {
    List<List<Actor>> parallel = new ArrayList<>();
    for (int t = 0; t < threads.length; t++) {
      parallel.add(actors(threads[t], t));
    }
    given.add(new ExecutionScenario(actors(before, 0), parallel, actors(after, 0), null));
    return this;
  }

  /** Runs the given programs and {@code count} others of two threads in many interleavings. */
  public void check(ModelCheckingOptions options, int count, int interleavings) {
    given.forEach(options::addCustomScenario);
    check(options.threads(2).invocationsPerIteration(interleavings * SCALE), count);
  }

  /** Runs {@code count} programs of three real threads, each {@code runs} times. */
  public void stress(int count, int runs) {
    check(new StressOptions().threads(3).actorsPerThread(4).invocationsPerIteration(runs), count);
  }

  private void check(Options<?, ?> options, int count) {
    Class<?> sequential =
        Arrays.stream(test.getDeclaredClasses())
            .filter(nested -> nested.getSimpleName().equals("Sequential"))
            .findAny()
            .orElseThrow();
    options.sequentialSpecification(sequential).iterations(count * SCALE).check(test);
  }

  private List<Actor> actors(String words, int thread) {
    List<Actor> actors = new ArrayList<>();
    for (String word : words.split(" ")) {
      if (!word.isEmpty()) {
        Method method = operation(word);
        List<Object> arguments = method.getParameterCount() == 0 ? List.of() : List.of(thread);
        actors.add(new Actor(method, arguments));
      }
    }
    return actors;
  }

  private Method operation(String name) {
    return Arrays.stream(test.getDeclaredMethods())
        .filter(method -> method.getName().equals(name))
        .findAny()
        .orElseThrow();
  }
}
