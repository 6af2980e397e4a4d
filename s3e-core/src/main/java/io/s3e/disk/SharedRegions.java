package io.s3e.disk;

import io.s3e.disk.Region.Kind;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The regions of a directory that the processes of one user share: files with names, each with a
 * log of what stands in it and a lock. Their number is fixed ({@link Layout}): that is the hard
 * cap, which nobody has to keep count of.
 *
 * <p><b>States of a region</b>, as one process sees it:
 *
 * <ul>
 *   <li><i>another's</i>, or nobody's: its log is read from time to time ({@link #refresh}), and
 *       the index knows what it had when it was read last;
 *   <li><i>this one's</i>, from {@link #next} to {@link #finished}: the process holds its lock, has
 *       read its log to the end, and is the only one that writes to file and log.
 * </ul>
 *
 * <p><b>Invariants.</b>
 *
 * <ol>
 *   <li>Only the holder of the lock writes. The kernel lets the lock go with the process.
 *   <li>A generation begins with its header in the log, which is written before a byte of the
 *       region is. So bytes that were read <em>before</em> the header is found to name their
 *       generation are of that generation ({@link #isStill}); for a region that is this process's
 *       the generation in memory says the same.
 *   <li>A chunk's record is written after its bytes, and carries the generation. The log ends at
 *       the first thing that is no whole record of the header's generation.
 *   <li>No number of a generation comes again soon: the next one is one more, and where the header
 *       is lost, or there never was one, it is drawn at random.
 *   <li>Where chunks are encrypted, nobody goes on with a region that another left half full: its
 *       slots may have been used with the key, without a record. Others resume behind the last
 *       record, and cut off what is behind it.
 * </ol>
 *
 * <p><b>Damage.</b> A log that is truncated, replaced or nonsense means that the region is not
 * believed, until it is recycled. A region of which another generation is found in the header is
 * forgotten at once, until its log is read again. One file that fails leaves the others to be used.
 *
 * <p>The names of another's region are looked at every {@value #LOOK_SECONDS} s and before the
 * region is taken; if they no longer lead to the files held, the new files are opened. A region
 * that is this process's is not looked at: if its names go, it is filled to its end all the same,
 * for this process alone, and the space that it takes then, one region for each kind, comes on top
 * of the cap.
 *
 * <p><b>Threads.</b> {@link #next}, {@link #victim}, {@link #recycle}, {@link #appended} and {@link
 * #finished} are the appending thread's. The others are any thread's. Each {@link SharedRegion}
 * guards what is known of it, and is held while its log is read; one thread at a time refreshes.
 *
 * <p><b>Memory.</b> {@link #bytes} and {@link #capacityBytes} touch memory alone: gauges call them,
 * on threads that may be interrupted, and an interrupt closes the file that its thread works on.
 *
 * <p><b>Cost.</b> To refresh is one fstat, 1 µs, for each log that has lately grown, and every
 * {@value #ALL_MILLIS} ms one for each that is another's: {@value Layout#USUAL_COUNT} of them,
 * unless the cap is above 16 GiB.
 */
final class SharedRegions implements Regions {
  private static final Logger LOG = LoggerFactory.getLogger(SharedRegions.class);

  private static final int LOOK_SECONDS = 10;

  /** A log that has not grown for a while is looked at less often. */
  static final int ALL_MILLIS = 20;

  private final SharedRegion.Directory directory;
  private final List<SharedRegion> all = new ArrayList<>();
  private final RegionChoice choice;
  private final ReentrantLock refreshing = new ReentrantLock();

  private volatile long refreshedNanos = System.nanoTime() - TimeUnit.HOURS.toNanos(1);

  // Guarded by refreshing.
  private long lookedNanos = System.nanoTime();
  private long allNanos = lookedNanos - TimeUnit.HOURS.toNanos(1);

  private SharedRegions(SharedRegion.Directory directory) throws IOException {
    this.directory = directory;
    Path path = directory.instance().path();
    this.choice = new RegionChoice(all, new DiskSpace(path));
  }

  /**
   * Opens an instance; lays it out if nobody has. Takes a few ms: what is there is read in the
   * background, and is a miss before.
   *
   * @param directory that the user named
   * @param config its scope, application and key
   * @param capacityBytes for the case that nobody has laid it out
   * @param index without any region yet
   * @throws RefusedDirectoryException if it must not be trusted, or is sealed with another key
   */
  static SharedRegions open(
      DiskIo io,
      Path directory,
      DiskCacheConfig config,
      long capacityBytes,
      ChunkIndex index,
      StoredObjects objects)
      throws IOException {
    SharedRegions regions = openUnread(io, directory, config, capacityBytes, index, objects);
    Background.daemon("s3e-disk-replay", regions::replay).start();
    return regions;
  }

  /** As {@link #open}; nothing is known before {@link #replay}. */
  static SharedRegions openUnread(
      DiskIo io,
      Path directory,
      DiskCacheConfig config,
      long capacityBytes,
      ChunkIndex index,
      StoredObjects objects)
      throws IOException {
    CacheKey key = config.key();
    SharedInstance instance = SharedInstance.enter(directory, config.scope(), config.application());
    Layout wanted = Layout.of(capacityBytes, key);
    Layout layout = Layout.enter(io, instance.path(), wanted);
    // The automatic capacity follows what is free, which differs from one process to the next.
    if (config.capacityBytes() != 0 && layout.capacityBytes() != wanted.capacityBytes()) {
      LOG.warn(
          "The cache in {} was laid out for {} bytes and stays so, not {} as set here; it takes"
              + " another capacity when it was deleted",
          instance.path(),
          layout.capacityBytes(),
          wanted.capacityBytes());
    }
    if (!layout.isFor(key)) {
      throw new RefusedDirectoryException(
          instance.path().toString(),
          layout.isSealed() ? "is encrypted with another key" : "is not encrypted",
          key == null ? "a cache that is not encrypted" : "one that is encrypted with this key",
          null);
    }
    SharedRegions regions =
        new SharedRegions(
            new SharedRegion.Directory(
                io, instance, layout, index, objects, key, new SecureRandom()));
    boolean opened = false;
    try {
      for (int number = 0; number < layout.regions(); number++) {
        regions.all.add(SharedRegion.open(regions.directory, number));
      }
      opened = true;
      return regions;
    } finally {
      if (!opened) {
        regions.close();
      }
    }
  }

  /** Reads all logs once. A chunk whose log is not read yet is a miss. */
  void replay() {
    all.forEach(SharedRegion::replay);
  }

  @Override
  public void refresh(long maxAgeNanos) throws IOException {
    if (System.nanoTime() - refreshedNanos < maxAgeNanos) {
      return;
    }
    refreshing.lock();
    try {
      long now = System.nanoTime();
      if (now - refreshedNanos < maxAgeNanos) {
        return;
      }
      boolean look = now - lookedNanos > TimeUnit.SECONDS.toNanos(LOOK_SECONDS);
      if (look) {
        lookedNanos = now;
      }
      boolean lookAtAll = look || now - allNanos > TimeUnit.MILLISECONDS.toNanos(ALL_MILLIS);
      if (lookAtAll) {
        allNanos = now;
      }
      Failures failures = new Failures();
      boolean isAnyRead = false;
      for (SharedRegion shared : all) {
        if (lookAtAll || shared.isGrowing(now)) {
          try {
            isAnyRead |= shared.refresh(look);
          } catch (IOException e) {
            failures.add(shared, e);
          }
        }
      }
      if (lookAtAll && !isAnyRead) {
        failures.throwFirst();
      }
      refreshedNanos = now;
    } finally {
      refreshing.unlock();
    }
  }

  @Override
  public boolean isStill(Region region, int generation) throws IOException {
    return all.get(region.number()).isStill(generation);
  }

  @Override
  public @Nullable Region next(Kind kind) throws IOException {
    Failures failures = new Failures();
    Region region = firstOf(choice.unused(kind), failures, each -> each.takeAndRecycle(0, kind));
    if (region == null) {
      region = firstOf(choice.halfFull(kind), failures, each -> each.takeAndResume(kind));
    }
    if (region == null) {
      region =
          firstOf(
              choice.recyclable(kind),
              failures,
              each -> each.takeAndRecycle(each.region().generation(), kind));
    }
    if (region == null) {
      failures.throwFirst();
    }
    return region;
  }

  /** A way to get a region to append to; null if the region is not to be had. */
  private interface Taking {
    @Nullable Region of(SharedRegion shared) throws IOException;
  }

  private static @Nullable Region firstOf(
      List<SharedRegion> candidates, Failures failures, Taking taking) throws IOException {
    for (SharedRegion shared : candidates) {
      try {
        Region region = taking.of(shared);
        if (region != null) {
          return region;
        }
      } catch (IOException e) {
        failures.add(shared, e);
      }
    }
    return null;
  }

  @Override
  public boolean hasGrownOnes() {
    return all.stream().anyMatch(each -> !each.isOwn() && each.region().allocatedSlots() > 0);
  }

  @Override
  public @Nullable Region victim(Kind kind) {
    return choice.victim(kind);
  }

  /** The region stays readable until {@link #next} takes it. */
  @Override
  public void recycle(Region chosen) {
    choice.note(chosen);
  }

  @Override
  public void appended(Region region, List<Appended> chunks) throws IOException {
    all.get(region.number()).appended(chunks);
  }

  @Override
  public void finished(Region region) throws IOException {
    all.get(region.number()).finished();
  }

  @Override
  public long bytes() {
    return all.stream()
        .mapToLong(shared -> (long) shared.region().allocatedSlots() * Region.SLOT_BYTES)
        .sum();
  }

  @Override
  public long capacityBytes() {
    return directory.layout().capacityBytes();
  }

  /** The appending thread has ended, or hangs. */
  @Override
  public void close() {
    all.forEach(SharedRegion::close);
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
