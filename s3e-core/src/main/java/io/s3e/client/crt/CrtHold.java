package io.s3e.client.crt;

import io.s3e.jvm.JvmEnd;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.crt.CRT;
import software.amazon.awssdk.crt.CrtRuntimeException;

/**
 * One hold on the CRT, which keeps its native threads calling into Java.
 *
 * <p>aws-crt has a shutdown hook of its own. It <i>cuts</i> the calls from native threads into Java
 * as soon as nobody holds the CRT, for good, and runs beside all other hooks. After the cut no
 * callback comes: neither the end of a request, nor the end of a client. And a native thread that
 * ends after the cut cannot take itself off the JVM's list of threads, so that a thread dump then
 * crashes the JVM. Hence:
 *
 * <ul>
 *   <li>A hold lasts from before the first native object until after the last native thread has
 *       ended, or until the JVM's end.
 *   <li>In a JVM that is ending nothing native is closed, so that no native thread ends: {@link
 *       #mayEnd} is asked before.
 *   <li>In a JVM that is ending nobody waits for a callback but {@link #cut}, which waits {@value
 *       #CUT_MILLIS} ms for the ends that were under way before, then gives all holds up. It runs
 *       as {@link JvmEnd#last} task: without it a JVM that closes nothing would reach its end with
 *       native threads that call into it.
 * </ul>
 *
 * <p>States: HELD, then GIVEN_UP, once. Versions of aws-crt before 0.29 know no holds: their hook
 * cuts at once, and what is said here of waiting and ending is what keeps the exit short.
 */
final class CrtHold {
  private static final Logger LOG = LoggerFactory.getLogger(CrtHold.class);

  /** The longest that an exit waits for native ends, and again for the cut itself, in ms. */
  private static final long CUT_MILLIS = 200;

  private static final Runnable CUT = CrtHold::cut;

  /** All that are held. Guards itself. */
  private static final Set<CrtHold> HELD = new HashSet<>();

  /** Native objects that have been told to end and have not ended. */
  private static final Set<CompletableFuture<?>> ENDING = ConcurrentHashMap.newKeySet();

  private static volatile boolean cut;

  private CrtHold() {}

  /**
   * @throws CrtRuntimeException if the CRT has been cut
   */
  static CrtHold take() {
    CrtHold hold = new CrtHold();
    try {
      CRT.acquireShutdownRef();
    } catch (NoSuchMethodError e) {
      LOG.debug("This version of aws-crt cannot be held");
      return hold;
    }
    synchronized (HELD) {
      HELD.add(hold);
      JvmEnd.last(CUT);
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
        JvmEnd.forget(CUT);
      }
    }
    CRT.releaseShutdownRef();
  }

  /** Whether the CRT calls into Java no more; a request would never end. */
  static boolean isCut() {
    return cut;
  }

  /**
   * Whether native objects may be closed. If so they are waited for when the JVM ends meanwhile.
   *
   * @param ended completes when they have ended
   */
  static boolean mayEnd(CompletableFuture<?> ended) {
    // Entered before the question: the cut sees either this end, or the question sees the cut.
    ENDING.add(ended);
    if (JvmEnd.hasBegun()) {
      ENDING.remove(ended);
      return false;
    }
    var unused = ended.whenComplete((none, failure) -> ENDING.remove(ended));
    return true;
  }

  private static void cut() {
    CompletableFuture<?>[] ending = ENDING.toArray(CompletableFuture[]::new);
    try {
      CompletableFuture.allOf(ending).get(CUT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      LOG.debug("The CRT is cut while it ends", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    cut = true;
    List<CrtHold> holds;
    synchronized (HELD) {
      holds = List.copyOf(HELD);
    }
    // The cut waits for callbacks under way, and must not keep the exit if one hangs.
    Thread thread = new Thread(() -> holds.forEach(CrtHold::giveUp), "s3e-crt-cut");
    thread.setDaemon(true);
    thread.start();
    try {
      thread.join(CUT_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
