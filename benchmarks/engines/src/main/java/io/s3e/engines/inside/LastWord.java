// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.inside;

import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs an engine's main class and says {@value #ENDING} when nothing is left to do but to end: its
 * main method has returned or thrown, or it has called {@link System#exit}. The exit time of an
 * engine is from there to the end of its process.
 */
public final class LastWord {
  public static final String ENDING = "<the engine's main class is over>";

  private static final AtomicBoolean SAID = new AtomicBoolean();

  private LastWord() {}

  /**
   * @param args the engine's main class and its arguments
   */
  public static void main(String[] args) throws Throwable {
    Runtime.getRuntime().addShutdownHook(new Thread(LastWord::say, "last-word"));
    Class<?> main = Class.forName(args[0]);
    try {
      main.getMethod("main", String[].class)
          .invoke(null, (Object) Arrays.copyOfRange(args, 1, args.length));
    } catch (InvocationTargetException e) {
      throw e.getCause();
    } finally {
      say();
    }
  }

  /** On a line of its own, whatever the engine has written last. */
  private static void say() {
    if (SAID.compareAndSet(false, true)) {
      System.out.println(System.lineSeparator() + ENDING);
      System.out.flush();
    }
  }
}
