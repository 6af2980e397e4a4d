// SPDX-License-Identifier: Apache-2.0
package io.s3e.metrics;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** One counter for each constant of an enum. Exact once nothing is in flight. Any thread. */
public class Counters<C extends Enum<C>> {
  private final Class<C> names;
  private final LongAdder[] adders;

  /** All constants of {@code names} are counted, from 0. */
  public Counters(Class<C> names) {
    this.names = names;
    adders = new LongAdder[names.getEnumConstants().length];
    for (int i = 0; i < adders.length; i++) {
      adders[i] = new LongAdder();
    }
  }

  /** Counts {@code amount} more. */
  public final void add(C counter, long amount) {
    adders[counter.ordinal()].add(amount);
  }

  /** Counts one more. */
  public final void count(C counter) {
    add(counter, 1);
  }

  /** One counter now. */
  public final long get(C counter) {
    return adders[counter.ordinal()].sum();
  }

  /** All counters now. */
  public final Map<C, Long> snapshot() {
    Map<C, Long> now = new EnumMap<>(names);
    for (C counter : names.getEnumConstants()) {
      now.put(counter, get(counter));
    }
    return now;
  }
}
