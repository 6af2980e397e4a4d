// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.disk.WriteBack;
import io.s3e.memory.Block;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A block on its way to disk. It is dirty until it is written or dropped, and may leave memory
 * before, where a reader needs the room.
 */
record Spill(Block block) implements WriteBack.Piece {
  @Override
  public long start() {
    return block.start();
  }

  @Override
  public int length() {
    return block.length();
  }

  @Override
  public @Nullable ByteBuffer pin() {
    return block.tryPin() ? block.bytes() : null;
  }

  @Override
  public void ended(boolean pinned) {
    block.markClean();
    if (pinned) {
      block.unpin();
    }
  }
}
