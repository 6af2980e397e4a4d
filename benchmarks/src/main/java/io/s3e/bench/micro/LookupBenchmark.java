// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.micro;

import io.s3e.block.BlockId;
import io.s3e.memory.Block;
import io.s3e.memory.BlockIndex;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Finding a block by its name among 4,096, and pinning it. */
@State(Scope.Benchmark)
public class LookupBenchmark extends CallTimeByThreads {
  private static final int BLOCKS = 4096;

  private final BlockIndex index = new BlockIndex();

  /** Fills the index. */
  public LookupBenchmark() {
    for (long i = 0; i < BLOCKS; i++) {
      index.add(LooseBlocks.block(i));
    }
  }

  @Override
  boolean call() {
    BlockId id = LooseBlocks.id(ThreadLocalRandom.current().nextInt(BLOCKS));
    @Nullable Block block = index.get(id);
    if (block == null || !block.tryPin()) {
      throw new IllegalStateException(id + " is not there");
    }
    block.unpin();
    return true;
  }
}
