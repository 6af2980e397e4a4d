// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.Seed;
import io.s3e.testing.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AskersTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final AtomicLong nanos = new AtomicLong(-5 * SECOND);
  private final Askers askers = new Askers(nanos::get);
  private final Object self = new Object();

  private List<Object> ask(int readers) {
    List<Object> all = new ArrayList<>();
    for (int i = 0; i < readers; i++) {
      all.add(new Object());
    }
    all.forEach(askers::ask);
    return all;
  }

  @Test
  void aReaderAloneSharesWithNobody() {
    assertThat(askers.sharing(self)).isEqualTo(1);
    askers.ask(self);
    askers.ask(self);
    assertThat(askers.sharing(self)).isEqualTo(1);
  }

  @Test
  void eachReaderCountsOnceHoweverOftenItAsks() {
    List<Object> others = ask(40);
    others.forEach(askers::ask);

    assertThat(askers.sharing(self)).isEqualTo(41);
    assertThat(askers.sharing(others.get(0))).isEqualTo(40);
  }

  @Test
  void aReaderThatGoesOnAskingIsCountedOnce() {
    List<Object> others = ask(40);
    nanos.addAndGet(SECOND);
    others.subList(0, 10).forEach(askers::ask);

    assertThat(askers.sharing(self)).isEqualTo(41);
    nanos.addAndGet(SECOND);
    assertThat(askers.sharing(self)).as("the others idle").isEqualTo(11);
    nanos.addAndGet(SECOND);
    assertThat(askers.sharing(self)).as("all idle").isEqualTo(1);
  }

  @Test
  void aReaderThatLeavesIsCountedNoMore() {
    List<Object> others = ask(40);
    askers.leave(others.get(0));
    askers.leave(others.get(0));
    assertThat(askers.sharing(self)).as("left as it had asked").isEqualTo(40);

    nanos.addAndGet(SECOND);
    askers.leave(others.get(1));
    assertThat(askers.sharing(self)).as("left a second later").isEqualTo(39);

    askers.ask(others.get(1));
    assertThat(askers.sharing(self)).as("reads again").isEqualTo(40);
    nanos.addAndGet(3600 * SECOND);
    askers.leave(others.get(2));
    assertThat(askers.sharing(self)).as("left when it was forgotten").isEqualTo(1);
  }

  @Test
  void readersThatAreIdleForLongAreForgotten() {
    List<Object> others = ask(40);
    nanos.addAndGet(3600 * SECOND);
    assertThat(askers.sharing(self)).isEqualTo(1);

    askers.ask(others.get(0));
    assertThat(askers.sharing(self)).isEqualTo(2);
  }

  @Test
  void threadsThatRaceLeaveNothingBehind() throws Exception {
    Threads.run(
        4,
        Seed.draw(),
        (thread, random) -> {
          for (int round = 0; round < 20_000; round++) {
            Object asker = new Object();
            askers.ask(asker);
            nanos.addAndGet(random.nextLong(SECOND / 50));
            askers.ask(asker);
            assertThat(askers.sharing(asker)).isBetween(1, 20_000);
          }
        });

    nanos.addAndGet(2 * SECOND);
    assertThat(askers.sharing(self)).isEqualTo(1);
    ask(3);
    assertThat(askers.sharing(self)).isEqualTo(4);
  }
}
