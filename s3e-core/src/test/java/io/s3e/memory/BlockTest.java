// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.s3e.memory.TestBlocks.CountingFate;
import io.s3e.memory.TestBlocks.Fetched;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** States, references and bytes of a block, by one thread; {@link BlockLincheckTest} by more. */
class BlockTest {
  private final Residency residency = new Residency(new BlockIndex(), System::nanoTime, () -> {});
  private final Fetched fetched = new Fetched(7, 1);
  private final Block block = fetched.block();

  private void publish() {
    residency.publish(fetched.blocks, List.of(), fetched.memory, fetched::free);
  }

  @Test
  void aPublishedBlockIsReadyAndHoldsItsBytes() {
    assertThat(block.isFetching()).isTrue();
    publish();
    assertThat(block.isReady()).isTrue();
    assertThat(block.isFetching()).isFalse();
    assertThat(block.failure()).isNull();
    assertThat(fetched.fate.ready).hasValue(1);
    assertThat(block.bytes().getInt()).isEqualTo(7);
    assertThat(block.bytes().isReadOnly()).isTrue();
  }

  @Test
  void aBlockSettlesOnce() {
    publish();
    assertThatIllegalStateException().isThrownBy(this::publish).withMessageContaining("READY");
    assertThatIllegalStateException()
        .isThrownBy(() -> block.fail(new IOException("late")))
        .withMessageContaining("READY");
    assertThatIllegalStateException().isThrownBy(() -> block.endAt(block.start() + 1));
  }

  @Test
  void aFailedBlockIsDeadWithItsLastPin() {
    IOException cause = new IOException("no");
    assertThat(block.tryPin()).isTrue();
    block.fail(cause);
    assertThat(block.failure()).isSameAs(cause);
    assertThat(block.isReady()).isFalse();
    assertThat(block.tryPin()).as("held by a pin").isTrue();
    block.unpin();
    block.unpin();
    assertThat(block.tryPin()).isFalse();
    assertThat(fetched.fate.droppedUnread).as("it never had bytes").hasValue(0);
  }

  /** A reader that waits has its stream locked: it runs nobody's task. */
  @Test
  void tasksRunOnTheThreadThatSettlesAndNotOnOneThatWaits() throws Exception {
    CompletableFuture<Thread> ranOn = new CompletableFuture<>();
    CompletableFuture<Boolean> waited = new CompletableFuture<>();
    CountDownLatch waits = new CountDownLatch(1);
    block.whenSettled(() -> ranOn.complete(Thread.currentThread()));
    Thread reader =
        new Thread(
            () -> {
              waits.countDown();
              try {
                waited.complete(block.await(TimeUnit.SECONDS.toNanos(10)));
              } catch (InterruptedException e) {
                waited.completeExceptionally(e);
              }
            });
    reader.setDaemon(true);
    // Of what hangs on a future the latest comes first: it holds the settling thread up.
    block.whenSettled(() -> waited.orTimeout(20, TimeUnit.SECONDS).join());
    reader.start();
    assertThat(waits.await(20, TimeUnit.SECONDS)).isTrue();
    publish();
    assertThat(waited.get(20, TimeUnit.SECONDS)).isTrue();
    assertThat(ranOn.get(20, TimeUnit.SECONDS)).isSameAs(Thread.currentThread());
  }

  @Test
  void memoryGoesBackWithTheLastPinAfterTheEviction() {
    publish();
    assertThat(block.tryPin()).isTrue();
    assertThat(block.tryPin()).isTrue();
    block.evict();
    block.evict();
    TestBlocks.read(block);
    block.unpin();
    assertThat(fetched.isFree()).isFalse();
    block.unpin();
    assertThat(fetched.freed).hasValue(1);
    assertThat(block.tryPin()).isFalse();
    assertThatIllegalStateException().isThrownBy(block::unpin).withMessageContaining("pinned");
  }

  @Test
  void aPinBeforeTheBytesOutlivesTheEviction() {
    assertThat(block.tryPin()).isTrue();
    publish();
    block.evict();
    TestBlocks.read(block);
    block.unpin();
    assertThat(fetched.freed).hasValue(1);
  }

  @Test
  void theFirstOfReadAndEvictionIsReported() {
    publish();
    assertThat(block.isUnread()).isTrue();
    assertThat(TestBlocks.tryRead(block)).isTrue();
    assertThat(block.isUnread()).isFalse();
    assertThat(TestBlocks.tryRead(block)).isTrue();
    block.abandon();
    block.evict();
    assertThat(fetched.fate.firstReads).hasValue(1);
    assertThat(fetched.fate.droppedUnread).hasValue(0);

    Fetched abandoned = new Fetched(8, 1);
    abandoned.block().abandon();
    assertThat(abandoned.block().isUnread()).as("nothing to abandon yet").isTrue();
    residency.publish(abandoned.blocks, List.of(), abandoned.memory, abandoned::free);
    abandoned.block().abandon();
    assertThat(abandoned.block().isUnread()).isFalse();
    assertThat(abandoned.fate.droppedUnread).as("it may still be read").hasValue(0);
    abandoned.block().evict();
    assertThat(abandoned.fate.droppedUnread).hasValue(1);
  }

  @Test
  void aBlockThatIsReadAfterItWasAbandonedWasOfUse() {
    publish();
    block.abandon();
    assertThat(TestBlocks.tryRead(block)).isTrue();
    block.abandon();
    assertThat(fetched.fate.firstReads).hasValue(1);
    block.evict();
    assertThat(fetched.fate.droppedUnread).hasValue(0);
  }

  @Test
  void aBlockIsDirtyUntilItsLastMarkGoes() {
    publish();
    TestBlocks.tryRead(block);
    assertThat(block.markDirty()).isTrue();
    assertThat(block.markDirty()).isTrue();
    block.markClean();
    assertThat(residency.evictRead()).isFalse();
    block.markClean();
    assertThatIllegalStateException().isThrownBy(block::markClean).withMessageContaining("marked");
    assertThat(residency.evictRead()).isTrue();
    assertThat(block.markDirty()).as("it has left memory").isFalse();
  }

  @Test
  void aMarkIsTakenAwayAfterTheEvictionAsWell() {
    publish();
    assertThat(block.markDirty()).isTrue();
    assertThat(residency.evictUnread()).isTrue();
    assertThat(fetched.freed).hasValue(1);
    assertThat(block.tryPin()).as("the writer gives up").isFalse();
    block.markClean();
    assertThat(fetched.freed).hasValue(1);
    assertThat(
            residency.evictRead()
                || residency.evictDirty(Purpose.DEMAND)
                || residency.evictUnread())
        .isFalse();
  }

  @Test
  void aBlockThatIsBeingReadIsMarkedNoMoreOnceItIsEvicted() {
    publish();
    assertThat(block.tryPin()).isTrue();
    assertThat(residency.evictUnread()).isTrue();
    assertThat(block.markDirty()).isFalse();
    block.unpin();
    assertThat(fetched.freed).hasValue(1);
  }

  @Test
  void waitersSeeReadyAndFailed() throws Exception {
    assertThat(block.await(1)).isFalse();
    CompletableFuture<Boolean> waiter = CompletableFuture.supplyAsync(() -> awaited(block));
    Block failing = TestBlocks.block(9, new CountingFate());
    CompletableFuture<Boolean> other = CompletableFuture.supplyAsync(() -> awaited(failing));
    publish();
    failing.fail(new IOException("no"));
    assertThat(waiter.get(30, TimeUnit.SECONDS)).isTrue();
    assertThat(other.get(30, TimeUnit.SECONDS)).isTrue();
    assertThat(block.await(0)).isTrue();
  }

  private static boolean awaited(Block block) {
    try {
      return block.await(TimeUnit.SECONDS.toNanos(30));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void theObjectMayEndInsideTheBlock() {
    block.endAt(block.start() + 3);
    publish();
    assertThat(block.length()).isEqualTo(3);
    assertThat(block.end()).isEqualTo(block.start() + 3);
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> block.copyTo(1, ByteBuffer.allocate(4), 3))
        .withMessageContaining("[1, 4) of 3");
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> block.copyTo(-1, ByteBuffer.allocate(4), 1));
    block.copyTo(0, ByteBuffer.allocate(4), 3);
  }

  @Test
  void aBlockWithoutBytesSaysSo() {
    assertThatIllegalStateException()
        .isThrownBy(() -> block.copyTo(0, ByteBuffer.allocate(1), 1))
        .withMessageContaining("has no bytes");
    assertThatIllegalStateException()
        .isThrownBy(block::touch)
        .withMessageContaining("has no memory");
    assertThatIllegalStateException()
        .isThrownBy(block::markDirty)
        .withMessageContaining("has no memory");
  }
}
