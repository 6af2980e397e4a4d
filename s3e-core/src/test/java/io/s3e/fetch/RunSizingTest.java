// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.client.ClientLimits;
import io.s3e.memory.Need;
import io.s3e.memory.Need.MemoryKind;
import org.junit.jupiter.api.Test;

class RunSizingTest {
  private static final int BLOCK = 128 << 10;
  private static final int REQUEST = 16 * BLOCK;

  /** Copied GETs of four and a half blocks, lent ones of twelve. */
  private static final ClientLimits LENDING =
      new ClientLimits(4 * BLOCK + BLOCK / 2, 8, 0, 12 * BLOCK, 4, 0);

  private static final BlockLayout LAYOUT = new BlockLayout(100L * BLOCK, BLOCK);

  private static final RunSizing SIZING = new RunSizing(BLOCK, REQUEST, LENDING);

  private static BlockRange wanted(long first, long end) {
    return new BlockRange(first, end);
  }

  @Test
  void aGetBringsWholeBlocksUpToItsLimits() {
    assertThat(SIZING.copiedBlocks()).isEqualTo(4);
    assertThat(SIZING.lentBlocks()).isEqualTo(12);
    RunSizing shortRequests = new RunSizing(BLOCK, 3 * BLOCK, LENDING);
    assertThat(shortRequests.copiedBlocks()).isEqualTo(3);
    assertThat(shortRequests.lentBlocks()).isEqualTo(3);
  }

  @Test
  void aGetBringsOneBlockAtLeast() {
    RunSizing wide = new RunSizing(BLOCK, BLOCK / 2, ClientLimits.copying(BLOCK / 4, 1, 0));
    assertThat(wide.copiedBlocks()).isEqualTo(1);
    assertThat(wide.lentBlocks()).isEqualTo(1);
    assertThat(wide.limit(wanted(7, 9), true, Long.MAX_VALUE)).isEqualTo(8);
  }

  @Test
  void aRunFromS3IsAsLongAsTheLongestGet() {
    assertThat(SIZING.limit(wanted(3, 100), true, Long.MAX_VALUE)).isEqualTo(15);
    assertThat(SIZING.limit(wanted(3, 100), false, Long.MAX_VALUE)).isEqualTo(7);
    assertThat(SIZING.limit(wanted(3, 5), true, Long.MAX_VALUE)).isEqualTo(5);
    assertThat(SIZING.limit(wanted(3, 4), true, Long.MAX_VALUE)).isEqualTo(4);
  }

  @Test
  void withoutSlotsARunIsAsLongAsACopiedGet() {
    RunSizing copying = new RunSizing(BLOCK, REQUEST, ClientLimits.copying(8 * BLOCK, 4, 0));
    assertThat(copying.limit(wanted(0, 100), true, Long.MAX_VALUE)).isEqualTo(8);
    assertThat(copying.limit(wanted(0, 100), false, Long.MAX_VALUE)).isEqualTo(8);
  }

  @Test
  void aRunNeedsWhatItsGetTakes() {
    assertThat(SIZING.need(LAYOUT, wanted(0, 1))).isEqualTo(new Need(1, MemoryKind.SHORT));
    assertThat(SIZING.need(LAYOUT, wanted(0, 4))).isEqualTo(new Need(4, MemoryKind.SHORT));
    assertThat(SIZING.need(LAYOUT, wanted(0, 5))).isEqualTo(new Need(4, MemoryKind.LONG));
    assertThat(SIZING.need(LAYOUT, wanted(0, 12))).isEqualTo(new Need(4, MemoryKind.LONG));
  }

  @Test
  void aCopiedGetMayFillAShortSlot() {
    ClientLimits shortSlots = new ClientLimits(4 * BLOCK, 8, 0, 4 * BLOCK, 4, 0);
    RunSizing sizing = new RunSizing(BLOCK, REQUEST, shortSlots);
    assertThat(sizing.need(LAYOUT, wanted(0, 2))).isEqualTo(new Need(2, MemoryKind.SHORT));
    assertThat(sizing.need(LAYOUT, wanted(0, 3))).isEqualTo(new Need(3, MemoryKind.SLOT_FILLING));
    assertThat(sizing.need(LAYOUT, wanted(0, 5))).isEqualTo(new Need(4, MemoryKind.LONG));
  }

  @Test
  void aShortLastBlockMayMakeARunOneCopiedGet() {
    BlockLayout layout = new BlockLayout(4L * BLOCK + 1, BLOCK);
    assertThat(SIZING.need(layout, wanted(0, 5))).isEqualTo(new Need(4, MemoryKind.SHORT));
  }
}
