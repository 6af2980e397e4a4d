// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.s3e.client.ClientLimits;
import io.s3e.client.ClientMemory;
import io.s3e.client.library.CrtMemoryException;
import org.junit.jupiter.api.Test;

class CrtLayoutTest {
  private static final int KIB = 1 << 10;
  private static final int MIB = 1 << 20;

  private static ClientLimits slots(
      int narrowBytes, int narrow, int overdue, int wideBytes, int wide) {
    long owned = (long) narrowBytes * (narrow + overdue) + (long) wideBytes * wide;
    return new ClientLimits(narrowBytes, narrow, overdue, wideBytes, wide, owned);
  }

  @Test
  void theDefaultBudgetsPartGivesSlotsOfFourMebibytes() {
    ClientLimits limits = CrtLayout.lending(new ClientMemory(160L * MIB, 8 * MIB, 64 * KIB), 64);
    assertThat(limits).isEqualTo(slots(MIB, 20, 4, 4 * MIB, 34));
  }

  @Test
  void moreMemoryGivesMoreSlotsUntilConnectionsAreUsedAndThenLongerOnes() {
    ClientMemory memory = new ClientMemory(448L * MIB, 8 * MIB, 256 * KIB);
    assertThat(CrtLayout.lending(memory, 160)).isEqualTo(slots(MIB, 32, 4, 4 * MIB, 103));
    assertThat(CrtLayout.lending(memory, 64)).isEqualTo(slots(MIB, 32, 4, 5632 * KIB, 74));
    assertThat(CrtLayout.lending(new ClientMemory(640L * MIB, 8 * MIB, 64 * KIB), 64))
        .isEqualTo(slots(MIB, 32, 4, 8 * MIB, 75));
  }

  @Test
  void fewConnectionsLeaveThirtyTwoSlots() {
    ClientMemory memory = new ClientMemory(160L * MIB, 8 * MIB, 64 * KIB);
    assertThat(CrtLayout.lending(memory, 1)).isEqualTo(slots(MIB, 20, 4, 4352 * KIB, 32));
  }

  @Test
  void plentyOfMemoryGivesWholeRequests() {
    ClientLimits limits = CrtLayout.lending(new ClientMemory(8L << 30, 8 * MIB, 256 * KIB), 64);
    assertThat(limits).isEqualTo(slots(MIB, 32, 4, 8 * MIB, 512));
  }

  @Test
  void lessMemoryGivesThirtyTwoShorterSlots() {
    ClientLimits limits = CrtLayout.lending(new ClientMemory(64L * MIB, 8 * MIB, 256 * KIB), 64);
    assertThat(limits).isEqualTo(slots(MIB, 16, 4, 1280 * KIB, 35));
  }

  @Test
  void scarceMemoryKeepsSlotsOfOneMebibyte() {
    ClientLimits limits = CrtLayout.lending(new ClientMemory(12L * MIB, 8 * MIB, 256 * KIB), 64);
    assertThat(limits).isEqualTo(slots(MIB, 6, 1, MIB, 5));
  }

  @Test
  void tooLittleMemoryLendsNothing() {
    ClientLimits limits = CrtLayout.lending(new ClientMemory(6L * MIB, 8 * MIB, 256 * KIB), 64);
    assertThat(limits.lends()).isFalse();
    assertThat(limits).isEqualTo(slots(256 * KIB, 24, 0, 0, 0));
  }

  @Test
  void twoBlocksAreTheLeast() {
    ClientMemory two = new ClientMemory(128 * KIB, 8 * MIB, 64 * KIB);
    assertThat(CrtLayout.lending(two, 64)).isEqualTo(slots(64 * KIB, 2, 0, 0, 0));
    assertThatExceptionOfType(CrtMemoryException.class)
        .isThrownBy(() -> CrtLayout.lending(new ClientMemory(128 * KIB - 1, 8 * MIB, 64 * KIB), 64))
        .withMessageContaining("131071 bytes");
  }

  @Test
  void withoutLendingRequestsAreAsLongAsSixteenFit() {
    assertThat(CrtLayout.copying(new ClientMemory(256L * MIB, 8 * MIB, 256 * KIB)))
        .isEqualTo(slots(8 * MIB, 32, 0, 0, 0));
    assertThat(CrtLayout.copying(new ClientMemory(32L * MIB, 8 * MIB, 256 * KIB)))
        .isEqualTo(slots(2 * MIB, 16, 0, 0, 0));
  }

  @Test
  void whateverIsGrantedIsNeverExceeded() {
    for (int block : new int[] {64 * KIB, 256 * KIB, MIB, 8 * MIB, 64 * MIB}) {
      for (long owned = 2L * block; owned < 2L << 30; owned = owned * 3 / 2 + 12_345) {
        for (int request : new int[] {block, 3 * block, 8 * MIB, 20 * MIB, 1 << 30}) {
          ClientMemory memory = new ClientMemory(owned, Math.max(block, request), block);
          for (ClientLimits limits :
              new ClientLimits[] {CrtLayout.lending(memory, 64), CrtLayout.copying(memory)}) {
            assertThat(limits.ownedBytes()).as("%s %s", memory, limits).isLessThanOrEqualTo(owned);
            assertThat(limits.copyRequestBytes() % block).as("%s %s", memory, limits).isZero();
            assertThat(limits.lentSlotBytes() % block).as("%s %s", memory, limits).isZero();
            assertThat(limits.copyRequestBytes()).isBetween(block, memory.requestBytes());
            assertThat(limits.lentSlotBytes()).isLessThanOrEqualTo(memory.requestBytes());
            assertThat(limits.lends() ? limits.lentSlots() : 4).isGreaterThanOrEqualTo(4);
            assertThat(16L * limits.lentSlotBytes()).isLessThan(Integer.MAX_VALUE);
          }
        }
      }
    }
  }
}
