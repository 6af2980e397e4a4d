// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.s3e.hadoop.cost.Advice.Topic;
import io.s3e.hadoop.cost.ReadAdvice.Memory;
import org.junit.jupiter.api.Test;

/** What is found in counts, what is told of it, and what it costs. */
class ReadAdviceTest {
  private static final long MIB = 1 << 20;
  private static final Memory BY_DEFAULT = new Memory(0, 4);

  /** Tasks of 100 s that waited for 20 s. */
  private static ReadWork work(long gets, long throttled, long wastedMib) {
    return new ReadWork(gets, 10, throttled, 1_000 * MIB, wastedMib * MIB, 100_000, 20_000);
  }

  private static ReadWork waiting(long heads, long waitedMillis) {
    return new ReadWork(100, heads, 0, 1_000 * MIB, 0, 100_000, waitedMillis);
  }

  @Test
  void nothingIsSaidWhereNothingIsWorthIt() {
    assertThat(ReadAdvice.first(work(1_000, 9, 199), BY_DEFAULT, Prices.LIST)).isEmpty();
  }

  @Test
  void refusalsOfOneGetInAHundred() {
    Advice advice = ReadAdvice.throttled(work(1_000, 10, 0)).orElseThrow();
    assertThat(advice.text())
        .startsWith("the bucket throttles: 10 of 1,000 GETs were refused by the store (1.0 %)")
        .contains("waited 20.0 s", "prefixes");
    assertThat(advice.saving()).isEqualTo(new Saving(1_300, 10));
    // 1.3 s of 100 s are not worth a line; refusals that take all of the wait are.
    assertThat(ReadAdvice.first(work(1_000, 10, 0), BY_DEFAULT, Prices.LIST)).isEmpty();
    assertThat(ReadAdvice.first(work(1_000, 400, 0), BY_DEFAULT, Prices.LIST))
        .get()
        .satisfies(found -> assertThat(found.saving()).isEqualTo(new Saving(20_000, 400)));
  }

  @Test
  void aFifthThatWasPrefetchedForNobody() {
    assertThat(ReadAdvice.wastedPrefetch(work(1_000, 0, 200)))
        .get()
        .satisfies(advice -> assertThat(advice.saving()).isEqualTo(new Saving(0, 200)));
    assertThat(ReadAdvice.wastedPrefetch(work(1_000, 0, 199))).isEmpty();
  }

  @Test
  void aBudgetThatWasSetTooLow() {
    Memory low = new Memory(32 * MIB, 4);
    Advice advice = ReadAdvice.first(waiting(10, 20_000), low, Prices.LIST).orElseThrow();
    assertThat(advice.topic()).isEqualTo(Topic.MEMORY_BUDGET);
    assertThat(advice.text()).contains("32.0 MiB for 4 tasks at once", "at least 128.0 MiB");
    assertThat(advice.saving().slotMillis()).isEqualTo(15_000);
    assertThat(ReadAdvice.memoryBudget(waiting(10, 20_000), new Memory(128 * MIB, 4))).isEmpty();
    assertThat(ReadAdvice.memoryBudget(waiting(10, 20_000), BY_DEFAULT)).isEmpty();
    assertThat(ReadAdvice.memoryBudget(waiting(10, 9_000), low)).isEmpty();
  }

  @Test
  void whatSavesMostComesFirst() {
    Memory low = new Memory(32 * MIB, 4);
    assertThat(ReadAdvice.first(work(1_000, 60, 500), low, Prices.LIST))
        .get()
        .extracting(Advice::topic)
        .isEqualTo(Topic.MEMORY_BUDGET);
    assertThat(ReadAdvice.first(work(1_000, 140, 500), low, Prices.LIST))
        .get()
        .extracting(Advice::topic)
        .isEqualTo(Topic.THROTTLED);
    Prices dearRequests = new Prices(0.05, 1);
    assertThat(ReadAdvice.first(work(1_000, 140, 500), low, dearRequests))
        .get()
        .extracting(Advice::topic)
        .isEqualTo(Topic.WASTED_PREFETCH);
  }

  @Test
  void workThatWaitsForSomethingElse() {
    assertThat(ReadAdvice.first(waiting(10, 1_000), BY_DEFAULT, Prices.LIST))
        .get()
        .satisfies(
            advice -> {
              assertThat(advice.topic()).isEqualTo(Topic.NOT_S3);
              assertThat(advice.evidence()).contains("100.0 s", "1.0 % of it");
              assertThat(advice.saving()).isEqualTo(Saving.NONE);
            });
    // 200 HEADs are 6 s more.
    assertThat(ReadAdvice.notS3(waiting(200, 1_000))).isEmpty();
    assertThat(ReadAdvice.notS3(new ReadWork(1, 0, 0, MIB, 0, 9_999, 0))).isEmpty();
  }

  /** docs/BENCHMARKS.md: a GET costs what 29 ms of a processor cost. */
  @Test
  void aBillIsTheSumOfItsParts() {
    Bill bill = Prices.LIST.bill(1_000, 3_600_000_000_000L, 1_800_000_000_000L);
    assertThat(bill).isEqualTo(new Bill(0.0004, 0.05, 0.025));
    assertThat(bill.totalUsd()).isCloseTo(0.0754, within(1e-12));
    assertThat(bill.usdPerTerabyte(500_000_000_000L)).isCloseTo(0.1508, within(1e-12));
    assertThat(bill.plus(bill).totalUsd()).isCloseTo(2 * bill.totalUsd(), within(1e-12));
    assertThat(Prices.LIST.of(29, 0)).isCloseTo(Prices.LIST.of(0, 1), within(0.01e-6));
  }
}
