// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.jvm.JvmEnd;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.crt.io.ClientBootstrap;
import software.amazon.awssdk.crt.io.EventLoopGroup;
import software.amazon.awssdk.crt.io.HostResolver;

/**
 * The native network threads, shared by all clients of the JVM and counted: the first client
 * creates them, the last one to close ends them. The CRT's own default would take a thread for each
 * processor of the host, not of the container, and never end them.
 *
 * <p>States: SHARED while there are users, ENDING once the last one has released them, ENDED when
 * their last thread has. A {@link CrtHold} lasts from before SHARED until ENDED, so that the
 * threads can always tell Java of their end.
 */
final class EventLoops {
  private static final Logger LOG = LoggerFactory.getLogger(EventLoops.class);

  /** The longest that the last release waits for the threads to end, in s. */
  private static final long END_SECONDS = 1;

  private static final Object LOCK = new Object();
  private static @Nullable EventLoops shared;

  final EventLoopGroup group;
  private final HostResolver resolver;
  final ClientBootstrap bootstrap;

  /** Guarded by {@link #LOCK}. */
  private int users;

  private EventLoops(int threads) {
    CrtHold.take();
    try {
      group = new EventLoopGroup(threads);
      resolver = new HostResolver(group);
      bootstrap = new ClientBootstrap(group, resolver);
    } catch (RuntimeException | Error e) {
      CrtHold.giveUp();
      throw e;
    }
  }

  /**
   * The shared event loops, one more user. They are created with at most {@code maxThreads} threads
   * and no more than there are processors; later callers get what the first one asked for.
   */
  static EventLoops acquire(int maxThreads) {
    synchronized (LOCK) {
      if (shared == null) {
        int threads = Math.max(1, Math.min(maxThreads, Runtime.getRuntime().availableProcessors()));
        shared = new EventLoops(threads);
      }
      shared.users++;
      return shared;
    }
  }

  /**
   * One user less; called once by each. The last one waits until the threads have ended, {@value
   * #END_SECONDS} s at most, and not at all in a JVM that is ending.
   */
  void release() {
    synchronized (LOCK) {
      if (--users > 0) {
        return;
      }
      shared = null;
    }
    CompletableFuture<?> ended =
        group.getShutdownCompleteFuture().whenComplete((none, failure) -> CrtHold.giveUp());
    bootstrap.close();
    resolver.close();
    group.close();
    if (!JvmEnd.await(ended::isDone, System.nanoTime() + TimeUnit.SECONDS.toNanos(END_SECONDS))) {
      LOG.debug("The event loops end in the background");
    }
  }
}
