// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.micro;

import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.stream.S3EInputStream;
import java.io.IOException;
import java.util.SplittableRandom;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;

/**
 * Reads of what is in memory already: an object of 32 MiB, read once before. Each benchmark is one
 * call of the application; reads from front to end begin anew at the end.
 */
@State(Scope.Benchmark)
@Threads(1)
public class StreamReadBenchmark extends CallTime {
  private static final int SIZE = 32 << 20;
  private static final long MEMORY = 128L << 20;
  private static final int SMALL = 100;
  private static final int MEDIUM = 8 << 10;
  private static final int LARGE = 1 << 20;

  /** Seeks of a reader that jumps about in what it has fetched ahead. */
  private static final int WINDOW = 4 << 20;

  private final byte[] small = new byte[SMALL];
  private final byte[] medium = new byte[MEDIUM];
  private final byte[] large = new byte[LARGE];
  private final SplittableRandom random = new SplittableRandom(1);
  private S3E engine = engine();
  private S3EInputStream in = open();

  private static S3E engine() {
    return S3E.create(
        S3EConfig.DEFAULTS, new MemoryBudget(MEMORY), granted -> new MemoryClient(SIZE));
  }

  private S3EInputStream open() {
    try {
      return engine.open(new ObjectRef("bucket", "key"));
    } catch (IOException e) {
      throw new IllegalStateException("an object in memory cannot be opened", e);
    }
  }

  /** Brings the object into memory. */
  @Setup
  public void prepare() throws IOException {
    engine.close();
    engine = engine();
    in = open();
    in.readNBytes(SIZE);
    in.seek(0);
  }

  @TearDown
  public void close() {
    in.close();
    engine.close();
  }

  @Benchmark
  public int readOneByte() throws IOException {
    int value = in.read();
    return value >= 0 ? value : rewind();
  }

  @Benchmark
  public int read100Bytes() throws IOException {
    int count = in.read(small, 0, SMALL);
    return count > 0 ? count : rewind();
  }

  @Benchmark
  public int read8KiB() throws IOException {
    int count = in.read(medium, 0, MEDIUM);
    return count > 0 ? count : rewind();
  }

  @Benchmark
  public int read1MiB() throws IOException {
    int count = in.read(large, 0, LARGE);
    return count > 0 ? count : rewind();
  }

  @Benchmark
  public int seekAndReadOneByte() throws IOException {
    in.seek(random.nextInt(WINDOW));
    return in.read();
  }

  @Benchmark
  public int positionedRead8KiB() throws IOException {
    return in.readAt(random.nextInt(SIZE - MEDIUM), medium, 0, MEDIUM);
  }

  private int rewind() throws IOException {
    in.seek(0);
    return 0;
  }
}
