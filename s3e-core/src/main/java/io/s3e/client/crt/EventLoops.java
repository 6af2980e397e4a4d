package io.s3e.client.crt;

import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.crt.io.ClientBootstrap;
import software.amazon.awssdk.crt.io.EventLoopGroup;
import software.amazon.awssdk.crt.io.HostResolver;

/**
 * The native network threads, shared by all clients of the JVM and counted: the first client
 * creates them, the last one to close ends them. The CRT's own default would take a thread for each
 * processor of the host, not of the container, and never end them.
 */
final class EventLoops {
  private static final Object LOCK = new Object();
  private static @Nullable EventLoops shared;

  private final EventLoopGroup group;
  private final HostResolver resolver;
  private final ClientBootstrap bootstrap;

  /** Guarded by {@link #LOCK}. */
  private int users;

  private EventLoops(int threads) {
    group = new EventLoopGroup(threads);
    resolver = new HostResolver(group);
    bootstrap = new ClientBootstrap(group, resolver);
  }

  /**
   * The shared event loops, one more user. They are created with at most {@code maxThreads} threads
   * and no more than there are processors; later callers get what the first one asked for.
   */
  static EventLoops acquire(int maxThreads) {
    synchronized (LOCK) {
      EventLoops loops = shared;
      if (loops == null) {
        int threads = Math.max(1, Math.min(maxThreads, Runtime.getRuntime().availableProcessors()));
        loops = new EventLoops(threads);
        shared = loops;
      }
      loops.users++;
      return loops;
    }
  }

  EventLoopGroup group() {
    return group;
  }

  ClientBootstrap bootstrap() {
    return bootstrap;
  }

  /** One user less; called once by each. */
  void release() {
    synchronized (LOCK) {
      if (--users > 0) {
        return;
      }
      shared = null;
    }
    bootstrap.close();
    resolver.close();
    group.close();
  }
}
