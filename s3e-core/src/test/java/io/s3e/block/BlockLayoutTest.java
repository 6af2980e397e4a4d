// SPDX-License-Identifier: Apache-2.0
package io.s3e.block;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BlockLayoutTest {
  private static final int BLOCK = 64 << 10;

  @Test
  void theLastBlockEndsWithTheObject() {
    BlockLayout layout = new BlockLayout(2 * BLOCK + 10, BLOCK);
    assertThat(layout.endOf(1)).isEqualTo(2 * BLOCK);
    assertThat(layout.endOf(2)).isEqualTo(2 * BLOCK + 10);
    assertThat(layout.lengthOf(2)).isEqualTo(10);
    assertThat(layout.bytesOf(new BlockRange(1, 3)))
        .isEqualTo(new ByteRange(BLOCK, 2 * BLOCK + 10));
    assertThat(layout.bytesOf(new BlockRange(1, 1)).isEmpty()).isTrue();
  }

  /** An opener may tell any length that is too long: the grid ends where it does. */
  @Test
  void aLengthNearTheLongestLongIsCutAsAnyOther() {
    for (long size : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - BLOCK + 1}) {
      BlockLayout layout = new BlockLayout(size, BLOCK);
      long last = layout.blocks() - 1;
      assertThat(layout.endOf(0)).isEqualTo(BLOCK);
      assertThat(layout.endOf(last)).isEqualTo(size);
      assertThat(layout.lengthOf(last)).isEqualTo((int) (size - layout.startOf(last)));
      assertThat(layout.bytesOf(new BlockRange(last - 1, last + 1)))
          .isEqualTo(new ByteRange(layout.startOf(last - 1), size));
    }
  }
}
