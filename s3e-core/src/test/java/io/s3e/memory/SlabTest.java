// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.memory.TestBlocks.Fetched;
import io.s3e.testing.Seed;
import io.s3e.testing.Threads;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A slab of several blocks: it settles once, with the last of them, and is freed once. */
class SlabTest {
  private final AtomicInteger settled = new AtomicInteger();
  private final Residency residency =
      new Residency(new BlockIndex(), System::nanoTime, settled::incrementAndGet);

  private Fetched publish(int blocks) {
    Fetched fetched = new Fetched(100, blocks);
    residency.publish(fetched.blocks, List.of(), fetched.memory, fetched::free);
    return fetched;
  }

  @Test
  void blocksStandOneBehindTheOther() {
    for (Block block : publish(3).blocks) {
      assertThat(TestBlocks.tryRead(block)).isTrue();
    }
  }

  @Test
  void aSlabSettlesWithItsLastBlock() {
    Fetched fetched = publish(3);
    assertThat(TestBlocks.tryRead(fetched.blocks.get(0))).isTrue();
    assertThat(TestBlocks.tryRead(fetched.blocks.get(0))).isTrue();
    fetched.blocks.get(1).abandon();
    fetched.blocks.get(1).abandon();
    assertThat(TestBlocks.tryRead(fetched.blocks.get(1))).as("read after all").isTrue();
    assertThat(settled).hasValue(0);
    assertThat(residency.evictRead()).isFalse();
    assertThat(TestBlocks.tryRead(fetched.blocks.get(2))).isTrue();
    assertThat(settled).hasValue(1);
    assertThat(residency.evictUnread()).isFalse();
    assertThat(residency.evictRead()).isTrue();
    assertThat(fetched.freed).hasValue(1);
  }

  @Test
  void oneHotBlockKeepsTheMemoryOfAll() {
    Fetched fetched = publish(3);
    Block hot = fetched.blocks.get(2);
    assertThat(hot.tryPin()).isTrue();
    assertThat(residency.evictUnread()).isTrue();
    assertThat(fetched.blocks.get(0).tryPin()).isFalse();
    assertThat(fetched.isFree()).isFalse();
    TestBlocks.read(hot);
    hot.unpin();
    assertThat(fetched.freed).hasValue(1);
    assertThat(fetched.fate.droppedUnread).hasValue(3);
    assertThat(settled).as("it left unread").hasValue(0);
  }

  /** Readers, a stream that gives up and an evictor meet in one slab. */
  @Test
  void everyStepIsCountedOnceWhoeverComesFirst() throws Exception {
    long seed = Seed.draw();
    for (int round = 0; round < 100; round++) {
      settled.set(0);
      int blocks = 1 + round % 5;
      Fetched fetched = publish(blocks);
      AtomicInteger evicted = new AtomicInteger();
      Threads.run(
          4,
          seed + round,
          (thread, random) -> {
            for (int i = 0; i < 50; i++) {
              Block block = fetched.blocks.get(random.nextInt(blocks));
              switch (random.nextInt(8)) {
                case 0 -> block.abandon();
                case 1 -> evicted.addAndGet(i > 25 && residency.evictRead() ? 1 : 0);
                default -> TestBlocks.tryRead(block);
              }
            }
          });
      if (evicted.get() == 0) {
        assertThat(residency.evictRead() || residency.evictUnread()).isTrue();
      }
      assertThat(evicted.get()).as("seed %d", seed).isLessThanOrEqualTo(1);
      assertThat(fetched.freed).as("seed %d", seed).hasValue(1);
      assertThat(settled.get()).as("seed %d", seed).isLessThanOrEqualTo(1);
      assertThat(fetched.fate.firstReads.get() + fetched.fate.droppedUnread.get())
          .as("seed %d", seed)
          .isEqualTo(blocks);
    }
  }
}
