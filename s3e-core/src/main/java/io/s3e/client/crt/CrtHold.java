// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.jvm.Background;
import io.s3e.jvm.JvmEnd;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import software.amazon.awssdk.crt.CRT;

/**
 * One hold on the CRT, which keeps its native threads calling into Java; and the end of the CRT in
 * a JVM that is ending.
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
 *
 * <p>States: held, then given up, once.
 */
final class CrtHold {
  /**
   * The longest that an exit waits for native threads to end, in ms. They took 20 to 140 ms with
   * requests in flight; a client that is in a TLS handshake takes longer, and is not worth it.
   */
  private static final long END_MILLIS = 450;

  /** The longest that an exit waits for the cut, which waits for callbacks under way, in ms. */
  private static final long CUT_MILLIS = 100;

  private static final Runnable AT_END = CrtHold::endAll;

  /** The holds that last. Guards itself. */
  private static final Set<CrtHold> HELD = new HashSet<>();

  private static volatile boolean over;

  private CrtHold() {}

  /** Throws {@link IllegalStateException} if the CRT has ended with the JVM. */
  static CrtHold take() {
    if (over) {
      throw new IllegalStateException("the JVM is ending, and the CRT has ended");
    }
    CrtHold hold = new CrtHold();
    CRT.acquireShutdownRef();
    synchronized (HELD) {
      HELD.add(hold);
      JvmEnd.last(AT_END);
    }
    return hold;
  }

  /** Idempotent. May wait for callbacks that are under way. */
  void giveUp() {
    synchronized (HELD) {
      if (!HELD.remove(this)) {
        return;
      }
      if (HELD.isEmpty()) {
        JvmEnd.forget(AT_END);
        HELD.notifyAll();
      }
    }
    CRT.releaseShutdownRef();
  }

  /** Whether the CRT has ended with the JVM: a request would not be told of its end. */
  static boolean isOver() {
    return over;
  }

  /** The JVM ends: from now on nothing is sent, and nobody opens what nobody would close. */
  static void end() {
    over = true;
  }

  private static void endAll() {
    end();
    List<CrtHold> left = leftAtEnd();
    if (!left.isEmpty()) {
      Thread cut = Background.start("s3e-crt-cut", () -> left.forEach(CrtHold::giveUp));
      boolean unused = Background.await(cut, CUT_MILLIS);
    }
  }

  /** The holds that are left after the wait; an interrupt does not end it. */
  private static List<CrtHold> leftAtEnd() {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(END_MILLIS);
    boolean interrupted = false;
    try {
      synchronized (HELD) {
        while (!HELD.isEmpty() && System.nanoTime() - deadline < 0) {
          try {
            TimeUnit.NANOSECONDS.timedWait(HELD, deadline - System.nanoTime());
          } catch (InterruptedException e) {
            interrupted = true;
          }
        }
        return List.copyOf(HELD);
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
