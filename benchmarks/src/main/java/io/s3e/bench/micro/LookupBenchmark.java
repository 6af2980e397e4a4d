package io.s3e.bench.micro;

import io.s3e.block.BlockId;
import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.memory.Block;
import io.s3e.memory.BlockIndex;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/** Finding a block by its name among 4,096, and pinning it, by one thread and by sixteen. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class LookupBenchmark {
  private static final int BLOCKS = 4096;
  private static final int BLOCK_BYTES = 64 << 10;

  private final ObjectVersion version =
      ObjectVersion.identified(
          new ObjectRef("bucket", "key"), (long) BLOCKS * BLOCK_BYTES, "\"etag\"", null);
  private final BlockIndex index = new BlockIndex();

  /** Fills the index. */
  public LookupBenchmark() {
    for (long i = 0; i < BLOCKS; i++) {
      index.add(new Block(new BlockId(version, i), i * BLOCK_BYTES, BLOCK_BYTES, new Nobody()));
    }
  }

  private static final class Nobody implements Block.Fate {
    @Override
    public void onReady(Block block) {}

    @Override
    public void onFirstRead(Block block) {}

    @Override
    public void onDroppedUnread(Block block) {}

    @Override
    public void onLeavingSoon(Block block) {}

    @Override
    public void onLeaving(Block block) {}

    @Override
    public long lastReadNanos() {
      return 0;
    }
  }

  @Benchmark
  @Threads(1)
  public boolean threads01() {
    return find();
  }

  @Benchmark
  @Threads(16)
  public boolean threads16() {
    return find();
  }

  private boolean find() {
    BlockId id = new BlockId(version, ThreadLocalRandom.current().nextInt(BLOCKS));
    @Nullable Block block = index.get(id);
    if (block == null || !block.tryPin()) {
      throw new IllegalStateException(id + " is not there");
    }
    block.unpin();
    return true;
  }
}
