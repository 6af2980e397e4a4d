// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ByteRange;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** How long GETs may be after some have broken off. */
class LongestGetTest {
  private static final long MIB = 1 << 20;
  private static final long KIB = 1 << 10;

  private final LongestGet longest = new LongestGet();

  @Test
  void oneThatBreaksOffAmongWholeOnesSaysNothing() {
    for (int i = 0; i < 100; i++) {
      longest.broke(8 * MIB);
      longest.came(4 * MIB);
    }
    assertThat(longest.bytes()).isEqualTo(Long.MAX_VALUE);
  }

  /** One in ten by chance, of 100 GB in GETs of 2 MiB, ten of them at a time. */
  @Test
  void thoseThatBreakByChanceCostNextToNoLength() {
    Random random = new Random(1);
    int shorter = 0;
    for (int i = 0; i < 50_000; i++) {
      long length = Math.min(2 * MIB, longest.bytes());
      shorter += length < 2 * MIB ? 1 : 0;
      if (random.nextInt(10) == 0) {
        longest.broke(length);
      } else {
        longest.came(length);
      }
    }
    assertThat(shorter).as("GETs that were shorter").isBetween(1, 500);
  }

  private void breaks(long length) {
    for (int i = 0; i < LongestGet.BROKEN_IN_ROW; i++) {
      longest.broke(length);
    }
  }

  @Test
  void shortAnswersProveNothingOfLongOnes() {
    for (int i = 0; i < LongestGet.BROKEN_IN_ROW; i++) {
      longest.broke(8 * MIB);
      longest.came(MIB);
    }
    assertThat(longest.bytes()).isEqualTo(4 * MIB);
  }

  @Test
  void itIsHalvedDownToTheShortest() {
    for (long length = 8 * MIB; length > 64 * KIB; length /= 2) {
      breaks(length);
      assertThat(longest.bytes()).isEqualTo(length / 2);
    }
    breaks(64 * KIB);
    assertThat(longest.bytes()).isEqualTo(64 * KIB);
  }

  /** Sixteen GETs at a time break three times over, as their retries do: a blip of the network. */
  @Test
  void afterABlipItIsAsLongAsBeforeSoon() {
    for (long length = 2 * MIB; length > 256 * KIB; length /= 2) {
      for (int i = 0; i < 16; i++) {
        longest.broke(length);
      }
    }
    int gets = 0;
    while (longest.bytes() < 2 * MIB) {
      longest.came(longest.bytes());
      gets++;
    }
    assertThat(gets).isLessThanOrEqualTo(16);
  }

  @Test
  void thoseThatWereSentBeforeCountForNothing() {
    breaks(8 * MIB);
    breaks(8 * MIB);
    assertThat(longest.bytes()).isEqualTo(4 * MIB);
  }

  @Test
  void itGrowsAgainLaterEachTimeThatItWasTooEarly() {
    int before = 0;
    for (int round = 0; round < 4; round++) {
      breaks(256 * KIB);
      assertThat(longest.bytes()).isEqualTo(128 * KIB);
      int count = 0;
      while (longest.bytes() == 128 * KIB) {
        longest.came(128 * KIB);
        count++;
      }
      assertThat(longest.bytes()).isEqualTo(256 * KIB);
      assertThat(count).isGreaterThan(before);
      before = count;
    }
  }

  @Test
  void aLinkThatIsWellAgainHasNoLimit() {
    breaks(256 * KIB);
    for (int i = 0; i < 100; i++) {
      longest.came(longest.bytes());
    }
    assertThat(longest.bytes()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void theFirstPartEndsAtAChunk() {
    assertThat(LongestGet.firstPart(new ByteRange(0, 1000 * KIB), Long.MAX_VALUE))
        .isEqualTo(new ByteRange(0, 1000 * KIB));
    assertThat(LongestGet.firstPart(new ByteRange(10, 1000 * KIB), 200 * KIB))
        .isEqualTo(new ByteRange(10, 192 * KIB));
    assertThat(LongestGet.firstPart(new ByteRange(63 * KIB, 1000 * KIB), 64 * KIB))
        .isEqualTo(new ByteRange(63 * KIB, 64 * KIB));
  }
}
