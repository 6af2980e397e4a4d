package io.s3e.disk;

import static io.s3e.disk.TestBlocks.block;
import static io.s3e.disk.TestBlocks.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.disk.TestBlocks.ManualClock;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WriteQueueTest {
  private static final int BUFFERS = 4;
  private static final Duration AGE = Duration.ofSeconds(5);
  private static final Duration LINGER = Duration.ofMillis(50);

  private final ManualClock clock = new ManualClock();
  private final DiskMetrics metrics = new DiskMetrics();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<DiskBlockId> dropped = new CopyOnWriteArrayList<>();
  private WriteQueue queue = queue(0);

  private WriteQueue queue(long rate) {
    return new WriteQueue(
        BUFFERS * (long) DiskBlockId.BLOCK_BYTES,
        AGE,
        new RateLimiter(rate, clock::nanos),
        metrics,
        clock::nanos,
        dropped::add);
  }

  @AfterEach
  void end() {
    queue.close();
    threads.shutdownNow();
  }

  private boolean offer(DiskBlockId id, int chunk) {
    return queue.offer(id, chunk, bytes(id, chunk));
  }

  private void offerAll(DiskBlockId id) {
    for (int chunk = 0; chunk < id.chunks(); chunk++) {
      assertThat(offer(id, chunk)).isTrue();
    }
  }

  private PendingBlock take() throws InterruptedException {
    PendingBlock taken = queue.take(0);
    assertThat(taken).isNotNull();
    return taken;
  }

  private static void requireBytes(PendingBlock block, int mask) {
    assertThat(block.mask()).isEqualTo(mask);
    for (int chunk = 0; chunk < block.id().chunks(); chunk++) {
      if ((mask & 1 << chunk) != 0) {
        assertThat(block.chunk(chunk)).isEqualTo(bytes(block.id(), chunk));
      }
    }
  }

  @Test
  void aFullBlockComesAtOnceWithItsBytes() throws Exception {
    offerAll(block(7));
    PendingBlock taken = take();
    assertThat(taken.id()).isEqualTo(block(7));
    requireBytes(taken, 0xFFFF);
    queue.done(taken);
    assertThat(queue.take(0)).isNull();
  }

  @Test
  void aShortBlockIsFullWithTheChunksThatItHas() throws Exception {
    DiskBlockId id = TestBlocks.shortBlock("tail");
    offerAll(id);
    PendingBlock taken = take();
    requireBytes(taken, 0b1111);
    assertThat(taken.chunk(3).remaining()).isEqualTo(1000);
    assertThat(taken.bytes()).isEqualTo(id.length());
  }

  @Test
  void aPartialBlockWaitsForMoreUntilNoMoreComes() throws Exception {
    assertThat(offer(block(1), 0)).isTrue();
    clock.pass(LINGER.minusMillis(1));
    assertThat(queue.take(0)).isNull();
    assertThat(offer(block(1), 5)).isTrue();
    clock.pass(LINGER.minusMillis(1));
    assertThat(queue.take(0)).as("lingers from the last chunk on").isNull();
    clock.pass(Duration.ofMillis(1));
    requireBytes(take(), 0b100001);
  }

  @Test
  void aBlockThatIsFlushedWaitsForNothing() throws Exception {
    assertThat(queue.flush(block(1))).as("nothing of it here").isFalse();
    assertThat(offer(block(1), 0)).isTrue();
    assertThat(offer(block(2), 0)).isTrue();
    assertThat(queue.flush(block(2))).isTrue();
    PendingBlock taken = take();
    assertThat(taken.id()).isEqualTo(block(2));
    assertThat(queue.flush(block(2))).as("being written").isTrue();
    assertThat(queue.take(0)).as("nobody asked for the other").isNull();
    queue.done(taken);
    assertThat(queue.flush(block(2))).isFalse();
  }

  @Test
  void partialBlocksWaitNoLongerWhenBuffersRunOut() throws Exception {
    for (int i = 0; i < BUFFERS - 1; i++) {
      assertThat(offer(block(i), 3)).isTrue();
      assertThat(queue.take(0)).isNull();
    }
    assertThat(offer(block(9), 3)).isTrue();
    PendingBlock oldest = take();
    assertThat(oldest.id()).isEqualTo(block(0));
    requireBytes(oldest, 0b1000);
  }

  @Test
  void whatFindsNoBufferIsDroppedAndCounted() throws Exception {
    for (int i = 0; i < BUFFERS; i++) {
      assertThat(offer(block(i), 0)).isTrue();
    }
    assertThat(offer(block(9), 0)).isFalse();
    assertThat(metrics.get(Counter.DROPPED_FULL_BYTES)).isEqualTo(DiskBlockId.CHUNK_BYTES);
    assertThat(offer(block(0), 1)).as("its block has a buffer").isTrue();

    queue.done(take());
    assertThat(offer(block(9), 0)).as("a buffer came back").isTrue();
  }

  @Test
  void buffersAreAllocatedWhenTheyAreNeededAndNeverBeyondTheBound() throws Exception {
    assertThat(queue.allocatedBytes()).isZero();
    offerAll(block(0));
    assertThat(queue.allocatedBytes()).isEqualTo(DiskBlockId.BLOCK_BYTES);
    queue.done(take());
    offerAll(block(1));
    assertThat(queue.allocatedBytes()).as("used again").isEqualTo(DiskBlockId.BLOCK_BYTES);
    for (int i = 2; i < 20; i++) {
      queue.offer(block(i), 0, bytes(block(i), 0));
    }
    assertThat(queue.allocatedBytes()).isEqualTo((long) BUFFERS * DiskBlockId.BLOCK_BYTES);
  }

  @Test
  void whatHasWaitedTooLongIsDroppedForWhatComes() {
    for (int i = 0; i < BUFFERS; i++) {
      offerAll(block(i));
    }
    clock.pass(AGE);
    assertThat(offer(block(9), 0)).as("not older than the limit").isFalse();
    clock.pass(Duration.ofNanos(1));
    assertThat(offer(block(9), 0)).isTrue();
    assertThat(metrics.get(Counter.DROPPED_AGED_BYTES))
        .isEqualTo((long) BUFFERS * DiskBlockId.BLOCK_BYTES);
    assertThat(dropped).as("told of").hasSize(BUFFERS).doesNotHaveDuplicates();
  }

  @Test
  void whatHasWaitedTooLongIsNotHandedOut() throws Exception {
    offerAll(block(0));
    clock.pass(AGE.plusNanos(1));
    assertThat(queue.take(0)).isNull();
    assertThat(metrics.get(Counter.DROPPED_AGED_BYTES)).isEqualTo(DiskBlockId.BLOCK_BYTES);
    assertThat(queue.freeBytes()).isEqualTo(queue.allocatedBytes());
    assertThat(dropped).containsExactly(block(0));
  }

  @Test
  void theRateDropsWhatIsTooFast() throws Exception {
    queue = queue(DiskBlockId.CHUNK_BYTES);
    int accepted = 0;
    for (int i = 0; i < 200; i++) {
      DiskBlockId id = block(i / DiskBlockId.CHUNKS);
      accepted += offer(id, i % DiskBlockId.CHUNKS) ? 1 : 0;
      PendingBlock full = queue.take(0);
      if (full != null) {
        queue.done(full);
      }
    }
    assertThat(accepted).as("the burst of 8 MiB").isEqualTo(128);
    assertThat(metrics.get(Counter.DROPPED_RATE_BYTES))
        .isEqualTo((200L - 128) * DiskBlockId.CHUNK_BYTES);
    assertThat(queue.freeBytes()).isEqualTo(queue.allocatedBytes());
    clock.pass(Duration.ofSeconds(1));
    assertThat(offer(block(100), 0)).isTrue();
  }

  @Test
  void aChunkThatIsOnItsWayCostsNothingMore() throws Exception {
    queue = queue(DiskBlockId.CHUNK_BYTES);
    for (int i = 0; i < 1000; i++) {
      assertThat(offer(block(0), 0)).isTrue();
    }
    clock.pass(LINGER);
    PendingBlock writing = take();
    assertThat(offer(block(0), 0)).as("being written").isTrue();
    queue.done(writing);
    clock.pass(LINGER);
    assertThat(queue.take(0)).isNull();
    assertThat(metrics.get(Counter.DROPPED_RATE_BYTES)).isZero();
  }

  @Test
  void chunksThatComeWhileTheirBlockIsWrittenWaitForItsEnd() throws Exception {
    assertThat(offer(block(0), 0)).isTrue();
    clock.pass(LINGER);
    PendingBlock first = take();
    assertThat(offer(block(0), 1)).isTrue();
    clock.pass(LINGER);
    assertThat(queue.take(0)).as("one writer for a file").isNull();
    requireBytes(first, 0b1);
    queue.done(first);
    requireBytes(take(), 0b10);
  }

  @Test
  void theSourceIsUnchangedAndAnyPartOfABuffer() throws Exception {
    DiskBlockId id = TestBlocks.shortBlock("part");
    ByteBuffer all = ByteBuffer.allocateDirect(5000);
    ByteBuffer wanted = bytes(id, 3);
    all.position(17).put(wanted.duplicate()).flip().position(17);
    assertThat(queue.offer(id, 3, all)).isTrue();
    assertThat(all.position()).isEqualTo(17);
    assertThat(all.limit()).isEqualTo(1017);
    clock.pass(LINGER);
    requireBytes(take(), 0b1000);
  }

  @Test
  void bytesThatAreNotTheChunkAreRefused() {
    DiskBlockId id = TestBlocks.shortBlock("short");
    ByteBuffer whole = ByteBuffer.allocate(DiskBlockId.CHUNK_BYTES);
    assertThatThrownBy(() -> queue.offer(id, 3, whole))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("65536 bytes are not chunk 3");
    assertThatThrownBy(() -> queue.offer(id, 4, whole))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> queue.offer(id, -1, whole))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aBlockIsUselessOnceItIsDone() throws Exception {
    offerAll(block(0));
    PendingBlock taken = take();
    queue.done(taken);
    assertThat(taken.mask()).isZero();
    assertThatThrownBy(() -> taken.chunk(0)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> queue.done(taken)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void handedOutBytesCannotBeWrittenTo() throws Exception {
    offerAll(block(0));
    assertThat(take().chunk(0).isReadOnly()).isTrue();
  }

  @Test
  void whoWaitsIsWokenByAFullBlock() throws Exception {
    CountDownLatch waits = new CountDownLatch(1);
    Future<PendingBlock> taken =
        threads.submit(
            () -> {
              waits.countDown();
              return queue.take(TimeUnit.SECONDS.toNanos(30));
            });
    waits.await();
    offerAll(block(0));
    requireBytes(taken.get(30, TimeUnit.SECONDS), 0xFFFF);
  }

  @Test
  void idleMeansWrittenAndLetsPartialBlocksLingerNoMore() throws Exception {
    assertThat(queue.awaitIdle(Duration.ZERO)).as("nothing there").isTrue();
    assertThat(offer(block(0), 0)).isTrue();
    Future<Boolean> idle = threads.submit(() -> queue.awaitIdle(Duration.ofSeconds(30)));
    PendingBlock taken = queue.take(TimeUnit.SECONDS.toNanos(30));
    assertThat(taken).isNotNull();
    assertThat(queue.awaitIdle(Duration.ofMillis(20))).as("still being written").isFalse();
    queue.done(taken);
    assertThat(idle.get(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void closeDropsWhatWaitsWakesWhoTakesAndLeavesWritersTheirs() throws Exception {
    offerAll(block(0));
    PendingBlock writing = take();
    assertThat(offer(block(1), 0)).isTrue();
    Future<PendingBlock> waiting =
        threads.submit(
            () -> {
              PendingBlock got = queue.take(TimeUnit.SECONDS.toNanos(30));
              return got == null ? queue.take(TimeUnit.SECONDS.toNanos(30)) : got;
            });
    queue.close();
    assertThat(waiting.get(30, TimeUnit.SECONDS)).isNull();
    assertThat(offer(block(2), 0)).isFalse();
    requireBytes(writing, 0xFFFF);
    queue.done(writing);
    assertThat(queue.freeBytes()).isEqualTo(queue.allocatedBytes());
    assertThat(queue.awaitIdle(Duration.ZERO)).isTrue();
  }

  @Test
  void lessThanADiskBlockIsNoQueue() {
    assertThatThrownBy(
            () ->
                new WriteQueue(
                    DiskBlockId.BLOCK_BYTES - 1,
                    AGE,
                    new RateLimiter(0, clock::nanos),
                    metrics,
                    clock::nanos,
                    dropped::add))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1048575 bytes");
  }
}
