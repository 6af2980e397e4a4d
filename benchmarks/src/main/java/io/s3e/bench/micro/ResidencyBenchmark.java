// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.micro;

import io.s3e.memory.Block;
import io.s3e.memory.BlockIndex;
import io.s3e.memory.Residency;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * The life of a block in full memory, without its bytes: it is published, read, and the coldest
 * block is evicted for it.
 */
@State(Scope.Benchmark)
public class ResidencyBenchmark extends CallTimeByThreads {
  private static final int READ_BLOCKS = 4096;
  private static final Runnable NOTHING = () -> {};

  /** Blocks that were fetched ahead and nobody has read; older than those that are read. */
  @Param({"0", "1024"})
  public int unread;

  private final AtomicLong next = new AtomicLong();
  private final ByteBuffer memory = ByteBuffer.allocate(LooseBlocks.BYTES);
  private BlockIndex index = new BlockIndex();
  private Residency residency = newResidency();

  private Residency newResidency() {
    return new Residency(index, System::nanoTime, NOTHING);
  }

  /** Fills memory. */
  @Setup
  public void prepare() {
    index = new BlockIndex();
    residency = newResidency();
    for (int i = 0; i < unread; i++) {
      publish();
    }
    for (int i = 0; i < READ_BLOCKS; i++) {
      read(publish());
    }
  }

  private Block publish() {
    Block block = LooseBlocks.block(next.getAndIncrement());
    index.add(block);
    residency.publish(List.of(block), List.of(), memory, NOTHING);
    return block;
  }

  private static void read(Block block) {
    if (block.tryPin()) {
      block.touch();
      block.unpin();
    }
  }

  @Override
  boolean call() {
    read(publish());
    return residency.evictRead();
  }
}
