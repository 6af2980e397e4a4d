package io.s3e.client.given;

import io.s3e.jvm.JvmEnd;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The exchanges of one client that have not had their terminal call yet. Thread-safe. */
final class InFlight {
  private static final Logger LOG = LoggerFactory.getLogger(InFlight.class);
  private static final long WAIT_SECONDS = 10;

  private final Set<SyncExchange> exchanges = ConcurrentHashMap.newKeySet();

  void add(SyncExchange exchange) {
    exchanges.add(exchange);
  }

  void remove(SyncExchange exchange) {
    exchanges.remove(exchange);
  }

  /**
   * Cancels all and waits, up to {@value #WAIT_SECONDS} s, until each had its terminal call. In a
   * JVM that is ending it does not wait.
   */
  void cancelAll() {
    exchanges.forEach(SyncExchange::cancel);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
    while (!exchanges.isEmpty() && !JvmEnd.hasBegun()) {
      if (System.nanoTime() > deadline) {
        LOG.warn("{} requests did not end within {} s", exchanges.size(), WAIT_SECONDS);
        return;
      }
      try {
        Thread.sleep(1);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
