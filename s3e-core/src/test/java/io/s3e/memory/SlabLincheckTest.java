// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import io.s3e.memory.IdleSlabs.Idle;
import io.s3e.memory.TestBlocks.Fetched;
import io.s3e.testing.Programs;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * One slab that readers read, writers mark and clean, and everybody evicts. The calls say nothing.
 * What is left of them at the end does: a guess has not evicted a slab under a mark, a slab without
 * marks is not parked and leaves for the next guess, and one with marks leaves for the next reader.
 */
@Param(name = "me", gen = ThreadIdGen.class)
@Tag("lincheck")
@Timeout(value = 30, unit = TimeUnit.MINUTES)
public class SlabLincheckTest {
  private static final int MAX_THREADS = 8;

  private final Fetched fetched = new Fetched(7, 1);
  private final Block block = fetched.block();
  private final BlockIndex index = new BlockIndex();
  private final Residency residency = new Residency(index, () -> 0, () -> {});
  private final int[] marks = new int[MAX_THREADS];
  private volatile boolean isTakenByGuess;

  public SlabLincheckTest() {
    index.add(block);
    residency.publish(fetched.blocks, List.of(), fetched.memory, fetched::free);
    TestBlocks.tryRead(block);
  }

  @Operation
  public void mark(@Param(name = "me") int me) {
    if (block.markDirty()) {
      marks[me]++;
    }
  }

  @Operation
  public void clean(@Param(name = "me") int me) {
    if (marks[me] > 0) {
      block.markClean();
      marks[me]--;
    }
  }

  @Operation
  public void read() {
    TestBlocks.tryRead(block);
  }

  @Operation
  public void guess() {
    if (residency.evictRead()) {
      isTakenByGuess = true;
    }
  }

  @Operation
  public void demand() {
    residency.evictDirty(Purpose.DEMAND);
  }

  @Validate
  public void theSlabIsWhereItBelongs() {
    int held = 0;
    for (int each : marks) {
      held += each;
    }
    if (fetched.isFree()) {
      require(!isTakenByGuess || held == 0, "taken by a guess under marks");
    } else {
      require(residency.spareSlabs(Idle.LONG) + residency.parkedEntries() == 1, "lost");
      require(held > 0 || residency.parkedEntries() == 0, "clean and parked");
      require(residency.evictRead() == (held == 0), "passed over, or taken under marks");
      require(residency.evictDirty(Purpose.DEMAND) == (held > 0), "not parked");
    }
    require(fetched.freed.get() == 1, "freed " + fetched.freed + " times");
    require(residency.spareSlabs(Idle.LONG) == 0, "counted after its end");
    require(residency.parkedEntries() == 0, "parked after its end");
  }

  private void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(block + ": " + otherwise);
    }
  }

  @Test
  void aSlabIsLostInNoShortProgram() {
    new Programs(SlabLincheckTest.class)
        .with("mark", "", "clean", "guess")
        .with("mark", "", "clean mark", "guess", "guess")
        .with("mark guess", "", "clean", "mark guess")
        .with("mark guess", "", "clean mark", "guess demand")
        .with("mark", "clean", "guess", "demand", "read mark")
        .check(
            new ModelCheckingOptions()
                .addGuarantee(
                    forClasses("java.util.LinkedHashSet", "java.util.HashSet")
                        .allMethods()
                        .ignore())
                .actorsPerThread(3)
                .actorsBefore(2)
                .actorsAfter(1),
            3,
            150);
  }

  @Test
  void aSlabIsLostByNoRealThreads() {
    new Programs(SlabLincheckTest.class).stress(3, 100);
  }

  /** All calls are without an answer. */
  public static class Sequential {
    public void mark(int me) {}

    public void clean(int me) {}

    public void read() {}

    public void guess() {}

    public void demand() {}
  }
}
