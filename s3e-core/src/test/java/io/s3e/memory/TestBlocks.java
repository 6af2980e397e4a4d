// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import io.s3e.block.BlockId;
import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Blocks of {@value #BYTES} bytes of one object; each is filled with its own number. */
final class TestBlocks {
  static final int BYTES = 4;

  private static final ObjectVersion VERSION =
      ObjectVersion.identified(new ObjectRef("bucket", "key"), Long.MAX_VALUE, "\"e\"", null);

  private TestBlocks() {}

  static Block block(long number, Block.Fate fate) {
    return new Block(new BlockId(VERSION, number), number * BYTES, BYTES, fate);
  }

  /** Counts what a block reports. */
  static final class CountingFate implements Block.Fate {
    final AtomicInteger ready = new AtomicInteger();
    final AtomicInteger firstReads = new AtomicInteger();
    final AtomicInteger droppedUnread = new AtomicInteger();
    final AtomicLong lastReadNanos = new AtomicLong();

    /** It throws, as code of others may that hears of it. */
    volatile boolean throwing;

    @Override
    public void onReady(List<Block> blocks) {
      ready.addAndGet(blocks.size());
    }

    @Override
    public void onFirstRead(Block block) {
      firstReads.incrementAndGet();
      throwIfToldTo();
    }

    @Override
    public void onDroppedUnread(Block block) {
      droppedUnread.incrementAndGet();
      throwIfToldTo();
    }

    private void throwIfToldTo() {
      if (throwing) {
        throw new IllegalStateException("on purpose");
      }
    }

    @Override
    public long lastReadNanos() {
      return lastReadNanos.get();
    }
  }

  /** One slab's memory and blocks; {@link #free} spoils the memory. */
  static final class Fetched {
    static final int SPOILT = -1;

    final CountingFate fate = new CountingFate();
    final List<Block> blocks = new ArrayList<>();
    final ByteBuffer memory;
    final AtomicInteger freed = new AtomicInteger();

    Fetched(long firstNumber, int count) {
      memory = ByteBuffer.allocate(count * BYTES);
      for (int i = 0; i < count; i++) {
        blocks.add(TestBlocks.block(firstNumber + i, fate));
        memory.putInt(i * BYTES, (int) firstNumber + i);
      }
    }

    Block block() {
      return blocks.get(0);
    }

    void free() {
      freed.incrementAndGet();
      for (int i = 0; i < memory.capacity(); i += BYTES) {
        memory.putInt(i, SPOILT);
      }
    }

    boolean isFree() {
      return freed.get() > 0;
    }
  }

  /** Reads the pinned block as a reader does; throws if its bytes are not its own. */
  static void read(Block block) {
    block.touch();
    byte[] bytes = new byte[BYTES];
    block.copyTo(0, ByteBuffer.wrap(bytes), BYTES);
    int found = ByteBuffer.wrap(bytes).getInt();
    if (found != (int) block.id().index()) {
      throw new AssertionError(block + " holds " + found);
    }
  }

  /** Pins, reads and unpins; false if the block is dead. */
  static boolean tryRead(Block block) {
    if (!block.tryPin()) {
      return false;
    }
    try {
      read(block);
      return true;
    } finally {
      block.unpin();
    }
  }
}
