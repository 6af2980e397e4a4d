// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.fault.Gate.Outcome;
import io.s3e.testing.Slow;
import io.s3e.testing.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads before a gate. */
@Timeout(60)
@Tag("waits")
class GateTest {
  private static final String BUCKET = "bucket";

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final ExecutorService threads = Executors.newCachedThreadPool();

  /** How far the gate's clock is ahead of the machine's, in ns. */
  private final AtomicLong ahead = new AtomicLong();

  private final Stores stores = new Stores(this::later, () -> System.nanoTime() + ahead.get());
  private final Gate gate = stores.gate("store", BUCKET);

  private boolean later(Runnable task, long nanos) {
    try {
      Future<?> unused = timer.schedule(task, nanos, TimeUnit.NANOSECONDS);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  @AfterEach
  void end() {
    timer.shutdownNow();
    threads.shutdownNow();
  }

  /** Of a reader that gives up after so long. */
  private static BooleanSupplier after(long millis) {
    long from = System.nanoTime();
    return () -> System.nanoTime() - from >= TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private void answer(Outcome outcome) {
    answer(outcome, null);
  }

  private void answer(Outcome outcome, @Nullable RequestFailure failure) {
    gate.sent();
    gate.ended(outcome, failure);
  }

  /** No tokens, and bad answers for more than a second: the next to come is a probe. */
  private void shut() throws InterruptedException {
    for (int i = 0; i < 60; i++) {
      answer(Outcome.UNAVAILABLE);
    }
    ahead.addAndGet(TimeUnit.MILLISECONDS.toNanos(1_010));
    assertThat(gate.awaitDemand(after(0))).isTrue();
    answer(Outcome.UNAVAILABLE);
  }

  @Test
  void aThrottleIsAnAnswerAndNoConnectionIsNot() {
    assertThat(gate.hasAnswered()).isFalse();
    answer(Outcome.UNAVAILABLE);
    assertThat(gate.hasAnswered()).isFalse();
    answer(Outcome.THROTTLED);
    assertThat(gate.hasAnswered()).isTrue();
    answer(Outcome.CANCELLED);
    assertThat(gate.hasAnswered()).isTrue();
  }

  @Test
  void longWaitsAreToldOfOnceInAWhile() {
    AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 50);
    Gate told = new Gate(this::later, clock::get);

    assertThat(told.tryTell(100)).isTrue();
    clock.addAndGet(99);
    assertThat(told.tryTell(100)).isFalse();
    clock.addAndGet(1);
    assertThat(told.tryTell(100)).isTrue();
    assertThat(told.tryTell(100)).isFalse();
  }

  @Test
  void aRetryWithoutAPauseRunsOnItsOwnThread() {
    List<Thread> ran = new ArrayList<>();
    assertThat(gate.retry(0, () -> ran.add(Thread.currentThread()))).isTrue();
    assertThat(ran).containsExactly(Thread.currentThread());
  }

  /** After everybody was refused, those with the shortest rest of their pause go first. */
  @Test
  void sleepersThatMayPassAtOnceKeepTheirOrder() throws Exception {
    shut();
    List<Integer> passed = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      int number = i;
      long pause = TimeUnit.SECONDS.toNanos(100 + i);
      assertThat(gate.retry(pause, () -> pass(passed, number))).isTrue();
    }
    answer(Outcome.ANSWERED);
    for (int ends = 0; passed.size() < 12; ends++) {
      assertThat(ends).as("answers, of which each lets another pass").isLessThan(100);
      gate.ended(Outcome.ANSWERED, null);
    }
    assertThat(passed).isSorted();
  }

  private void pass(List<Integer> passed, int number) {
    passed.add(number);
    gate.sent();
  }

  @Test
  void aRetryWaitsForItsPause() throws Exception {
    AtomicLong ranAt = new AtomicLong();
    long from = System.nanoTime();
    assertThat(gate.retry(TimeUnit.MILLISECONDS.toNanos(50), () -> ranAt.set(System.nanoTime())))
        .isTrue();
    awaitTrue(() -> ranAt.get() != 0);
    assertThat(ranAt.get() - from).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(50));
  }

  @Test
  void aRetryOfAnEngineThatClosesIsRefused() {
    timer.shutdownNow();
    AtomicBoolean ran = new AtomicBoolean();
    assertThat(gate.retry(1_000_000, () -> ran.set(true))).isFalse();
    answer(Outcome.ANSWERED);
    assertThat(ran).isFalse();
  }

  @Test
  void aDemandBeforeAShutGateEndsWhenItsReadersTimeIsOver() throws Exception {
    shut();
    long from = System.nanoTime();
    assertThat(gate.awaitDemand(after(50))).isFalse();
    assertThat(System.nanoTime() - from).isBetween(50_000_000L, 900_000_000L);
    assertThat(gate.admitsGuess(0)).isFalse();
  }

  @Test
  void aDemandBeforeAShutGateEndsWhenItsReaderGivesUp() throws Exception {
    shut();
    AtomicBoolean givenUp = new AtomicBoolean();
    Future<Boolean> waits = threads.submit(() -> gate.awaitDemand(givenUp::get));
    givenUp.set(true);
    assertThat(waits.get(800, TimeUnit.MILLISECONDS)).isFalse();
  }

  @Test
  void aRetryThatIsWaitedForPassesAfterItsPause() throws Exception {
    long from = System.nanoTime();
    assertThat(gate.awaitRetry(60_000_000, after(5_000))).isTrue();
    assertThat(System.nanoTime() - from).isGreaterThanOrEqualTo(60_000_000L);
    assertThat(gate.awaitRetry(900_000_000, after(20))).isFalse();
  }

  /** More of them than there are tokens: each pass is the next one's. */
  @Test
  void aRetryWhoseReaderLeavesAsItPassesTakesNothing() throws Exception {
    for (int i = 0; i < 100; i++) {
      assertThat(gate.awaitRetry(0, () -> true)).isFalse();
    }
    AtomicBoolean ran = new AtomicBoolean();
    assertThat(gate.retry(0, () -> ran.set(true))).isTrue();
    assertThat(ran).isTrue();
  }

  @Slow
  @Test
  void aDemandBeforeAShutGateEndsWhenItsThreadIsInterrupted() throws Exception {
    shut();
    AtomicLong waited = new AtomicLong();
    List<Throwable> thrown = new ArrayList<>();
    Thread reader =
        new Thread(
            () -> {
              long from = System.nanoTime();
              try {
                gate.awaitDemand(after(50_000));
              } catch (InterruptedException e) {
                thrown.add(e);
              }
              waited.set(System.nanoTime() - from);
            });
    reader.start();
    reader.interrupt();
    reader.join(5_000);
    assertThat(thrown).hasSize(1);
    assertThat(waited.get()).isLessThan(900_000_000L);
    // It waits no more: the next probe is another's.
    assertThat(gate.awaitDemand(after(5_000))).isTrue();
  }

  @Test
  void theFirstGoodAnswerWakesSleepersWithinMillis() throws Exception {
    shut();
    AtomicLong wokenAt = new AtomicLong();
    long pause = TimeUnit.SECONDS.toNanos(30);
    assertThat(gate.retry(pause, () -> wokenAt.set(System.nanoTime()))).isTrue();
    AtomicReference<Thread> reader = new AtomicReference<>();
    Future<Long> demand =
        threads.submit(
            () -> {
              reader.set(Thread.currentThread());
              assertThat(gate.awaitDemand(after(30_000))).isTrue();
              return System.nanoTime();
            });
    awaitTrue("the demand waits", () -> reader.get() != null && Threads.isWaiting(reader.get()));
    assertThat(wokenAt).hasValue(0);
    gate.sent();
    long from = System.nanoTime();
    gate.ended(Outcome.ANSWERED, null);
    assertThat(wokenAt.get() - from).isBetween(0L, 300_000_000L);
    assertThat(demand.get(5, TimeUnit.SECONDS) - from).isLessThan(300_000_000L);
  }

  @Slow
  @Test
  void probesGoOnWhereRetriesHaveNoUseForThem() throws Exception {
    shut();
    AtomicInteger idle = new AtomicInteger();
    for (int i = 0; i < 100; i++) {
      Runnable sendsNothing =
          () -> {
            idle.incrementAndGet();
            gate.unused();
          };
      assertThat(gate.retry(0, sendsNothing)).isTrue();
    }
    AtomicBoolean sent = new AtomicBoolean();
    assertThat(gate.retry(0, () -> sent.set(gate.sent()))).isTrue();
    awaitTrue(sent::get);
    assertThat(idle).hasValue(100);
  }

  /** A HEAD's retry wakes a thread that sends: its pass is used although nothing is sent yet. */
  @Test
  void oneRetryPassesWhileTheStoreRefusesAll() {
    AtomicLong now = new AtomicLong();
    Gate refused = refusing(now, 3);
    AtomicInteger passed = new AtomicInteger();
    for (int i = 0; i < 10; i++) {
      assertThat(refused.retry(TimeUnit.SECONDS.toNanos(30), passed::incrementAndGet)).isTrue();
    }
    assertThat(passed).hasValue(1);
    refused.sent();
    now.addAndGet(TimeUnit.SECONDS.toNanos(1));
    refused.ended(Outcome.UNAVAILABLE, null);
    assertThat(passed).hasValue(2);
  }

  /** Where what is sent again hangs, each place that it leaves would be the next retry's. */
  @Test
  void retriesAndDemandsTakeTurnsWhereTheStoreAnswersAgain() {
    AtomicLong now = new AtomicLong();
    Gate refused = refusing(now, 8);
    List<String> passed = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      refused.retry(0, () -> pass(refused, passed, "retry"));
    }
    for (int i = 0; i < 8; i++) {
      var unused =
          refused.enter(GateRate.WaiterKind.DEMAND, 0, () -> pass(refused, passed, "demand"));
    }
    refused.ended(Outcome.ANSWERED, null);
    assertThat(passed).hasSizeGreaterThan(3);
    assertThat(passed.subList(1, 4)).contains("retry", "demand");
  }

  private static void pass(Gate gate, List<String> passed, String who) {
    gate.sent();
    passed.add(who);
  }

  /** A gate by a clock of the test's, whose store has refused so many for a second. */
  private static Gate refusing(AtomicLong now, int requests) {
    Gate refused = new Gate((task, nanos) -> true, now::get);
    for (int i = 0; i < requests; i++) {
      refused.sent();
    }
    for (int i = 0; i < requests; i++) {
      refused.ended(Outcome.UNAVAILABLE, null);
    }
    now.addAndGet(TimeUnit.MILLISECONDS.toNanos(1_010));
    return refused;
  }

  @Test
  void theLastRefusalIsRememberedUntilAGoodAnswer() {
    RequestFailure refused = new RequestFailure(Kind.THROTTLED, "GET", "slow down", null);
    RequestFailure absent = new RequestFailure(Kind.NOT_FOUND, "GET", "no such key", null);
    assertThat(gate.lastFailure()).isNull();
    answer(Outcome.THROTTLED, refused);
    answer(Outcome.CANCELLED, absent);
    assertThat(gate.lastFailure()).isSameAs(refused);
    answer(Outcome.ANSWERED, absent);
    assertThat(gate.lastFailure()).isNull();
  }

  @Slow
  @Test
  void aRetryThatFailsKeepsNobodyElseWaiting() throws Exception {
    shut();
    AtomicBoolean ran = new AtomicBoolean();
    gate.retry(
        0,
        () -> {
          throw new IllegalStateException("on purpose");
        });
    gate.retry(0, () -> ran.set(true));
    awaitTrue(ran::get);
  }

  @Test
  void manyThreadsLoseNothing() throws Exception {
    int readers = 32;
    int reads = 150;
    AtomicIntegerArray runs = new AtomicIntegerArray(readers * reads * 8);
    AtomicInteger retries = new AtomicInteger();
    AtomicInteger done = new AtomicInteger();
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < readers; i++) {
      all.add(
          threads.submit(
              () -> {
                for (int read = 0; read < reads; read++) {
                  assertThat(gate.awaitDemand(after(40_000))).isTrue();
                  send(runs, retries, done, 1);
                }
                return null;
              }));
    }
    for (Future<?> one : all) {
      one.get(50, TimeUnit.SECONDS);
    }
    awaitTrue(() -> done.get() == readers * reads);
    for (int i = 0; i < retries.get(); i++) {
      assertThat(runs.get(i)).as("runs of retry %s", i).isEqualTo(1);
    }
    // As many ended as were sent: one more would be an error.
    assertThatThrownBy(() -> gate.ended(Outcome.CANCELLED, null))
        .isInstanceOf(IllegalStateException.class);
  }

  private void send(
      AtomicIntegerArray runs, AtomicInteger retries, AtomicInteger done, int attempt) {
    gate.sent();
    int luck = attempt > 6 ? 99 : ThreadLocalRandom.current().nextInt(100);
    Outcome outcome =
        luck < 10 ? Outcome.THROTTLED : luck < 20 ? Outcome.UNAVAILABLE : Outcome.ANSWERED;
    gate.ended(outcome, null);
    if (outcome == Outcome.ANSWERED) {
      done.incrementAndGet();
      return;
    }
    int number = retries.getAndIncrement();
    long pause = attempt == 1 ? 0 : ThreadLocalRandom.current().nextLong(2_000_000);
    assertThat(
            gate.retry(
                pause,
                () -> {
                  runs.incrementAndGet(number);
                  send(runs, retries, done, attempt + 1);
                }))
        .isTrue();
  }

  @Test
  void equalStoresShareAGateAndOthersDoNot() {
    assertThat(stores.gate(new String("store"), BUCKET)).isSameAs(gate);
    assertThat(stores.gate("store", "other")).isNotSameAs(gate);
    assertThat(stores.gate("other", BUCKET)).isNotSameAs(gate);
  }

  @Test
  void gatesThatNobodyUsesGo() {
    AtomicLong clock = new AtomicLong();
    Stores many = new Stores(this::later, clock::get);
    Gate used = many.gate("store", "used");
    used.sent();
    Gate troubled = many.gate("store", "troubled");
    for (int i = 0; i < 3; i++) {
      troubled.sent();
      troubled.ended(Outcome.UNAVAILABLE, null);
    }
    for (int i = 0; i < 10_000; i++) {
      clock.addAndGet(TimeUnit.SECONDS.toNanos(10));
      many.gate("store", "bucket" + i);
    }
    assertThat(many.gates.size()).isLessThanOrEqualTo(257);
    assertThat(many.gate("store", "used")).isSameAs(used);
    assertThat(many.gate("store", "troubled")).isSameAs(troubled);
  }

  /** As where the heap is full for a moment. */
  @Test
  void aTimerThatFailsOnceKeepsNoReaderWaiting() throws Exception {
    AtomicBoolean fails = new AtomicBoolean();
    Gate faulty =
        new Gate(
            (task, nanos) -> {
              if (fails.getAndSet(false)) {
                // Accepted, and never run.
                return true;
              }
              return later(task, nanos);
            },
            () -> System.nanoTime() + ahead.get());
    for (int i = 0; i < 60; i++) {
      faulty.sent();
      faulty.ended(Outcome.UNAVAILABLE, null);
    }
    ahead.addAndGet(TimeUnit.MILLISECONDS.toNanos(1_010));
    assertThat(faulty.awaitDemand(after(0))).isTrue();
    faulty.sent();
    faulty.ended(Outcome.UNAVAILABLE, null);
    fails.set(true);
    assertThat(faulty.awaitDemand(after(10_000))).as("the next probe").isTrue();
    assertThat(fails).isFalse();
  }
}
