// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Counts and bytes of every operation since the server started and, when asked for, a line of every
 * request in a file. Any thread; counting never blocks. Owns the file.
 */
final class RequestLog implements AutoCloseable {

  private static final class Counters {
    final LongAdder requests = new LongAdder();
    final LongAdder failures = new LongAdder();
    final LongAdder aborted = new LongAdder();
    final LongAdder bytesReceived = new LongAdder();
    final LongAdder bytesSent = new LongAdder();
  }

  private final Map<Operation, Counters> operations = new EnumMap<>(Operation.class);
  private final LongAdder relayedGets = new LongAdder();
  private final AtomicInteger active = new AtomicInteger();
  private final @Nullable RequestLogFile file;

  /**
   * @param file where every request gets a line; null for none
   */
  RequestLog(@Nullable RequestLogFile file) {
    this.file = file;
    for (Operation operation : Operation.values()) {
      operations.put(operation, new Counters());
    }
  }

  private Counters counters(Operation operation) {
    Counters counters = operations.get(operation);
    if (counters == null) {
      throw new IllegalStateException("No counters for " + operation);
    }
    return counters;
  }

  void began(Exchange exchange) {
    active.incrementAndGet();
    counters(exchange.operation()).requests.increment();
  }

  /** Counts how the exchange went. Once for each that began. */
  void ended(Exchange exchange) throws IOException {
    Counters counters = counters(exchange.operation());
    if (exchange.status() >= 400) {
      counters.failures.increment();
    }
    if (!exchange.isComplete()) {
      counters.aborted.increment();
    }
    if (exchange.isRelayed() && exchange.operation() == Operation.GET_OBJECT) {
      relayedGets.increment();
    }
    counters.bytesReceived.add(exchange.bytesReceived());
    counters.bytesSent.add(exchange.bytesSent());
    // Last of the counts: a reader that sees no active request sees the counts of all that were.
    active.decrementAndGet();
    if (file != null) {
      file.append(exchange, System.nanoTime() - exchange.arrivedNanos());
    }
  }

  ServerStats snapshot() {
    int answering = active.get();
    Map<Operation, ServerStats.Counts> counts = new EnumMap<>(Operation.class);
    operations.forEach(
        (operation, c) -> {
          if (c.requests.sum() > 0) {
            counts.put(
                operation,
                new ServerStats.Counts(
                    c.requests.sum(),
                    c.failures.sum(),
                    c.aborted.sum(),
                    c.bytesReceived.sum(),
                    c.bytesSent.sum()));
          }
        });
    return new ServerStats(counts, relayedGets.sum(), answering, ServerStats.processCpuNanos());
  }

  /** Writes out what the file's buffer holds. */
  void flush() throws IOException {
    if (file != null) {
      file.flush();
    }
  }

  /** As {@link #flush}, and closes the file. Idempotent. */
  @Override
  public void close() throws IOException {
    if (file != null) {
      file.close();
    }
  }
}
