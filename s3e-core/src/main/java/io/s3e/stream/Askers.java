// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * How many readers share what prefetch may take: those that asked for prefetch within about the
 * last second. One object for all readers that share.
 *
 * <p>A reader that is closed leaves at once. Those that have not asked for a second are looked for
 * once a second, so one that idles, or was forgotten, drops out after 1 to 2 s. A reader is named
 * by an object that must not refer to it. Any thread; no lock.
 */
public final class Askers {
  private static final long REMEMBERED_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final LongSupplier clock;

  /** When each has asked last. */
  private final Map<Object, Long> asked = new ConcurrentHashMap<>();

  /** When those that idle were last looked for. */
  private final AtomicLong lookedNanos;

  public Askers(LongSupplier nanoClock) {
    this.clock = nanoClock;
    this.lookedNanos = new AtomicLong(nanoClock.getAsLong());
  }

  void ask(Object asker) {
    asked.put(asker, clock.getAsLong());
  }

  /** The reader reads no more: what it asked for is the others' at once. */
  void leave(Object asker) {
    asked.remove(asker);
  }

  /** How many readers {@code asker} shares with, itself counted whether it has asked or not. */
  int sharing(Object asker) {
    long now = clock.getAsLong();
    long looked = lookedNanos.get();
    if (now - looked >= REMEMBERED_NANOS && lookedNanos.compareAndSet(looked, now)) {
      asked.values().removeIf(at -> now - at > REMEMBERED_NANOS);
    }
    return Math.max(1, asked.size() + (asked.containsKey(asker) ? 0 : 1));
  }
}
