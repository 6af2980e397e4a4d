// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import io.s3e.testing.Programs;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The fence behaves like two variables, one call at a time: the thread inside, and whether it is
 * closed. Beyond them, the action that follows is done once, by the first that closed, and never
 * while a call is inside.
 */
@Param(name = "me", gen = ThreadIdGen.class)
@Tag("lincheck")
@Timeout(value = 30, unit = TimeUnit.MINUTES)
public class FenceLincheckTest {
  private static final int NOBODY = -1;

  private final Fence fence = new Fence();
  private final AtomicInteger inside = new AtomicInteger(NOBODY);
  private final AtomicInteger followed = new AtomicInteger();

  @Operation
  public boolean enter(@Param(name = "me") int me) {
    boolean entered = fence.enter();
    if (entered && !inside.compareAndSet(NOBODY, me)) {
      throw new AssertionError("two calls are inside");
    }
    return entered;
  }

  @Operation
  public boolean exit(@Param(name = "me") int me) {
    if (!inside.compareAndSet(me, NOBODY)) {
      return false;
    }
    fence.exit();
    return true;
  }

  @Operation
  public boolean close() {
    return fence.close(
        () -> {
          if (inside.get() != NOBODY) {
            throw new AssertionError("a call is inside");
          }
          followed.incrementAndGet();
        });
  }

  @Operation
  public boolean isClosed() {
    return fence.isClosed();
  }

  @Validate
  public void whatFollowsIsDoneOnce() {
    boolean due = fence.isClosed() && inside.get() == NOBODY;
    if (followed.get() != (due ? 1 : 0)) {
      throw new AssertionError(fence + ": followed " + followed + " times");
    }
  }

  @Test
  void shortProgramsAreLinearizable() {
    new Programs(FenceLincheckTest.class)
        .with("", "enter", "enter exit", "close", "close isClosed")
        .with("enter", "enter", "exit enter exit", "close enter")
        .check(
            new ModelCheckingOptions().actorsPerThread(3).actorsBefore(1).actorsAfter(2), 3, 200);
  }

  @Test
  void realThreadsAreLinearizable() {
    new Programs(FenceLincheckTest.class).stress(3, 200);
  }

  /** The same calls, one at a time. */
  public static class Sequential {
    private int inside = NOBODY;
    private boolean closed;

    public boolean enter(int me) {
      if (closed || inside != NOBODY) {
        return false;
      }
      inside = me;
      return true;
    }

    public boolean exit(int me) {
      if (inside != me) {
        return false;
      }
      inside = NOBODY;
      return true;
    }

    public boolean close() {
      boolean first = !closed;
      closed = true;
      return first;
    }

    public boolean isClosed() {
      return closed;
    }
  }
}
