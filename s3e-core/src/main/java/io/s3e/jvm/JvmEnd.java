// SPDX-License-Identifier: Apache-2.0
package io.s3e.jvm;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of this JVM: whether it has begun, and what S3E does then.
 *
 * <p>States: RUNNING, then ENDING, never back. The move is the JVM's own: it begins to run its
 * shutdown hooks, all at once and each on a thread of its own. No hook can know that it is the
 * first, so {@link #hasBegun} asks the JVM and not a flag that a hook sets.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>Only this class decides that the JVM is ending, and only this class enters a hook.
 *   <li>A wait for something that only the end of an object needs, and not its caller, ends when
 *       the JVM begins to end: the process takes all with it.
 *   <li>Reads go on while the JVM ends, since other hooks may read. The tasks of {@link #last} are
 *       what makes them impossible; they run after the hooks that close the engines if {@link
 *       #enterHooksBy} has said how, else beside all hooks.
 *   <li>A task bounds its own time. No hook is left behind by those that took their tasks back.
 * </ul>
 *
 * <p>Any thread.
 */
public final class JvmEnd {
  private static final Logger LOG = LoggerFactory.getLogger(JvmEnd.class);

  private static final Runnable HOOK = JvmEnd::runTasks;

  /** Guards itself and what follows. */
  private static final Deque<Runnable> TASKS = new ArrayDeque<>();

  private static Hooks hooks = new RuntimeHooks();

  /** Where {@link #HOOK} is entered; null if nowhere. */
  private static @Nullable Hooks entered;

  /** A place for hooks; in a JVM that is ending its methods throw {@link IllegalStateException}. */
  public interface Hooks {
    void enter(Runnable hook);

    void remove(Runnable hook);
  }

  private JvmEnd() {}

  /** Whether the JVM has begun to run its shutdown hooks. */
  public static boolean hasBegun() {
    try {
      // False: a thread that runs is no hook that has been entered.
      return Runtime.getRuntime().removeShutdownHook(Thread.currentThread());
    } catch (IllegalStateException e) {
      return true;
    }
  }

  /**
   * Waits for what only happens in a JVM that goes on.
   *
   * @param deadline in {@link System#nanoTime}
   * @return false if the deadline has passed, the JVM is ending or the thread is interrupted before
   */
  public static boolean await(BooleanSupplier done, long deadline) {
    while (!done.getAsBoolean()) {
      if (deadline - System.nanoTime() <= 0 || hasBegun()) {
        return false;
      }
      try {
        Thread.sleep(1);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return true;
  }

  /**
   * Says where S3E's hook is entered, for a host that orders its hooks: behind those that close
   * file systems. One that runs in no order moves there.
   */
  public static void enterHooksBy(Hooks place) {
    synchronized (TASKS) {
      hooks = place;
      if (entered instanceof RuntimeHooks) {
        List<Runnable> tasks = List.copyOf(TASKS);
        tasks.forEach(JvmEnd::forget);
        tasks.forEach(JvmEnd::last);
      }
    }
  }

  /** As {@link #last}, but before all tasks of now, which wait for the end of what it closes. */
  public static void beforeLast(Runnable task) {
    synchronized (TASKS) {
      TASKS.addFirst(task);
      enterHook();
    }
  }

  /**
   * Runs {@code task} when the JVM ends, unless {@link #forget} comes before. Nothing happens if
   * the end has begun: the task would be late.
   */
  public static void last(Runnable task) {
    synchronized (TASKS) {
      if (!TASKS.contains(task)) {
        TASKS.addLast(task);
      }
      enterHook();
    }
  }

  private static void enterHook() {
    if (entered == null) {
      try {
        hooks.enter(HOOK);
        entered = hooks;
      } catch (IllegalStateException e) {
        LOG.debug("The JVM is ending, no hook is entered");
      }
    }
  }

  /** The last task takes the hook away, so that it keeps no class loader. */
  public static void forget(Runnable task) {
    synchronized (TASKS) {
      TASKS.remove(task);
      Hooks place = entered;
      if (place != null && TASKS.isEmpty()) {
        try {
          place.remove(HOOK);
          entered = null;
        } catch (IllegalStateException e) {
          LOG.debug("The JVM is ending, the hook finds nothing to do");
        }
      }
    }
  }

  private static void runTasks() {
    List<Runnable> tasks;
    synchronized (TASKS) {
      tasks = List.copyOf(TASKS);
    }
    for (Runnable task : tasks) {
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        LOG.warn("Something that S3E does at the end of the JVM failed", e);
      }
    }
  }

  /** The JVM's own hooks, which run in no order. */
  private static final class RuntimeHooks implements Hooks {
    private final Thread thread = Background.daemon("s3e-exit", HOOK);

    @Override
    public void enter(Runnable hook) {
      Runtime.getRuntime().addShutdownHook(thread);
    }

    @Override
    public void remove(Runnable hook) {
      boolean unused = Runtime.getRuntime().removeShutdownHook(thread);
    }
  }
}
