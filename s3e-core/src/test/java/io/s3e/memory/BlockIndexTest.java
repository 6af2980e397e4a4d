// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.memory.TestBlocks.CountingFate;
import io.s3e.testing.Seed;
import io.s3e.testing.Threads;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.junit.jupiter.api.Test;

class BlockIndexTest {
  private final BlockIndex index = new BlockIndex();

  @Test
  void oneBlockStandsUnderAName() {
    Block first = TestBlocks.block(1, new CountingFate());
    Block second = TestBlocks.block(1, new CountingFate());
    assertThat(index.add(first)).isTrue();
    assertThat(index.add(second)).isFalse();
    assertThat(index.get(second.id())).isSameAs(first);
    index.remove(second);
    assertThat(index.get(first.id())).as("another block's name").isSameAs(first);
    index.remove(first);
    assertThat(index.get(first.id())).isNull();
    assertThat(index.add(second)).isTrue();
    assertThat(Counts.blocks(index)).isEqualTo(1);
  }

  /** Each thread enters and removes; a name has one owner from its entry to its removal. */
  @Test
  void aNameIsNeverEnteredTwice() throws Exception {
    int names = 4;
    AtomicReferenceArray<Block> owners = new AtomicReferenceArray<>(names);
    Threads.run(
        8,
        Seed.draw(),
        (thread, random) -> {
          for (int i = 0; i < 20_000; i++) {
            int name = random.nextInt(names);
            Block mine = TestBlocks.block(name, new CountingFate());
            if (index.add(mine)) {
              assertThat(owners.getAndSet(name, mine)).as("owner of " + name).isNull();
              assertThat(index.get(mine.id())).isSameAs(mine);
              owners.set(name, null);
              index.remove(mine);
            } else {
              index.remove(mine);
            }
          }
        });
    assertThat(Counts.blocks(index)).isZero();
  }
}
