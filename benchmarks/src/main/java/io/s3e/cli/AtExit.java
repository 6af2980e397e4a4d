// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Something to undo if the process is interrupted before {@link #close}: a temporary file, an
 * unfinished upload. The action runs on a thread of its own, beside the threads that still work on
 * what it undoes, and the process ends once it returns.
 */
final class AtExit implements AutoCloseable {
  private static final AtomicBoolean UNDER_WAY = new AtomicBoolean();

  private final Thread hook;

  AtExit(String name, Runnable undo) {
    hook =
        new Thread(
            () -> {
              UNDER_WAY.set(true);
              undo.run();
            },
            name);
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /** Whether the process is being interrupted. */
  static boolean isUnderWay() {
    return UNDER_WAY.get();
  }

  /** There is nothing to undo any more. */
  @Override
  public void close() {
    if (UNDER_WAY.get()) {
      return;
    }
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException interruptedJustNow) {
      UNDER_WAY.set(true);
    }
  }
}
