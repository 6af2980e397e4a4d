package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.Seed;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Readers, writers that join parts, and somebody who deletes, on the same few files. */
@Timeout(120)
class BlockFilesConcurrencyTest {
  private static final int WRITES = 300;
  private static final int READS = 500;

  @TempDir Path instance;

  private final AtomicInteger served = new AtomicInteger();

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void readersSeeWholeFilesOrNone(boolean encrypted) throws Exception {
    DiskIo disk = new NioDiskIo();
    disk.makeDirectory(instance.resolve(Membership.BLOCKS));
    disk.makeDirectory(instance.resolve(Membership.TMP));
    CacheKey key = encrypted ? CacheKey.random() : null;
    long seed = Seed.draw();
    ExecutorService threads = Executors.newFixedThreadPool(5);
    try {
      List<Future<?>> all = new ArrayList<>();
      for (int thread = 0; thread < 5; thread++) {
        BlockFiles files = new BlockFiles(disk, instance, thread + "-a", key);
        Random random = new Random(seed + thread);
        Callable<?> role =
            switch (thread) {
              case 0, 1 -> () -> write(files, random);
              case 2 -> () -> delete(files, random);
              default -> () -> read(files, random);
            };
        all.add(threads.submit(role));
      }
      for (Future<?> one : all) {
        one.get(100, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(served).as("chunks served").hasPositiveValue();
    assertThat(disk.list(instance.resolve(Membership.TMP))).isEmpty();
  }

  private static DiskBlockId anyBlock(Random random) {
    return Chunks.block("shared", 1_200_000L, random.nextInt(2));
  }

  private static Void write(BlockFiles files, Random random) throws IOException {
    ByteBuffer scratch = ByteBuffer.allocateDirect(BlockFiles.READ_SCRATCH_BYTES);
    for (int i = 0; i < WRITES; i++) {
      DiskBlockId id = anyBlock(random);
      int all = (1 << id.chunks()) - 1;
      files.write(
          id, Chunks.of(id, 1 << random.nextInt(id.chunks()) | random.nextInt() & all), scratch);
    }
    return null;
  }

  private static Void delete(BlockFiles files, Random random) throws Exception {
    for (int i = 0; i < WRITES / 4; i++) {
      files.delete(anyBlock(random));
      Thread.sleep(1);
    }
    return null;
  }

  /** Nobody damages a file here, so an invalid one would be a torn one. */
  private Void read(BlockFiles files, Random random) throws IOException {
    ByteBuffer scratch = ByteBuffer.allocateDirect(BlockFiles.READ_SCRATCH_BYTES);
    for (int i = 0; i < READS; i++) {
      DiskBlockId id = anyBlock(random);
      Chunks received = Chunks.all(id);
      try {
        files.read(id, random.nextInt(id.chunks()), id.chunks(), scratch, received);
        served.addAndGet(Integer.bitCount(received.received()));
      } catch (NoSuchFileException e) {
        // Deleted, or not written yet.
        Thread.onSpinWait();
      }
    }
    return null;
  }
}
