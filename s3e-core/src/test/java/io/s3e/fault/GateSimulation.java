// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

import io.s3e.fault.Gate.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Readers before one gate and a store behind it, in simulated time: each reader has one read after
 * the other, sends it again as the policy does until it succeeds, and nobody sleeps.
 */
final class GateSimulation {
  static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);
  static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private static final long BASE = 500 * MILLI;
  private static final long CAP = 20 * SECOND;

  /** What the store does with a request. */
  interface Store {
    Answer answer(long now, Random random);
  }

  record Answer(Outcome outcome, long nanos) {}

  /** A request, and what became of it. */
  record Sent(long at, long endsAt, Outcome outcome, boolean isProbe) {}

  private record Event(long at, long number, Runnable task) {}

  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::number));
  private final Random random;
  private final Store store;
  private final List<Sent> sent = new ArrayList<>();
  private long now;
  private long number;
  final Gate gate = new Gate(this::later, () -> now);

  GateSimulation(long seed, Store store) {
    this.random = new Random(seed);
    this.store = store;
  }

  private boolean later(Runnable task, long nanos) {
    events.add(new Event(now + Math.max(0, nanos), number++, task));
    return true;
  }

  GateSimulation readers(int count) {
    for (int i = 0; i < count; i++) {
      later(this::read, random.nextInt((int) (30 * MILLI)));
    }
    return this;
  }

  private void read() {
    if (gate.isOpen()) {
      send(1);
    } else {
      gate.enter(GateRate.WaiterKind.DEMAND, 0, () -> send(1));
    }
  }

  private void send(int attempt) {
    boolean isProbe = gate.sent();
    Answer answer = store.answer(now, random);
    sent.add(new Sent(now, now + answer.nanos(), answer.outcome(), isProbe));
    later(
        () -> {
          gate.ended(answer.outcome(), null);
          if (answer.outcome() == Outcome.ANSWERED) {
            read();
          } else {
            gate.retry(pause(attempt), () -> send(attempt + 1));
          }
        },
        answer.nanos());
  }

  private long pause(int failures) {
    if (failures == 1) {
      return 0;
    }
    long whole = Math.min(CAP, BASE << Math.min(failures - 2, 10));
    return whole / 2 + (long) (random.nextDouble() * whole / 2);
  }

  GateSimulation until(long end) {
    while (!events.isEmpty() && events.peek().at() <= end) {
      Event next = events.remove();
      now = next.at();
      next.task().run();
    }
    now = end;
    return this;
  }

  long sentBetween(long from, long to) {
    return sent.stream().filter(one -> one.at() >= from && one.at() < to).count();
  }

  long probes() {
    return sent.stream().filter(Sent::isProbe).count();
  }

  long goodBetween(long from, long to) {
    return sent.stream()
        .filter(one -> one.outcome() == Outcome.ANSWERED)
        .filter(one -> one.endsAt() >= from && one.endsAt() < to)
        .count();
  }

  long firstGoodAfter(long from) {
    return sent.stream()
        .filter(one -> one.outcome() == Outcome.ANSWERED && one.endsAt() > from)
        .mapToLong(Sent::endsAt)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /** A good answer in about 30 ms. */
  static Answer good(Random random) {
    return new Answer(Outcome.ANSWERED, (20 + random.nextInt(20)) * MILLI);
  }

  /** A refusal in 5 ms. */
  static Answer bad(Outcome outcome) {
    return new Answer(outcome, 5 * MILLI);
  }
}
