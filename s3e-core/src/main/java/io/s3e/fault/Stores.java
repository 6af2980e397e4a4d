// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * What an engine has learnt of the stores that its tenants read, and the gates before their
 * buckets: a new tenant, and one that sends GETs of another length, begin with what others have
 * found out. Equal names of stores share. Any thread.
 */
public final class Stores {
  /** More endpoints than a JVM reads as a rule. Then all are forgotten, and learnt anew. */
  private static final int MOST = 64;

  /**
   * With more gates those go that have let everything pass and were not used for a while: what they
   * would forget is that their store has answered once.
   */
  private static final int MOST_UNUSED = 256;

  private static final long UNUSED_NANOS = TimeUnit.MINUTES.toNanos(5);

  /** One store: how long GETs to it take, and those that may be sent to it twice. */
  public record Known(GetTimes times, HedgeBudget hedges) {}

  private final ConcurrentHashMap<Object, Known> known = new ConcurrentHashMap<>();

  /** By store and bucket. */
  final ConcurrentHashMap<List<Object>, Gate> gates = new ConcurrentHashMap<>();

  private final Gate.Later later;
  private final LongSupplier clock;

  public Stores(Gate.Later later) {
    this(later, System::nanoTime);
  }

  Stores(Gate.Later later, LongSupplier clock) {
    this.later = later;
    this.clock = clock;
  }

  /** What is known of a store; to be kept by who reads it. */
  public Known of(Object store) {
    if (known.size() >= MOST && !known.containsKey(store)) {
      known.clear();
    }
    Known made = new Known(new GetTimes(), new HedgeBudget(System::nanoTime));
    Known before = known.putIfAbsent(store, made);
    return before == null ? made : before;
  }

  /** The gate before a bucket of a store, to be asked for anew at times. */
  public Gate gate(Object store, String bucket) {
    List<Object> key = List.of(store, bucket);
    Gate before = gates.get(key);
    if (before != null) {
      return before;
    }
    // Functions are dear to link, and a JVM's first read comes here.
    Gate made = new Gate(later, clock);
    if (gates.size() >= MOST_UNUSED) {
      gates.values().removeIf(gate -> gate.isUnused(UNUSED_NANOS));
    }
    before = gates.putIfAbsent(key, made);
    return before == null ? made : before;
  }
}
