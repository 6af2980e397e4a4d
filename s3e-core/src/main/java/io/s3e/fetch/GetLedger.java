// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.ObjectRef;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The latest {@value #CAPACITY} GETs of an engine, of all its tenants: why each was sent, and what
 * became of its bytes. A GET more replaces the oldest one. Some 250 bytes of heap for each.
 *
 * <p>Any thread; nobody waits.
 */
public final class GetLedger {
  /** How many GETs are kept. */
  public static final int CAPACITY = 4096;

  private final AtomicReferenceArray<GetRecord> ring = new AtomicReferenceArray<>(CAPACITY);
  private final AtomicLong begun = new AtomicLong();

  /** A GET is about to be given to a client. */
  void add(GetRecord get) {
    ring.set((int) (begun.getAndIncrement() % CAPACITY), get);
  }

  /**
   * The latest GETs, the latest first.
   *
   * @param of the object that they read; null for any
   * @param most how many at most
   */
  public List<GetRecord> latest(@Nullable ObjectRef of, int most) {
    List<GetRecord> found = new ArrayList<>();
    long end = begun.get();
    for (long n = end - 1; n >= Math.max(0, end - CAPACITY) && found.size() < most; n--) {
      GetRecord get = ring.get((int) (n % CAPACITY));
      if (get != null && (of == null || of.equals(get.object()))) {
        found.add(get);
      }
    }
    return found;
  }
}
