// SPDX-License-Identifier: Apache-2.0
package io.s3e.metrics;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** One counter for each constant of an enum. Exact once nothing is in flight. Any thread. */
public class Counters<C extends Enum<C>> {
  private final Class<C> names;
  private final Map<C, LongAdder> adders;

  /** All constants of {@code names} are counted, from 0. */
  public Counters(Class<C> names) {
    this.names = names;
    adders = new EnumMap<>(names);
    for (C counter : names.getEnumConstants()) {
      adders.put(counter, new LongAdder());
    }
  }

  /** Counts {@code amount} more. */
  public final void add(C counter, long amount) {
    LongAdder adder = adders.get(counter);
    if (adder != null) {
      adder.add(amount);
    }
  }

  /** Counts one more. */
  public final void count(C counter) {
    add(counter, 1);
  }

  /** One counter now. */
  public final long get(C counter) {
    LongAdder adder = adders.get(counter);
    return adder == null ? 0 : adder.sum();
  }

  /** All counters now. */
  public final Map<C, Long> snapshot() {
    Map<C, Long> now = new EnumMap<>(names);
    adders.forEach((counter, adder) -> now.put(counter, adder.sum()));
    return now;
  }
}
