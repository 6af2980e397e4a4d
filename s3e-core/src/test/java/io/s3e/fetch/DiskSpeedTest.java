// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.Slow;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Which of disk and S3 a reader is to ask. */
class DiskSpeedTest {
  private static final int MIB = 1 << 20;

  private final DiskSpeed speed = new DiskSpeed();

  private void disk(long bytes, int millis, int times) {
    disk(bytes, millis, times, Duration.ZERO);
  }

  private void disk(long bytes, int millis, int times, Duration ago) {
    for (int i = 0; i < times; i++) {
      long then = System.nanoTime() - ago.toNanos();
      speed.onDisk(bytes, bytes, Duration.ofMillis(millis).toNanos(), then);
    }
  }

  private void store(long bytes, int millis, int times) {
    for (int i = 0; i < times; i++) {
      speed.onStore(bytes, Duration.ofMillis(millis).toNanos());
    }
  }

  @Test
  void theDiskIsAskedAsLongAsItIsNotKnownToBeSlower() {
    disk(MIB, 100, 8);
    store(MIB, 50, 7);
    assertThat(speed.isDiskSlower(MIB)).isFalse();
    store(MIB, 50, 1);
    assertThat(speed.isDiskSlower(MIB)).isTrue();
    assertThat(speed.isDiskSlower(1000)).as("nothing is known of short ones").isFalse();
  }

  @Test
  void longReadsAreComparedByTheMiB() {
    disk(4 * MIB, 240, 8);
    store(8 * MIB, 400, 8);
    assertThat(speed.isDiskSlower(MIB)).as("60 against 50 ms").isTrue();
    disk(4 * MIB, 120, 30);
    assertThat(speed.isDiskSlower(MIB)).as("30 against 50 ms").isFalse();
  }

  @Test
  void shortReadsAreComparedWithShortGets() {
    disk(10_000, 45, 8);
    store(100_000, 31, 8);
    assertThat(speed.isDiskSlower(10_000)).isTrue();
  }

  @Test
  void readsThatGiveNothingCountAsWhatTheyCost() {
    store(MIB, 50, 8);
    for (int i = 0; i < 8; i++) {
      speed.onDisk(0, MIB, Duration.ofMillis(1).toNanos(), System.nanoTime());
    }
    disk(MIB, 30, 8);
    assertThat(speed.isDiskSlower(MIB)).as("nothing was there").isFalse();
    for (int i = 0; i < 4; i++) {
      speed.onDisk(0, MIB, Duration.ofMillis(200).toNanos(), System.nanoTime());
    }
    assertThat(speed.isDiskSlower(MIB)).as("given up").isTrue();
  }

  @Test
  void aStoreNextDoorDoesNotMakeAFastDiskSlow() {
    disk(MIB, 19, 8);
    store(MIB, 1, 8);
    assertThat(speed.isDiskSlower(MIB)).isFalse();
  }

  /** As where a job has moved on to what is not on disk: nobody probes it any more. */
  @Test
  void aSlowDiskThatNobodyHasReadForLongIsForgotten() {
    store(MIB, 50, 8);
    disk(MIB, 100, 8, Duration.ofSeconds(25));
    assertThat(speed.isDiskSlower(MIB)).isTrue();
    disk(MIB, 100, 8, Duration.ofSeconds(31));
    assertThat(speed.isDiskSlower(MIB)).isFalse();
    disk(MIB, 100, 7);
    assertThat(speed.isDiskSlower(MIB)).as("learned from the beginning").isFalse();
    disk(MIB, 100, 1);
    assertThat(speed.isDiskSlower(MIB)).isTrue();
  }

  /** Short reads ask whether the disk is to be left for short ones alone. */
  @Test
  void whatIsKnownOfLongReadsIsForgottenAlsoWhereShortOnesAreProbed() {
    store(MIB, 50, 8);
    disk(MIB, 100, 8, Duration.ofSeconds(31));
    disk(10_000, 60, 8);
    assertThat(speed.isDiskSlower()).isTrue();
    disk(10_000, 1, 30);
    assertThat(speed.isDiskSlower()).isFalse();
  }

  @Slow
  @Test
  void aSlowDiskIsProbedByOneReaderNowAndThenAndComesBack() {
    disk(MIB, 100, 8);
    store(MIB, 50, 8);
    long begun = System.nanoTime();
    int probes = 0;
    while (System.nanoTime() - begun < Duration.ofMillis(1_200).toNanos()) {
      probes += speed.leavesDisk(MIB) ? 0 : 1;
      Thread.onSpinWait();
    }
    assertThat(probes).isBetween(1, 3);
    disk(MIB, 1, 20);
    assertThat(speed.leavesDisk(MIB)).isFalse();
  }
}
