package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What processes may write: each of them, and all together. */
class AllowanceTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final Allowance allowance = new Allowance("me");
  private final Thread here = Thread.currentThread();
  private final Thread other = new Thread();

  private static Publication grant(long scannedMillis, long bytes) {
    return new Publication(scannedMillis, 1000, 0, Map.of("me", bytes));
  }

  @Test
  void nothingMayBeWrittenBeforeSomethingIsGranted() {
    assertThat(allowance.trySetAside(here, 1, 0)).isFalse();
    allowance.read(null, 0);
    assertThat(allowance.trySetAside(here, 1, 0)).isFalse();
    allowance.read(new Publication(0, 1000, 0, Map.of("somebody else", 500L)), 0);
    assertThat(allowance.trySetAside(here, 1, 0)).isFalse();
  }

  @Test
  void whatIsSetAsideAndWhatIsWrittenIsTakenOff() {
    allowance.read(grant(0, 100), 0);
    assertThat(allowance.trySetAside(here, 60, 0)).isTrue();
    assertThat(allowance.trySetAside(other, 60, 0)).isFalse();
    assertThat(allowance.trySetAside(other, 40, 0)).isTrue();
    assertThat(allowance.left(0)).isZero();
    allowance.written(here, 50, 1);
    assertThat(allowance.left(0)).isEqualTo(10);
    assertThat(allowance.bytes()).isEqualTo(50);
  }

  @Test
  void askingAgainGivesUpWhatWasSetAside() {
    allowance.read(grant(0, 100), 0);
    assertThat(allowance.trySetAside(here, 100, 0)).isTrue();
    assertThat(allowance.trySetAside(here, 100, 0)).isTrue();
    assertThat(allowance.trySetAside(here, 101, 0)).isFalse();
    assertThat(allowance.trySetAside(other, 100, 0)).isTrue();
  }

  @Test
  void whatWasSetAsideAMinuteAgoIsNotComing() {
    allowance.read(grant(0, 100), 0);
    assertThat(allowance.trySetAside(other, 100, 0)).isTrue();
    allowance.read(grant(0, 100), 60 * SECOND);
    assertThat(allowance.left(60 * SECOND)).isZero();
    assertThat(allowance.left(60 * SECOND + 1)).isEqualTo(100);
  }

  @Test
  void aGrantCountsWhatWasWrittenSinceTheJanitorLooked() {
    allowance.read(grant(0, 100), 0);
    allowance.written(here, 30, 950);
    allowance.written(here, 20, 2000);
    allowance.read(grant(1000, 100), 0);
    assertThat(allowance.left(0)).as("the first was seen by the janitor, perhaps").isEqualTo(50);
    allowance.read(grant(1100, 100), 0);
    assertThat(allowance.left(0)).isEqualTo(80);
    allowance.read(grant(5000, 100), 0);
    assertThat(allowance.left(0)).isEqualTo(100);
  }

  @Test
  void anOldReadingIsWorthNothing() {
    allowance.read(grant(0, 100), 0);
    assertThat(allowance.left(Allowance.STALE.toNanos())).isEqualTo(100);
    assertThat(allowance.left(Allowance.STALE.toNanos() + 1)).isZero();
    assertThat(Allowance.STALE).isLessThan(Grants.IN_FORCE);
  }

  @Test
  void oneShareIsKeptForANewcomer() {
    Grants grants = new Grants();
    assertThat(grants.next(List.of("a"), 1200, 0)).isEqualTo(Map.of("a", 300L));
    grants.wasPublished(0);
    assertThat(grants.next(List.of("a", "b"), 1200, SECOND))
        .isEqualTo(Map.of("a", 200L, "b", 200L));
  }

  @Test
  void whatIsInForceIsNotGrantedTwice() {
    Grants grants = new Grants();
    assertThat(grants.next(List.of("a", "b"), 1200, 0)).isEqualTo(Map.of("a", 200L, "b", 200L));
    grants.wasPublished(0);
    assertThat(grants.next(List.of("a", "b", "c"), 450, SECOND))
        .as("a and b may still have 200 each")
        .isEqualTo(Map.of("a", 56L, "b", 56L, "c", 50L));
    grants.wasPublished(SECOND);
    assertThat(grants.next(List.of("a", "b", "c"), 449, 2 * SECOND))
        .as("more is in force than there is")
        .isEqualTo(Map.of("a", 0L, "b", 0L, "c", 0L));
    grants.wasPublished(2 * SECOND);
    assertThat(grants.next(List.of("a", "b", "c"), 800, 4 * SECOND))
        .as("all have read what was published last")
        .isEqualTo(Map.of("a", 100L, "b", 100L, "c", 100L));
  }

  @Test
  void aNewJanitorKnowsWhatTheLastOneGranted() {
    Grants grants = new Grants();
    grants.inherit(Map.of("a", 100L), 0);
    assertThat(grants.next(List.of("a", "b"), 130, 2 * SECOND))
        .isEqualTo(Map.of("a", 21L, "b", 21L));
    grants.inherit(Map.of("a", 100L), 0);
    assertThat(grants.next(List.of("a", "b"), 110, 2 * SECOND))
        .isEqualTo(Map.of("a", 18L, "b", 10L));
  }

  @Test
  void whatMayHaveBeenPublishedCountsToo() {
    Grants grants = new Grants();
    assertThat(grants.next(List.of("a"), 400, 0)).isEqualTo(Map.of("a", 100L));
    // Nobody knows whether that one failed before or after the renaming.
    assertThat(grants.next(List.of("a", "b"), 110, 60 * SECOND))
        .isEqualTo(Map.of("a", 18L, "b", 10L));
  }

  @Test
  void nothingIsGrantedWhereNothingIsFree() {
    Grants grants = new Grants();
    assertThat(grants.next(List.of("a", "b"), -5, 0)).isEqualTo(Map.of("a", 0L, "b", 0L));
    assertThat(grants.next(List.of(), 100, 0)).isEmpty();
  }

  /**
   * Processes come, die, read late and write all that they may; janitors look, publish later, fail
   * to and are replaced. Time is simulated, so the sum is exact.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void allTogetherNeverPassTheCapacity(long seed) {
    Simulation simulation = new Simulation(seed);
    for (int step = 0; step < 20_000; step++) {
      simulation.step();
      assertThat(simulation.held)
          .as("seed %d, step %d", seed, step)
          .isLessThanOrEqualTo(Simulation.CAPACITY);
    }
    assertThat(simulation.written).as("seed %d", seed).isGreaterThan(20 * Simulation.CAPACITY);
  }

  private static final class Simulation {
    private static final long CAPACITY = 100_000;

    private final Random random;
    private final Map<String, Allowance> processes = new HashMap<>();
    private Grants grants = new Grants();
    private Publication published = new Publication(0, CAPACITY, 0, Map.of());
    private long nanos;
    private long held;
    private long written;
    private int names;
    private long noPassBefore;

    Simulation(long seed) {
      random = new Random(seed);
    }

    void step() {
      nanos += random.nextInt((int) (SECOND / 20));
      int what = random.nextInt(1000);
      if (what < 5 && processes.size() < 6) {
        names++;
        processes.put("p" + names, new Allowance("p" + names));
      } else if (what < 8 && !processes.isEmpty()) {
        processes.remove(any());
      } else if (what < 12) {
        grants = new Grants();
        Map<String, Long> living = new HashMap<>(published.grants());
        living.keySet().retainAll(processes.keySet());
        grants.inherit(living, nanos);
        noPassBefore = nanos + Grants.IN_FORCE.toNanos();
      } else if (what < 60 && nanos >= noPassBefore) {
        pass();
      } else if (!processes.isEmpty()) {
        writeOrRead(processes.get(any()), random.nextBoolean());
      }
    }

    private String any() {
      return List.copyOf(processes.keySet()).get(random.nextInt(processes.size()));
    }

    private void pass() {
      long scanned = millis();
      long seen = held;
      if (seen > CAPACITY * 9 / 10) {
        long evicted = seen - CAPACITY / (1 + random.nextInt(4));
        seen -= Math.max(0, evicted);
        held -= Math.max(0, evicted);
      }
      for (Allowance process : processes.values()) {
        writeOrRead(process, false);
      }
      Map<String, Long> granted =
          grants.next(List.copyOf(processes.keySet()), CAPACITY - seen, nanos);
      if (random.nextInt(10) > 0) {
        nanos += random.nextInt((int) SECOND);
        published = new Publication(scanned, CAPACITY, seen, granted);
        if (random.nextInt(10) > 0) {
          grants.wasPublished(nanos);
        }
      }
    }

    private void writeOrRead(Allowance process, boolean read) {
      if (read) {
        process.read(published, nanos);
        return;
      }
      long most = process.left(nanos);
      long bytes = most == 0 ? 0 : 1 + random.nextLong(most);
      if (bytes > 0 && process.trySetAside(Thread.currentThread(), bytes, nanos)) {
        held += bytes;
        written += bytes;
        process.written(Thread.currentThread(), bytes, millis());
      }
    }

    private long millis() {
      return TimeUnit.NANOSECONDS.toMillis(nanos);
    }
  }
}
