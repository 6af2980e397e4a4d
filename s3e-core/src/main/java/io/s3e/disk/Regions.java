package io.s3e.disk;

import io.s3e.disk.Region.Kind;
import io.s3e.disk.Region.Place;
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
 * <p><b>Order.</b> Regions that were never used, while the disk has room; regions of the same kind
 * that somebody has left half full; then the region that began longest ago. Scans have what nobody
 * else wants, and keep a fifth of the regions. Nothing is locked before {@link Region#take}, so
 * another process may be first: a region counts only if its generation is the one that it was
 * chosen for.
 *
 * <p><b>Threads.</b> {@link #bytes} and {@link #capacityBytes} are any thread's and touch memory
 * alone: gauges call them on threads that may be interrupted, and an interrupt closes the file that
 * its thread works on. {@link #refresh} and {@link #close} are any thread's of the directory; the
 * rest is its appending thread's.
 */
final class Regions implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Regions.class);

  /** Room that is worth going on with what another has left: a chunk, in slots. */
  private static final int LEAST_SLOTS = StoredObject.CHUNK_BYTES / Region.SLOT_BYTES;

  private final ChunkIndex index;
  private final DiskSpace space;
  private final List<Region> all;

  /** The generations that this process filled as far as it could, by the regions' numbers. */
  private final int[] filled;

  /**
   * @param all by number
   * @param index that they were {@linkplain #enter entered} in
   * @param space asked before a region is used for the first time
   */
  Regions(List<Region> all, ChunkIndex index, DiskSpace space) {
    this.index = index;
    this.all = List.copyOf(all);
    this.space = space;
    this.filled = new int[all.size()];
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
   * A region that is this process's now.
   *
   * @param hits what was read of the generation before, in the order of its slots; its bytes stand
   *     in the file until they are written over
   * @param evictedSlots slots of the generation before
   */
  record Taken(Region region, List<Place> hits, int evictedSlots) {}

  /**
   * A region to append to, which is this process's until {@link #finished}.
   *
   * @return null if there is none for now: others have them all, or the disk has too little space
   */
  @Nullable Taken next(Kind kind) throws IOException {
    Failures failures = new Failures();
    List<Region> halfFull = all.stream().filter(e -> isHalfFull(e, kind)).toList();
    Taken taken = firstOf(unused(), kind, false, failures);
    taken = taken == null ? firstOf(halfFull, kind, true, failures) : taken;
    taken = taken == null ? firstOf(oldestFirst(kind), kind, false, failures) : taken;
    if (taken == null) {
      failures.throwFirst();
    }
    return taken;
  }

  private @Nullable Taken firstOf(
      List<Region> candidates, Kind kind, boolean resumed, Failures failures) throws IOException {
    for (Region each : candidates) {
      try {
        Taken taken = tryTake(each, kind, resumed);
        if (taken != null) {
          return taken;
        }
      } catch (IOException e) {
        failures.add(each, e);
      }
    }
    return null;
  }

  private @Nullable Taken tryTake(Region region, Kind kind, boolean resumed) throws IOException {
    int chosen = region.generation();
    if (!region.take()) {
      return null;
    }
    Taken taken = null;
    try {
      if (region.generation() == chosen && !resumed) {
        Taken begun = new Taken(region, index.hitsIn(region), region.nextSlot());
        region.begin(kind);
        taken = begun;
      } else if (region.generation() == chosen && isRoomy(region) && region.resume()) {
        taken = new Taken(region, List.of(), 0);
      }
      return taken;
    } finally {
      if (taken == null) {
        region.giveBack();
      }
    }
  }

  private List<Region> unused() {
    List<Region> unused = all.stream().filter(e -> e.generation() == 0 && !e.isOwn()).toList();
    return unused.isEmpty() || !space.mayGrow() ? List.of() : unused;
  }

  private boolean isHalfFull(Region region, Kind kind) {
    return !region.isOwn()
        && region.generation() != 0
        && region.kind() == kind
        && region.generation() != filled[region.number()]
        && isRoomy(region);
  }

  private static boolean isRoomy(Region region) {
    return region.nextSlot() + LEAST_SLOTS <= region.slotCount() && !region.isFullWith(0);
  }

  /** Those of scans come first where scans would have more than their share. */
  private List<Region> oldestFirst(Kind kind) {
    long scanned =
        all.stream().filter(e -> e.generation() != 0 && e.kind() == Kind.SCANNED).count();
    long withNext = scanned + (kind == Kind.SCANNED ? 1 : 0);
    Kind first = withNext > Region.scannedShare(all.size()) ? Kind.SCANNED : Kind.LASTING;
    return oldest()
        .filter(e -> e.generation() != 0)
        .sorted(Comparator.comparing(e -> e.kind() != first))
        .toList();
  }

  /** Whether there are regions that took space on disk before and are not this process's now. */
  boolean hasGrownOnes() {
    return all.stream().anyMatch(e -> !e.isOwn() && e.allocatedSlots() > 0);
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

  /** Nothing more is appended to a region that {@link #next} gave. */
  void finished(Region region) throws IOException {
    filled[region.number()] = region.generation();
    region.giveBack();
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
