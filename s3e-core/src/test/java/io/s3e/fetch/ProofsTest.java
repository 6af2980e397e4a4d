// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockLayout;
import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.metrics.StreamListener;
import io.s3e.prefetch.PrefetchLimits;
import io.s3e.prefetch.ReadPlanner;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.prefetch.ReaderHabit;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** How long an answer of S3 counts, and for what. */
class ProofsTest {
  private static final int BLOCK = 64 << 10;
  private static final Duration AGE = Duration.ofMinutes(15);

  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
  private final AtomicReference<@Nullable Object> credentials = new AtomicReference<>();
  private final Proofs proofs = proofs(AGE);

  private Proofs proofs(Duration age) {
    return new Proofs(age, credentials::get, now::get);
  }

  private static ObjectHandle open(String etag) {
    ObjectVersion version =
        ObjectVersion.identified(new ObjectRef("bucket", "key"), 17, etag, null);
    BlockLayout layout = new BlockLayout(version.size(), BLOCK);
    ReadPlanner planner =
        new ReadPlanner(layout, ReadPolicy.ADAPTIVE, null, PrefetchLimits.defaults(BLOCK, BLOCK));
    return new ObjectHandle(
        version,
        layout,
        Map.of(),
        null,
        StreamListener.NONE,
        (counter, amount) -> {},
        new ReaderProgress(planner.pattern(), new ReaderHabit()));
  }

  private void pass(Duration time) {
    now.addAndGet(time.toNanos());
  }

  /** As in a streaming job, which reads new files for weeks. */
  @Test
  void whatIsTooOldIsForgotten() {
    for (int i = 0; i < 10_000; i++) {
      proofs.answered(open("old-" + i), null);
    }
    assertThat(proofs.proofs).hasSize(10_000);
    pass(AGE);
    for (int i = 0; i < 7_000; i++) {
      proofs.answered(open("new-" + i), null);
    }
    assertThat(proofs.proofs).hasSize(7_000);
    pass(AGE);
    for (int i = 0; i < 8_000; i++) {
      proofs.answered(open("newer-" + i), null);
    }
    assertThat(proofs.proofs).hasSize(8_000);
    assertThat(proofs.isProven(open("newer-0"))).isTrue();
  }

  @Test
  void anAnswerCountsForItsVersionAloneAndForAWhile() {
    ObjectHandle asked = open("a");
    assertThat(proofs.isProven(asked)).isFalse();
    proofs.answered(asked, null);
    ObjectHandle other = open("a");
    for (ObjectHandle each : new ObjectHandle[] {asked, other, open("a")}) {
      assertThat(proofs.isProven(each)).isTrue();
    }
    assertThat(proofs.isProven(open("b"))).isFalse();
    pass(AGE.minusNanos(1));
    assertThat(proofs.isProven(asked)).isTrue();
    assertThat(proofs.isProven(other)).isTrue();
    pass(Duration.ofNanos(1));
    assertThat(proofs.isProven(asked)).as("of an open stream too").isFalse();
    assertThat(proofs.isProven(other)).isFalse();
    assertThat(proofs.isProven(open("a"))).isFalse();
  }

  /** The clock that ages proofs may stand still while the machine sleeps. */
  @Test
  void anAnswerFromBeforeANightOfSleepDoesNotCount() {
    proofs.wallClock = Clock.fixed(Instant.parse("2027-01-15T08:00:00Z"), ZoneOffset.UTC);
    ObjectHandle asked = open("a");
    proofs.answered(asked, null);
    passByTheWall(AGE.minusMillis(1));
    assertThat(proofs.isProven(asked)).isTrue();
    assertThat(proofs.isProven(open("a"))).isTrue();
    passByTheWall(Duration.ofMillis(1));
    assertThat(proofs.isProven(asked)).isFalse();
    assertThat(proofs.isProven(open("a"))).isFalse();
    passByTheWall(Duration.ofDays(-1));
    pass(AGE);
    assertThat(proofs.isProven(asked)).as("after a clock that was ahead").isFalse();
  }

  private void passByTheWall(Duration time) {
    proofs.wallClock = Clock.offset(proofs.wallClock, time);
  }

  @Test
  void theAnswerToOneStreamRenewsThatOfAllOthers() {
    ObjectHandle asked = open("a");
    proofs.answered(asked, null);
    pass(AGE);
    proofs.answered(open("a"), null);
    assertThat(proofs.isProven(asked)).isTrue();
  }

  @Test
  void withoutAnAgeEachStreamAsksForItself() {
    Proofs strict = proofs(Duration.ZERO);
    ObjectHandle asked = open("a");
    strict.answered(asked, null);
    assertThat(strict.isProven(asked)).isTrue();
    assertThat(strict.isProven(open("a"))).isFalse();
    pass(Proofs.LONGEST_LIFE);
    assertThat(strict.isProven(asked)).isFalse();
  }

  @Test
  void anAnswerCountsForTheCredentialsOfItsRequest() {
    ObjectHandle asked = open("a");
    proofs.answered(asked, null);
    credentials.set("first");
    assertThat(proofs.isProven(asked)).as("they were not known").isTrue();

    proofs.answered(asked, "first");
    credentials.set("second");
    assertThat(proofs.isProven(asked)).isFalse();
    assertThat(proofs.isProven(open("a"))).isFalse();

    proofs.answered(asked, "first");
    assertThat(proofs.isProven(asked)).as("sent before they changed").isFalse();
    proofs.answered(asked, "second");
    assertThat(proofs.isProven(asked)).isTrue();
  }

  @Test
  void aFullTableForgetsTheOldFirst() {
    proofs.answered(open("old"), null);
    pass(AGE);
    for (int i = 1; i < Proofs.MOST_VERSIONS; i++) {
      proofs.answered(open("v" + i), null);
    }
    proofs.answered(open("last"), null);
    assertThat(proofs.isProven(open("v1"))).isTrue();
    assertThat(proofs.isProven(open("last"))).isTrue();

    proofs.answered(open("one more"), null);
    assertThat(proofs.isProven(open("one more"))).isTrue();
    assertThat(proofs.isProven(open("v1"))).as("forgotten, which costs one GET").isFalse();
  }
}
