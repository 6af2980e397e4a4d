// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** How many there are, for tests alone. */
public final class Counts {
  private Counts() {}

  /** The readers of those accounts that wait for memory or a place. */
  public static int waiting(Account... accounts) {
    return Stream.of(accounts).mapToInt(each -> each.waiting.size()).sum();
  }

  /** Blocks in memory or on their way there, by name. */
  public static int blocks(BlockIndex index) {
    AtomicInteger count = new AtomicInteger();
    index.forEach(block -> count.incrementAndGet());
    return count.get();
  }
}
