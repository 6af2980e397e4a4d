package io.s3e.disk;

import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The regions of one directory, and the order in which they are appended to. Their number is fixed:
 * that is the hard cap, which nobody has to keep count of.
 *
 * <p><b>Order.</b> Regions that were never used, while the disk has room; then the region that
 * began longest ago, with all that it holds. What is wanted again is fetched again, and written for
 * that. Nothing is locked before {@link Region#take}, so another process may be first: a region
 * counts only if its generation is the one that it was chosen for.
 *
 * <p><b>Threads.</b> {@link #bytes} and {@link #capacityBytes} are any thread's and touch memory
 * alone: gauges call them on threads that may be interrupted, and an interrupt closes the file that
 * its thread works on. {@link #refresh} and {@link #close} are any thread's of the directory; the
 * rest is its appending thread's.
 */
final class Regions implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Regions.class);

  private final DiskMetrics metrics;
  private final DiskSpace space;
  private final List<Region> all;

  /**
   * @param all by number
   * @param space asked before a region is used for the first time
   * @param metrics told of evictions
   */
  Regions(List<Region> all, DiskSpace space, DiskMetrics metrics) {
    this.all = List.copyOf(all);
    this.space = space;
    this.metrics = metrics;
  }

  /** So many regions, which the index knows from now on. */
  static List<Region> enter(int count, ChunkIndex index, IntFunction<Region> made) {
    List<Region> regions = new ArrayList<>();
    for (int number = 0; number < count; number++) {
      Region region = made.apply(number);
      index.enter(region);
      regions.add(region);
    }
    return regions;
  }

  /**
   * A region to append to, which is this process's until it is given back; what it held is
   * forgotten.
   *
   * @return null if there is none for now: others have them all, or the disk has too little space
   */
  @Nullable Region next() throws IOException {
    Failures failures = new Failures();
    List<Region> candidates = new ArrayList<>(unused());
    oldest().filter(e -> e.generation() != 0).forEach(candidates::add);
    for (Region each : candidates) {
      try {
        if (isBegun(each)) {
          return each;
        }
      } catch (IOException e) {
        failures.add(each, e);
      }
    }
    failures.throwFirst();
    return null;
  }

  private boolean isBegun(Region region) throws IOException {
    int chosen = region.generation();
    if (!region.take()) {
      return false;
    }
    boolean begun = false;
    try {
      if (region.generation() == chosen) {
        int evicted = region.nextSlot();
        region.begin();
        begun = true;
        metrics.add(Counter.EVICTIONS, evicted == 0 ? 0 : 1);
        metrics.add(Counter.EVICTED_BYTES, (long) evicted * Region.SLOT_BYTES);
      }
      return begun;
    } finally {
      if (!begun) {
        region.giveBack();
      }
    }
  }

  private List<Region> unused() {
    List<Region> unused = all.stream().filter(e -> e.generation() == 0 && !e.isOwn()).toList();
    return unused.isEmpty() || !space.mayGrow() ? List.of() : unused;
  }

  /**
   * Empties the region that began longest ago, of those that are not this process's now, if so
   * little of the disk is free that others need it.
   *
   * @return whether there was need, and such a region
   */
  boolean giveBackIfScarce() throws IOException {
    if (!space.isScarce()) {
      return false;
    }
    Failures failures = new Failures();
    for (Region each : oldest().toList()) {
      try {
        if (each.allocatedSlots() > 0 && each.take()) {
          try {
            each.empty();
          } finally {
            each.giveBack();
            space.givenBack();
          }
          return true;
        }
      } catch (IOException e) {
        failures.add(each, e);
      }
    }
    failures.throwFirst();
    return false;
  }

  private Stream<Region> oldest() {
    return all.stream()
        .filter(e -> !e.isOwn())
        .sorted(Comparator.comparingLong(e -> e.filling().began()));
  }

  /** Looks at what other processes have written. */
  void refresh() throws IOException {
    Failures failures = new Failures();
    boolean isAnyRead = false;
    for (Region each : all) {
      try {
        isAnyRead |= each.refresh();
      } catch (IOException e) {
        failures.add(each, e);
      }
    }
    if (!isAnyRead) {
      failures.throwFirst();
    }
  }

  /** Gives everything up; other processes can have it before a file that hangs is closed. */
  @Override
  public void close() {
    all.forEach(Region::letGo);
    all.forEach(Region::close);
  }

  /** Bytes that the regions take on disk, as far as is known in memory. */
  long bytes() {
    return all.stream().mapToLong(e -> (long) e.allocatedSlots() * Region.SLOT_BYTES).sum();
  }

  /** The most that they ever take, in bytes. */
  long capacityBytes() {
    return all.stream().mapToLong(Region::bytes).sum();
  }

  /** Failures of some files, which leave the others to be used. */
  private static final class Failures {
    private @Nullable IOException first;

    /**
     * @throws ClosedByInterruptException at once: the interrupt would close the other files, too
     */
    void add(Object of, IOException failure) throws ClosedByInterruptException {
      if (failure instanceof ClosedByInterruptException interrupt) {
        throw interrupt;
      }
      LOG.debug("{} fails; the others are used", of, failure);
      if (first == null) {
        first = failure;
      }
    }

    void throwFirst() throws IOException {
      IOException thrown = first;
      if (thrown != null) {
        throw thrown;
      }
    }
  }
}
