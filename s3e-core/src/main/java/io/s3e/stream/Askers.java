// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

/**
 * How many readers share what prefetch may take: those that asked for prefetch within about the
 * last second. One object for all readers that share.
 *
 * <p><b>Epochs</b> of {@value #EPOCH_SECONDS} s. The count is the number of readers that have asked
 * in the present epoch, and of those that have in the last one and not since. A reader that is
 * closed leaves at once; sets die with their epoch, so one that idles, or was forgotten, drops out
 * after 1 to 2 s. A reader is named by an object that must not refer to it.
 *
 * <p>Any thread; no lock. A set moves on from "present" to "last" as the same object, so who comes
 * to it late is not lost. Racing threads of one reader may let it be wrong by one for an epoch.
 */
public final class Askers {
  private static final long EPOCH_SECONDS = 1;
  private static final long EPOCH_NANOS = TimeUnit.SECONDS.toNanos(EPOCH_SECONDS);

  /** {@code present} have asked in this epoch, {@code last} in the one before and not in this. */
  private record Epoch(long number, Set<Object> present, Set<Object> last) {}

  private final LongSupplier clock;
  private final AtomicReference<Epoch> current =
      new AtomicReference<>(new Epoch(Long.MIN_VALUE, Set.of(), Set.of()));

  public Askers(LongSupplier nanoClock) {
    this.clock = nanoClock;
  }

  void ask(Object asker) {
    Epoch epoch = epoch();
    if (epoch.present.add(asker)) {
      epoch.last.remove(asker);
    }
  }

  /** The reader reads no more: what it asked for is the others' at once. */
  void leave(Object asker) {
    Epoch epoch = epoch();
    epoch.present.remove(asker);
    epoch.last.remove(asker);
  }

  /** How many readers {@code asker} shares with, itself counted whether it has asked or not. */
  int sharing(Object asker) {
    Epoch epoch = epoch();
    boolean hasAsked = epoch.present.contains(asker) || epoch.last.contains(asker);
    int asked = epoch.present.size() + epoch.last.size();
    return Math.max(1, hasAsked ? asked : asked + 1);
  }

  private Epoch epoch() {
    long now = Math.floorDiv(clock.getAsLong(), EPOCH_NANOS);
    Epoch epoch = Objects.requireNonNull(current.get());
    while (now > epoch.number) {
      Set<Object> before = now == epoch.number + 1 ? epoch.present : ConcurrentHashMap.newKeySet();
      current.compareAndSet(epoch, new Epoch(now, ConcurrentHashMap.newKeySet(), before));
      epoch = Objects.requireNonNull(current.get());
    }
    return epoch;
  }
}
