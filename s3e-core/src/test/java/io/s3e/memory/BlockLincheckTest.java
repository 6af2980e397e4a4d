// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

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
 * A block behaves like a counter of references that is dead at 0, one call at a time. Behind the
 * counter, nobody who holds a pin sees recycled memory, memory is given back exactly once, after
 * the eviction and the last pin, and one of read and evicted is told as the first.
 */
@Param(name = "me", gen = ThreadIdGen.class)
@Tag("lincheck")
@Timeout(value = 30, unit = TimeUnit.MINUTES)
public class BlockLincheckTest {
  private static final int MAX_THREADS = 8;

  private final Fetched fetched = new Fetched(7, 1);
  private final Block block = fetched.block();
  private final Residency residency = new Residency(new BlockIndex(), () -> 0, () -> {});
  private final int[] pins = new int[MAX_THREADS];
  private volatile boolean evicted;
  private volatile boolean wasRead;

  @Operation(runOnce = true)
  public void publish() {
    residency.publish(fetched.blocks, List.of(), fetched.memory, fetched::free);
  }

  @Operation
  public boolean pin(@Param(name = "me") int me) {
    boolean pinned = block.tryPin();
    pins[me] += pinned ? 1 : 0;
    return pinned;
  }

  @Operation
  public boolean read(@Param(name = "me") int me) {
    if (pins[me] == 0 || !block.isReady()) {
      return false;
    }
    TestBlocks.read(block);
    wasRead = true;
    return true;
  }

  @Operation
  public boolean unpin(@Param(name = "me") int me) {
    if (pins[me] == 0) {
      return false;
    }
    pins[me]--;
    block.unpin();
    return true;
  }

  @Operation
  public void abandon() {
    block.abandon();
  }

  @Operation
  public boolean evict() {
    boolean ready = block.isReady();
    if (ready) {
      block.evict();
      evicted = true;
    }
    return ready;
  }

  @Validate
  public void memoryIsGivenBackOnce() {
    int held = 0;
    for (int each : pins) {
      held += each;
    }
    int freed = fetched.freed.get();
    if (freed != (evicted && held == 0 ? 1 : 0)) {
      throw new AssertionError(block + ": freed " + freed + " times under " + held + " pins");
    }
    int first = fetched.fate.firstReads.get() + fetched.fate.droppedUnread.get();
    if (first != (wasRead || evicted ? 1 : 0)) {
      throw new AssertionError(block + ": told " + first + " times what came first");
    }
  }

  @Test
  void shortProgramsAreLinearizable() {
    new Programs(BlockLincheckTest.class)
        .with("publish pin", "pin", "read unpin", "evict")
        .with("pin", "pin", "read unpin", "publish evict")
        .with("publish", "pin", "pin read", "pin unpin", "evict")
        .with("publish pin", "unpin", "read", "abandon evict")
        .with("publish pin", "abandon", "read unpin", "evict")
        .check(
            new ModelCheckingOptions().actorsPerThread(3).actorsBefore(2).actorsAfter(1), 3, 100);
  }

  @Test
  void realThreadsAreLinearizable() {
    new Programs(BlockLincheckTest.class).stress(3, 100);
  }

  /** The same calls, one at a time. */
  public static class Sequential {
    private final int[] pins = new int[MAX_THREADS];
    private int references = 1;
    private boolean ready;
    private boolean resident = true;

    public void publish() {
      ready = true;
    }

    public boolean pin(int me) {
      if (references == 0) {
        return false;
      }
      references++;
      pins[me]++;
      return true;
    }

    public boolean read(int me) {
      return pins[me] > 0 && ready;
    }

    public boolean unpin(int me) {
      if (pins[me] == 0) {
        return false;
      }
      references--;
      pins[me]--;
      return true;
    }

    public void abandon() {}

    public boolean evict() {
      if (ready && resident) {
        resident = false;
        references--;
      }
      return ready;
    }
  }
}
