// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.jvm.Background;
import io.s3e.jvm.JvmEnd;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import software.amazon.awssdk.crt.CRT;

/**
 * Holds on the CRT, which keep its native threads calling into Java; and the end of the CRT in a
 * JVM that is ending.
 *
 * <p>aws-crt has a shutdown hook of its own, which runs beside all other hooks. If nobody holds the
 * CRT it <i>cuts</i> the calls from native threads into Java, for good: docs/adr/0010-jvm-end.md
 * tells what that does to callbacks, threads and the process. Hence:
 *
 * <ul>
 *   <li>A hold lasts from before the first native thread until after the last one has ended.
 *   <li>In a JVM that is ending a close ends what is native, and waits for none of it.
 *   <li>Clients that nobody has closed are closed by tasks before the {@link JvmEnd#last} one; the
 *       first of them lets no other open. The last one is the only one that waits: {@value
 *       #END_MILLIS} ms at most until no hold is left. It gives up those that are.
 * </ul>
 */
final class CrtHold {
  /**
   * The longest that an exit waits for native threads to end, in ms. They took 20 to 140 ms with
   * requests in flight; a client that is in a TLS handshake takes longer, and is not worth it.
   */
  private static final long END_MILLIS = 450;

  /** The longest that an exit waits for the cut, which waits for callbacks under way, in ms. */
  private static final long CUT_MILLIS = 100;

  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private static final Runnable AT_END = CrtHold::endAll;

  /** How many holds last. Guarded by the class. */
  private static int held;

  private static volatile boolean over;

  private CrtHold() {}

  /** Throws {@link IllegalStateException} if the CRT has ended with the JVM. */
  static void take() {
    if (over) {
      throw new IllegalStateException("the JVM is ending, and the CRT has ended");
    }
    CRT.acquireShutdownRef();
    synchronized (CrtHold.class) {
      held++;
      JvmEnd.last(AT_END);
    }
  }

  /** Ends one, unless it was given up with all. May wait for callbacks that are under way. */
  static void giveUp() {
    synchronized (CrtHold.class) {
      if (held == 0) {
        return;
      }
      held--;
      if (held == 0) {
        JvmEnd.forget(AT_END);
      }
    }
    CRT.releaseShutdownRef();
  }

  private static synchronized boolean isHeld() {
    return held > 0;
  }

  /** Whether the CRT has ended with the JVM: a request would not be told of its end. */
  static boolean isOver() {
    return over;
  }

  /** The JVM ends: from now on nothing is sent, and nobody opens what nobody would close. */
  static void end() {
    over = true;
  }

  /** Waits at rest, also where the JVM's hook is interrupted. */
  private static void endAll() {
    end();
    try {
      Thread cut = Background.start("s3e-crt-cut", CrtHold::cut);
      boolean unused = Background.await(cut, END_MILLIS + CUT_MILLIS);
    } catch (OutOfMemoryError e) {
      // No thread to give.
      cut();
    }
  }

  /** Gives up the holds that are left after the wait. */
  private static void cut() {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(END_MILLIS);
    while (isHeld() && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(LOOK_NANOS);
    }
    while (isHeld()) {
      giveUp();
    }
  }
}
