package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import io.s3e.testing.Seed;
import io.s3e.testing.Threads;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Many readers offer, several writers take. Each chunk is filled with one number that says which it
 * is: a block that is handed out while it is filled, or whose buffer is given to another too early,
 * shows foreign numbers.
 */
@Timeout(120)
class WriteQueueStressTest {
  private static final int READERS = 8;
  private static final int WRITERS = 3;
  private static final int OFFERS = 6_000;
  private static final int BLOCKS = 40;
  private static final int BUFFERS = 6;

  private final DiskMetrics metrics = new DiskMetrics();
  private final LongAdder takenBytes = new LongAdder();
  private final LongAdder acceptedBytes = new LongAdder();
  private final Set<DiskBlockId> writing = ConcurrentHashMap.newKeySet();
  private final AtomicInteger readersLeft = new AtomicInteger(READERS);

  /** Which chunk a reader offers next. */
  private interface Order {
    int next(SplittableRandom random);
  }

  private static final Order HOT = random -> random.nextInt(BLOCKS * DiskBlockId.CHUNKS);

  /** Each chunk once, adjacent ones by different readers at the same time. */
  private static Order once() {
    AtomicInteger next = new AtomicInteger();
    return random -> next.getAndIncrement();
  }

  @Test
  void bytesStayIntactBoundsHoldAndEveryBufferComesBack() throws Exception {
    stress(Duration.ofSeconds(60), HOT);
    assertThat(metrics.get(Counter.DROPPED_AGED_BYTES)).isZero();
    assertThat(takenBytes.sum()).isPositive();
  }

  @Test
  void whatIsAcceptedIsWritten() throws Exception {
    stress(Duration.ofSeconds(60), once());
    assertThat(takenBytes.sum()).isEqualTo(acceptedBytes.sum());
    assertThat(acceptedBytes.sum() + metrics.get(Counter.DROPPED_FULL_BYTES))
        .isEqualTo((long) READERS * OFFERS * DiskBlockId.CHUNK_BYTES);
  }

  @Test
  void whatIsAcceptedIsWrittenOrCountedWhereBlocksGrowOld() throws Exception {
    stress(Duration.ofMillis(1), once());
    assertThat(takenBytes.sum() + metrics.get(Counter.DROPPED_AGED_BYTES))
        .isEqualTo(acceptedBytes.sum());
  }

  private void stress(Duration age, Order order) throws InterruptedException {
    long seed = Seed.draw();
    WriteQueue queue =
        new WriteQueue(
            (long) BUFFERS * DiskBlockId.BLOCK_BYTES,
            age,
            new RateLimiter(0, System::nanoTime),
            metrics,
            System::nanoTime,
            id -> {});
    Threads.run(
        READERS + WRITERS,
        seed,
        (thread, random) -> {
          if (thread < READERS) {
            read(queue, order, random);
          } else {
            write(queue, random);
          }
        });
    assertThat(queue.awaitIdle(Duration.ZERO)).as("seed %d", seed).isTrue();
    assertThat(queue.freeBytes()).as("seed %d", seed).isEqualTo(queue.allocatedBytes());
    queue.close();
  }

  private void read(WriteQueue queue, Order order, SplittableRandom random) {
    ByteBuffer source = ByteBuffer.allocateDirect(DiskBlockId.CHUNK_BYTES);
    try {
      for (int i = 0; i < OFFERS; i++) {
        int number = order.next(random);
        stamp(source, number);
        DiskBlockId id = TestBlocks.block(number / DiskBlockId.CHUNKS);
        if (queue.offer(id, number % DiskBlockId.CHUNKS, source)) {
          acceptedBytes.add(source.remaining());
        }
        assertThat(queue.allocatedBytes())
            .isLessThanOrEqualTo((long) BUFFERS * DiskBlockId.BLOCK_BYTES);
      }
    } finally {
      readersLeft.decrementAndGet();
    }
  }

  private void write(WriteQueue queue, SplittableRandom random) throws InterruptedException {
    while (true) {
      boolean last = readersLeft.get() == 0;
      PendingBlock block = queue.take(TimeUnit.MILLISECONDS.toNanos(last ? 200 : 20));
      if (block == null && last) {
        return;
      }
      if (block != null) {
        check(block, random);
        queue.done(block);
      }
    }
  }

  private void check(PendingBlock block, SplittableRandom random) {
    assertThat(writing.add(block.id())).as("one writer for %s", block.id()).isTrue();
    int mask = block.mask();
    assertThat(mask).isNotZero();
    for (int pass = 0; pass < 2; pass++) {
      for (int chunk = 0; chunk < DiskBlockId.CHUNKS; chunk++) {
        if ((mask & 1 << chunk) != 0) {
          requireStamp(
              block.chunk(chunk), (int) block.id().index() * DiskBlockId.CHUNKS + chunk, random);
        }
      }
      Thread.yield();
    }
    assertThat(block.mask()).as("nothing is added any more").isEqualTo(mask);
    takenBytes.add(block.bytes());
    writing.remove(block.id());
  }

  private static void stamp(ByteBuffer chunk, int number) {
    for (int at = 0; at < chunk.capacity(); at += 256) {
      chunk.putInt(at, number);
    }
  }

  private static void requireStamp(ByteBuffer chunk, int number, SplittableRandom random) {
    for (int at = random.nextInt(8) * 256; at < chunk.limit(); at += 2048) {
      if (chunk.getInt(at) != number) {
        throw new AssertionError(
            "at " + at + " of chunk " + number + " stands " + chunk.getInt(at));
      }
    }
  }
}
