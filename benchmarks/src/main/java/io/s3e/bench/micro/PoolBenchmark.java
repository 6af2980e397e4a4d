// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.micro;

import io.s3e.buffer.BlockLease;
import io.s3e.buffer.BlockPool;
import io.s3e.buffer.MemoryBudget;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * One acquisition and release of a pooled buffer, and the filling of the buffer in between. The
 * free buffers have one lock; the difference between {@code fill} at 0 bytes and at the block size
 * tells whether that is enough.
 *
 * <pre>java -cp 'benchmarks.jar:lib/*' org.openjdk.jmh.Main PoolBenchmark</pre>
 */
@State(Scope.Benchmark)
public class PoolBenchmark extends CallTimeByThreads {
  private static final int BLOCK_BYTES = 128 << 10;
  private static final int BLOCKS = 64;

  /** Bytes written between acquisition and release. */
  @Param({"0", "131072"})
  public int fill;

  private byte[] bytes = new byte[0];
  private BlockPool pool = newPool();

  private static BlockPool newPool() {
    return new BlockPool(new MemoryBudget((long) BLOCKS * BLOCK_BYTES), BLOCK_BYTES, BLOCKS);
  }

  @Setup
  public void prepare() {
    pool = newPool();
    bytes = new byte[fill];
  }

  @TearDown
  public void close() {
    pool.close();
  }

  @Override
  boolean call() {
    BlockLease lease = pool.tryAcquire();
    if (lease == null) {
      throw new IllegalStateException("the pool has fewer buffers than there are threads");
    }
    lease.buffer().put(bytes);
    lease.release();
    return true;
  }
}
