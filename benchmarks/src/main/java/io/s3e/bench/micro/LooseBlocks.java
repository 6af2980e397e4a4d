// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.micro;

import io.s3e.block.BlockId;
import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.memory.Block;
import java.util.List;

/** Blocks of one object, that no fetch and no reader belongs to. */
final class LooseBlocks {
  static final int BYTES = 64 << 10;

  private static final ObjectVersion VERSION =
      ObjectVersion.identified(new ObjectRef("bucket", "key"), Long.MAX_VALUE, "\"etag\"", null);

  private LooseBlocks() {}

  static BlockId id(long index) {
    return new BlockId(VERSION, index);
  }

  static Block block(long index) {
    return new Block(id(index), index * BYTES, BYTES, new Nobody());
  }

  private static final class Nobody implements Block.Fate {
    @Override
    public void onReady(List<Block> blocks) {}

    @Override
    public void onFirstRead(Block block) {}

    @Override
    public void onDroppedUnread(Block block) {}

    @Override
    public long lastReadNanos() {
      return 0;
    }
  }
}
