// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

import java.util.concurrent.ConcurrentHashMap;

/**
 * What an engine has learnt of the stores that its tenants read: a new tenant, and one that sends
 * GETs of another length, begin with what others have found out. Any thread.
 */
public final class Stores {
  /** More endpoints than a JVM reads as a rule. Then all are forgotten, and learnt anew. */
  private static final int MOST = 64;

  /** One store: how long GETs to it take, and those that may be sent to it twice. */
  public record Known(GetTimes times, HedgeBudget hedges) {
    /** A store of which nothing is known yet. */
    public Known() {
      this(new GetTimes(), new HedgeBudget(System::nanoTime));
    }
  }

  private final ConcurrentHashMap<Object, Known> known = new ConcurrentHashMap<>();

  /** The store of that name, as {@link Gates#of} takes it; to be kept by who reads it. */
  public Known of(Object store) {
    if (known.size() >= MOST && !known.containsKey(store)) {
      known.clear();
    }
    return known.computeIfAbsent(store, name -> new Known());
  }
}
