// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockRange;
import org.junit.jupiter.api.Test;

class BlockPiecesTest {
  @Test
  void takingNothingCutsNothing() {
    BlockPieces<String> pieces = new BlockPieces<>();
    pieces.add(new BlockRange(0, 8), "one request");
    assertThat(pieces.take(new BlockRange(4, 4))).isEmpty();
    assertThat(pieces.size()).isOne();
    assertThat(pieces.take(new BlockRange(4, 5))).hasSize(1);
    assertThat(pieces.size()).isEqualTo(2);
  }
}
