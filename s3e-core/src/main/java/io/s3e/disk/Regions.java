// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.disk.Region.Place;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The files of the regions that an index has by their numbers, and the order in which they are
 * given up. The count of numbers is fixed: that is the hard cap, which nobody has to keep count of.
 *
 * <p><b>Order.</b> A region is made under a number that none has, while the disk has room; then in
 * place of the one that began longest ago, with all that it holds. What is wanted again is fetched
 * again, and written for that.
 *
 * <p><b>Sharing is persistence.</b> A process finds what others have made when it looks at their
 * files ({@link #look}), once a second, and lets go of what they have deleted. Processes that begin
 * on the same object may all fetch it. Two that give up the same region at once make one each under
 * its number: the later one has the name, and the earlier one is its maker's alone.
 *
 * <p><b>Threads.</b> {@link #bytes} and {@link #capacityBytes} are any thread's and touch memory
 * alone; the rest is the writing thread's.
 */
final class Regions {
  /** Makes, finds and deletes the files of the regions. */
  interface Maker {
    Layout layout();

    /** How many of the layout's regions this process uses, from the first one on. */
    default int regions() {
      return layout().regions();
    }

    /** Makes this process's region in place of a file that is none; null if another was first. */
    @Nullable Region make(int number) throws IOException;

    /**
     * The region that is there under a number now.
     *
     * @param known so far, and not this process's own; null if none
     * @return {@code known} if it is still that one; null if there is none that can be believed
     */
    default @Nullable Region look(int number, @Nullable Region known) throws IOException {
      return known;
    }

    /** Deletes the file of a region, which may be read on by those who have it open. */
    default void delete(Region region) throws IOException {}
  }

  private final Maker maker;
  private final ChunkIndex index;
  final DiskSpace space;
  private final DiskMetrics metrics;

  /** The region that this process appends to. */
  @Nullable Region own;

  Regions(Maker maker, ChunkIndex index, DiskSpace space, DiskMetrics metrics) {
    this.maker = maker;
    this.index = index;
    this.space = space;
    this.metrics = metrics;
  }

  /** Another region to append to: the own one; null if there is no space. */
  @Nullable Region next() throws IOException {
    own = null;
    IOException failure = null;
    for (int number : candidates()) {
      Region old = index.region(number);
      try {
        own = replace(number, old);
        if (own != null) {
          return own;
        }
      } catch (IOException e) {
        failure = e;
        boolean isLost = old != null && index.region(number) == null;
        if (isLost || e instanceof RefusedDirectoryException) {
          // Where no file can be made, one region is lost for the attempt, and not all of them.
          break;
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
    return null;
  }

  private List<Integer> candidates() {
    List<Integer> numbers = new ArrayList<>();
    if (space.mayGrow()) {
      IntStream.range(0, maker.regions())
          .filter(e -> index.region(e) == null)
          .forEach(numbers::add);
    }
    oldest().forEach(region -> numbers.add(region.header.number()));
    return numbers;
  }

  private @Nullable Region replace(int number, @Nullable Region old) throws IOException {
    if (!isStill(number, old)) {
      return null;
    }
    if (old != null) {
      giveUp(old);
    }
    Region made = maker.make(number);
    if (made != null) {
      index.enter(made);
    }
    return made;
  }

  /** Whether no other process has put its own in the place of a region, or of none, meanwhile. */
  private boolean isStill(int number, @Nullable Region region) throws IOException {
    look(number);
    return index.region(number) == region;
  }

  /** What cannot be deleted is kept, and read on. */
  private void giveUp(Region region) throws IOException {
    maker.delete(region);
    metrics.count(Counter.EVICTIONS);
    metrics.add(Counter.EVICTED_BYTES, (long) region.nextSlot * Region.SLOT_BYTES);
    forget(region);
  }

  /** Nothing leads to the region any more; its file stays. */
  private void forget(Region region) {
    index.forget(region);
    region.close();
  }

  /**
   * Gives up the region that began longest ago, of those that this process does not fill, if so
   * little of the disk is free that others need it.
   */
  void giveBackIfScarce() throws IOException {
    Region oldest = space.isScarce() ? oldest().findFirst().orElse(null) : null;
    if (oldest != null && isStill(oldest.header.number(), oldest)) {
      giveUp(oldest);
    }
  }

  private Stream<Region> oldest() {
    return known().filter(e -> e != own).sorted(Comparator.comparingLong(region -> region.began));
  }

  private Stream<Region> known() {
    return IntStream.range(0, maker.regions()).mapToObj(index::region).flatMap(Stream::ofNullable);
  }

  /**
   * Looks at what others have done, {@code beforeEach} file; fails only if all of them do, or the
   * directory is refused. Whether others have given up a region.
   */
  boolean look(Runnable beforeEach) throws IOException {
    IOException failure = null;
    boolean isAnySeen = false;
    boolean isAnyGone = false;
    for (int number = 0; number < maker.regions(); number++) {
      beforeEach.run();
      Region before = index.region(number);
      try {
        look(number);
        isAnySeen = true;
        isAnyGone |= before != null && before != index.region(number);
      } catch (RefusedDirectoryException e) {
        // It would be for each other file as well, at the cost of a probe there.
        known().filter(region -> region != own).forEach(this::forget);
        throw e;
      } catch (IOException e) {
        failure = e;
      }
    }
    if (!isAnySeen && failure != null) {
      throw failure;
    }
    return isAnyGone;
  }

  private void look(int number) throws IOException {
    Region known = index.region(number);
    if (known != null && known == own) {
      return;
    }
    Region now = maker.look(number, known);
    if (now != known) {
      if (known != null) {
        forget(known);
      }
      if (now != null) {
        index.enter(now);
      }
    }
    if (now != null && now.isShared()) {
      RegionTable.scan(now, index::add);
    }
  }

  /** Chunks stand in a region that {@link #next} gave; makes them known to all. */
  void appended(Region region, List<Place> chunks) throws IOException {
    if (region.isShared()) {
      RegionTable.append(region, chunks);
    }
    chunks.forEach(index::add);
  }

  /** For good, once: what the index knows leads to nothing that can be read. */
  void close() {
    known().forEach(Region::close);
  }

  /** Bytes that the regions take on disk, as far as is known in memory. */
  long bytes() {
    return known().mapToLong(e -> (long) e.nextSlot * Region.SLOT_BYTES).sum();
  }

  long capacityBytes() {
    return maker.regions() * maker.layout().regionBytes();
  }
}
