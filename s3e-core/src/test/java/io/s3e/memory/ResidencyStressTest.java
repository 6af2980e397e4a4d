// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.memory.IdleSlabs.Idle;
import io.s3e.memory.TestBlocks.Fetched;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import io.s3e.testing.Threads;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Threads publish, read, write, give up and evict at once. Whatever they do, no reader and no
 * writer sees memory that was given back, all memory is given back exactly once, and what is to be
 * written leaves for readers only.
 */
class ResidencyStressTest {
  private static final int THREADS = 8;
  private static final int STEPS = 20_000;

  /** When the residency is closed. */
  enum Closing {
    AFTERWARDS,
    /** By one thread, while the others publish and read. */
    MEANWHILE
  }

  private final AtomicLong clock = new AtomicLong();
  private final BlockIndex index = new BlockIndex();
  private final AtomicInteger next = new AtomicInteger();
  private final ConcurrentLinkedQueue<Fetched> all = new ConcurrentLinkedQueue<>();

  /** Blocks that are to be written, once for each mark. */
  private final ConcurrentLinkedQueue<Block> marked = new ConcurrentLinkedQueue<>();

  private final Residency residency = new Residency(index, clock::get, () -> {});

  @ParameterizedTest
  @EnumSource(Closing.class)
  void allMemoryIsGivenBackOnce(Closing closing) throws Exception {
    long seed = Seed.draw();
    Threads.run(
        THREADS,
        seed,
        (thread, random) -> {
          for (int i = 0; i < STEPS; i++) {
            step(random);
            if (closing == Closing.MEANWHILE && thread == 0 && i == STEPS / 2) {
              residency.close();
            }
          }
        });
    if (closing == Closing.AFTERWARDS) {
      while (write()) {}
      assertThat(residency.parkedEntries()).as("clean and parked, seed %d", seed).isZero();
      while (residency.evictRead()) {}
      assertThat(all.stream().filter(fetched -> !fetched.isFree()))
          .as("read, clean and still there, seed %d", seed)
          .noneMatch(fetched -> fetched.blocks.stream().noneMatch(Block::isUnread));
      assertThat(all.stream().anyMatch(fetched -> !fetched.isFree())).isTrue();
      residency.close();
    }
    assertThat(Counts.blocks(index)).as("seed %d", seed).isZero();
    assertThat(all).as("seed %d", seed).allMatch(fetched -> fetched.freed.get() == 1);
    assertThat(residency.spareSlabs(Idle.LONG)).as("seed %d", seed).isZero();
    assertThat(residency.unread.size()).as("seed %d", seed).isZero();
    assertThat(residency.parkedEntries()).as("seed %d", seed).isZero();
    while (write()) {}
    assertThat(all).as("seed %d", seed).allMatch(fetched -> fetched.freed.get() == 1);
  }

  /** No reader waits and no tenant ends: what is to be written is there when its turn comes. */
  @Test
  @Slow
  void guessesEvictNothingThatIsToBeWritten() throws Exception {
    long seed = Seed.draw();
    AtomicInteger written = new AtomicInteger();
    Threads.run(
        THREADS,
        seed,
        (thread, random) -> {
          for (int i = 0; i < STEPS; i++) {
            int what = random.nextInt(100);
            if (what < 20) {
              publish(1 + random.nextInt(3));
            } else if (what < 50) {
              readSome(random);
            } else if (what < 60) {
              markSome(random);
            } else if (what < 75) {
              Block block = marked.poll();
              if (block != null) {
                assertThat(TestBlocks.tryRead(block)).as("to be written").isTrue();
                block.markClean();
                written.incrementAndGet();
              }
            } else if (what < 97) {
              residency.evictRead();
            } else {
              clock.addAndGet(random.nextLong(Idle.LONG.nanos));
              residency.evictIdle(Idle.LONG);
            }
          }
        });
    assertThat(written.get()).isPositive();
    while (write()) {}
    assertThat(residency.parkedEntries()).as("seed %d", seed).isZero();
    assertThat(all).as("seed %d", seed).allMatch(fetched -> fetched.freed.get() <= 1);
    assertThat(all).as("seed %d", seed).anyMatch(Fetched::isFree);
    residency.close();
    assertThat(all).as("seed %d", seed).allMatch(fetched -> fetched.freed.get() == 1);
    assertThat(residency.spareSlabs(Idle.LONG)).as("seed %d", seed).isZero();
  }

  /** Takes the place of the writer; false if there is nothing to be written. */
  private boolean write() {
    Block block = marked.poll();
    if (block == null) {
      return false;
    }
    // It may have been evicted; if not, it holds its own bytes.
    TestBlocks.tryRead(block);
    block.markClean();
    return true;
  }

  private void markSome(SplittableRandom random) {
    Block block = someBlock(random);
    // A pin makes sure of the block's bytes, as the fetch does that marks it.
    if (block != null && block.tryPin()) {
      if (block.isReady() && block.markDirty()) {
        marked.add(block);
      }
      block.unpin();
    }
  }

  private void readSome(SplittableRandom random) {
    Block block = someBlock(random);
    if (block != null && block.tryPin()) {
      try {
        if (block.isReady()) {
          TestBlocks.read(block);
          if (random.nextInt(4) == 0) {
            block.keep();
          }
        }
      } finally {
        block.unpin();
      }
    }
  }

  private void step(SplittableRandom random) {
    int what = random.nextInt(100);
    if (what < 20) {
      publish(1 + random.nextInt(3));
    } else if (what < 50) {
      readSome(random);
    } else if (what < 60) {
      markSome(random);
    } else if (what < 72) {
      write();
    } else if (what < 80) {
      Block block = someBlock(random);
      if (block != null) {
        block.abandon();
      }
    } else if (what < 90) {
      residency.evictRead();
    } else if (what < 93) {
      residency.evictDirty(Purpose.DEMAND);
    } else if (what < 95) {
      residency.evictUnread();
    } else if (what < 98) {
      clock.addAndGet(random.nextLong(Idle.BRIEFLY.nanos));
      residency.evictIdle(random.nextBoolean() ? Idle.BRIEFLY : Idle.LONG);
    } else {
      int remainder = random.nextInt(50);
      residency.evictIf(block -> block.id().index() % 50 == remainder);
    }
  }

  private void publish(int blocks) {
    Fetched fetched = new Fetched(next.getAndAdd(blocks), blocks);
    fetched.fate.lastReadNanos.set(clock.get());
    all.add(fetched);
    List<Block> pinned = fetched.blocks.subList(0, 1);
    // As a reader that waits for its block does.
    pinned.forEach(Block::tryPin);
    fetched.blocks.forEach(index::add);
    residency.publish(fetched.blocks, List.of(), fetched.memory, fetched::free);
    for (Block block : pinned) {
      TestBlocks.read(block);
      block.unpin();
    }
  }

  private Block someBlock(SplittableRandom random) {
    int newest = next.get();
    return newest == 0
        ? null
        : index.get(
            TestBlocks.block(
                    Math.max(0, newest - 1 - random.nextInt(300)), new TestBlocks.CountingFate())
                .id());
  }
}
