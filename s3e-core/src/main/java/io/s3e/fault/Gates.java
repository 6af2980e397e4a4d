// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The gates of an engine, by store and bucket. Once there are more than {@value #MOST_UNUSED},
 * those go that have let everything pass and were not used for a while: what they would forget is
 * that their store has answered once. Any thread.
 */
public final class Gates {
  private static final int MOST_UNUSED = 256;
  private static final long UNUSED_NANOS = TimeUnit.MINUTES.toNanos(5);

  /** By store and bucket. */
  final ConcurrentHashMap<List<Object>, Gate> gates = new ConcurrentHashMap<>();

  private final Gate.Later later;
  private final LongSupplier clock;

  public Gates(Gate.Later later) {
    this(later, System::nanoTime);
  }

  Gates(Gate.Later later, LongSupplier clock) {
    this.later = later;
    this.clock = clock;
  }

  /** The gate before a bucket, to be asked for anew at times; equal names of stores share one. */
  public Gate of(Object store, String bucket) {
    List<Object> key = List.of(store, bucket);
    Gate known = gates.get(key);
    if (known != null) {
      return known;
    }
    if (gates.size() >= MOST_UNUSED) {
      gates.values().removeIf(gate -> gate.isUnused(UNUSED_NANOS));
    }
    return gates.computeIfAbsent(key, missing -> new Gate(later, clock));
  }
}
