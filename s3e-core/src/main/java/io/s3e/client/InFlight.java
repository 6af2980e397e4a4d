// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import io.s3e.jvm.JvmEnd;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The exchanges of one client that have not had their terminal call yet. Any thread. */
public final class InFlight {
  private static final Logger LOG = LoggerFactory.getLogger(InFlight.class);
  private static final long WAIT_SECONDS = 10;

  private final Set<ObjectClient.Exchange> exchanges = ConcurrentHashMap.newKeySet();

  public void add(ObjectClient.Exchange exchange) {
    exchanges.add(exchange);
  }

  public void remove(ObjectClient.Exchange exchange) {
    exchanges.remove(exchange);
  }

  /** Cancels all, and waits for none. */
  public void cancelAll() {
    exchanges.forEach(InFlight::cancel);
  }

  /** Cancels one, be it a client of somebody else's that throws: whoever cancels has more to do. */
  public static void cancel(ObjectClient.Exchange exchange) {
    try {
      exchange.cancel();
    } catch (RuntimeException | Error e) {
      LOG.warn("A request cannot be cancelled", e);
    }
  }

  /**
   * Cancels all and waits, up to {@value #WAIT_SECONDS} s, until each had its terminal call. In a
   * JVM that is ending it does not wait.
   */
  public void endAll() {
    cancelAll();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
    if (!JvmEnd.await(exchanges::isEmpty, deadline) && System.nanoTime() - deadline >= 0) {
      LOG.warn("{} requests did not end within {} s of cancelling", exchanges.size(), WAIT_SECONDS);
    }
  }
}
