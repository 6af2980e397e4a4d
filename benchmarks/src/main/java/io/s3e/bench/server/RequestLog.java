package io.s3e.bench.server;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** Counts and bytes of every operation since the server started. Any thread; never blocks. */
final class RequestLog {

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

  RequestLog() {
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

  void began(Operation operation) {
    active.incrementAndGet();
    counters(operation).requests.increment();
  }

  void answered(Operation operation, int status) {
    if (status >= 400) {
      counters(operation).failures.increment();
    }
  }

  /** The client went away, or the connection broke, before the answer was complete. */
  void aborted(Operation operation) {
    counters(operation).aborted.increment();
  }

  void ended() {
    active.decrementAndGet();
  }

  void received(Operation operation, long bytes) {
    counters(operation).bytesReceived.add(bytes);
  }

  void sent(Operation operation, long bytes) {
    counters(operation).bytesSent.add(bytes);
  }

  /** An object GET that the front could not answer itself. */
  void relayedGet() {
    relayedGets.increment();
  }

  ServerStats snapshot() {
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
    return new ServerStats(counts, relayedGets.sum(), active.get(), ServerStats.processCpuNanos());
  }
}
