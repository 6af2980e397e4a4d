package io.s3e.bench.micro;

import io.s3e.buffer.BlockLease;
import io.s3e.buffer.BlockPool;
import io.s3e.buffer.MemoryBudget;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What one acquisition and release of a pooled buffer costs, by the number of threads that do
 * nothing else, and beside the filling of the buffer that it is for. The free stack has one head;
 * whether that is enough is to be read from the difference between {@code fill} at 0 bytes and at
 * the block size.
 *
 * <pre>java -cp 'benchmarks.jar:lib/*' org.openjdk.jmh.Main PoolBenchmark</pre>
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class PoolBenchmark {
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

  @Benchmark
  @Threads(1)
  public void threads01() {
    cycle();
  }

  @Benchmark
  @Threads(2)
  public void threads02() {
    cycle();
  }

  @Benchmark
  @Threads(4)
  public void threads04() {
    cycle();
  }

  @Benchmark
  @Threads(8)
  public void threads08() {
    cycle();
  }

  @Benchmark
  @Threads(16)
  public void threads16() {
    cycle();
  }

  private void cycle() {
    BlockLease lease = pool.tryAcquire();
    if (lease == null) {
      throw new IllegalStateException("the pool has fewer buffers than there are threads");
    }
    lease.buffer().put(bytes);
    lease.release();
  }
}
