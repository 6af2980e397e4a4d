package io.s3e.bench.micro;

import io.s3e.block.BlockId;
import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.memory.Block;
import io.s3e.memory.BlockIndex;
import io.s3e.memory.Residency;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
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
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The life of a block in full memory, without its bytes: it is published, read, and the coldest
 * block is evicted for it. By one thread and by eight.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ResidencyBenchmark {
  private static final int BLOCK_BYTES = 64 << 10;
  private static final int READ_BLOCKS = 4096;
  private static final Runnable NOTHING = () -> {};

  /** Blocks that were fetched ahead and nobody has read; older than those that are read. */
  @Param({"0", "1024"})
  public int unread;

  private final ObjectVersion version =
      ObjectVersion.identified(new ObjectRef("bucket", "key"), Long.MAX_VALUE, "\"etag\"", null);
  private final AtomicLong next = new AtomicLong();
  private final ByteBuffer memory = ByteBuffer.allocate(BLOCK_BYTES);
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
    long number = next.getAndIncrement();
    Block block =
        new Block(
            new BlockId(version, number), number * BLOCK_BYTES, BLOCK_BYTES, new Unconcerned());
    index.add(block);
    residency.publish(List.of(block), memory, NOTHING);
    return block;
  }

  private static void read(Block block) {
    if (block.tryPin()) {
      block.touch();
      block.unpin();
    }
  }

  @Benchmark
  @Threads(1)
  public boolean threads01() {
    return cycle();
  }

  @Benchmark
  @Threads(8)
  public boolean threads08() {
    return cycle();
  }

  private boolean cycle() {
    read(publish());
    return residency.evictRead();
  }

  private static final class Unconcerned implements Block.Fate {
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
}
