// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

/**
 * How many readers share what prefetch may take: those that asked for prefetch within about the
 * last second. One object for all readers that share.
 *
 * <p><b>Epochs</b> of {@value #EPOCH_SECONDS} s. A reader is counted once in each epoch in which it
 * asks, and its {@link Asker} notes which epoch that was. The count is the number of readers of the
 * present epoch and of those of the last epoch that have not asked in the present one. A reader
 * that is closed leaves at once; counters die with their epoch, so one that idles, or was
 * forgotten, drops out after 1 to 2 s.
 *
 * <p>Any thread; no lock. A counter moves on from "present" to "last" as the same object, so an
 * increment that comes late is not lost. Threads of one reader that race may let the count be wrong
 * by one for an instant.
 */
public final class Askers {
  private static final long EPOCH_SECONDS = 1;
  private static final long EPOCH_NANOS = TimeUnit.SECONDS.toNanos(EPOCH_SECONDS);

  /** {@code present} have asked in this epoch, {@code last} in the one before and not in this. */
  private record Epoch(long number, AtomicInteger present, AtomicInteger last) {
    Epoch next(long now) {
      AtomicInteger before = now == number + 1 ? present : new AtomicInteger();
      return new Epoch(now, new AtomicInteger(), before);
    }
  }

  /** One reader: the epoch in which it asked last. */
  static final class Asker {
    private static final long NEVER = Long.MIN_VALUE;

    private final AtomicLong epoch = new AtomicLong(NEVER);
  }

  private final LongSupplier clock;
  private final AtomicReference<Epoch> current;

  public Askers(LongSupplier nanoClock) {
    this.clock = nanoClock;
    this.current =
        new AtomicReference<>(new Epoch(epochNow(), new AtomicInteger(), new AtomicInteger()));
  }

  void ask(Asker asker) {
    Epoch epoch = epoch();
    long before = asker.epoch.get();
    if (before >= epoch.number || !asker.epoch.compareAndSet(before, epoch.number)) {
      return;
    }
    epoch.present.incrementAndGet();
    if (before == epoch.number - 1) {
      epoch.last.decrementAndGet();
    }
  }

  /** The reader reads no more: what it asked for is the others' at once. */
  void leave(Asker asker) {
    long asked = asker.epoch.getAndSet(Asker.NEVER);
    Epoch epoch = epoch();
    if (asked == epoch.number) {
      epoch.present.decrementAndGet();
    } else if (asked == epoch.number - 1) {
      epoch.last.decrementAndGet();
    }
  }

  /** How many readers {@code asker} shares with, itself counted whether it has asked or not. */
  int sharing(Asker asker) {
    Epoch epoch = epoch();
    int asked = epoch.present.get() + epoch.last.get();
    return Math.max(1, asker.epoch.get() >= epoch.number - 1 ? asked : asked + 1);
  }

  private Epoch epoch() {
    long now = epochNow();
    for (; ; ) {
      Epoch epoch = Objects.requireNonNull(current.get());
      if (now <= epoch.number) {
        return epoch;
      }
      Epoch next = epoch.next(now);
      if (current.compareAndSet(epoch, next)) {
        return next;
      }
    }
  }

  private long epochNow() {
    return Math.floorDiv(clock.getAsLong(), EPOCH_NANOS);
  }
}
