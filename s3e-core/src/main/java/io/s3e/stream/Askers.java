package io.s3e.stream;

import java.util.concurrent.TimeUnit;
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
 * <p>Any thread; the lock is held for arithmetic alone.
 */
public final class Askers {
  private static final long EPOCH_SECONDS = 1;
  private static final long EPOCH_NANOS = TimeUnit.SECONDS.toNanos(EPOCH_SECONDS);

  /** One reader. */
  static final class Asker {
    private static final long NEVER = Long.MIN_VALUE;

    /** In which it asked last. Guarded by its readers' {@link Askers}. */
    private long epoch = NEVER;
  }

  private final LongSupplier clock;

  // Guarded by this.
  /** Epochs since the clock's zero. */
  private long epoch;

  /** Readers that have asked in this epoch. */
  private int present;

  /** Readers that asked in the epoch before, and in this one not yet. */
  private int last;

  /**
   * @param nanoClock a steady clock in ns, as {@link System#nanoTime()}
   */
  public Askers(LongSupplier nanoClock) {
    this.clock = nanoClock;
    this.epoch = Math.floorDiv(clock.getAsLong(), EPOCH_NANOS);
  }

  /** Counts a reader that asks for prefetch now. */
  synchronized void ask(Asker asker) {
    advance();
    if (asker.epoch < epoch) {
      present++;
      last -= asker.epoch == epoch - 1 ? 1 : 0;
      asker.epoch = epoch;
    }
  }

  /** The reader reads no more: what it asked for is the others' at once. */
  synchronized void leave(Asker asker) {
    advance();
    present -= asker.epoch == epoch ? 1 : 0;
    last -= asker.epoch == epoch - 1 ? 1 : 0;
    asker.epoch = Asker.NEVER;
  }

  /**
   * Number of readers that {@code asker} shares with, itself counted whether it has asked or not.
   */
  synchronized int sharing(Asker asker) {
    advance();
    return present + last + (asker.epoch >= epoch - 1 ? 0 : 1);
  }

  private void advance() {
    long now = Math.floorDiv(clock.getAsLong(), EPOCH_NANOS);
    if (now > epoch) {
      last = now == epoch + 1 ? present : 0;
      present = 0;
      epoch = now;
    }
  }
}
