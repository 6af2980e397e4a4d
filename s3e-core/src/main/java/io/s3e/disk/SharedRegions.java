package io.s3e.disk;

import io.s3e.disk.Region.Kind;
import java.io.IOException;
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
 *   <li>A chunk's record is written after its bytes, and carries the generation. What is no whole
 *       record of the header's generation ends the log.
 *   <li>No number of a generation comes again soon: the next one is one more, and where the header
 *       is lost, or there never was one, it is drawn at random.
 *   <li>Where chunks are encrypted, nobody goes on with a region that another left half full: its
 *       slots may have been used with the key, without a record. Others resume behind the last
 *       record, and cut off what is behind it.
 * </ol>
 *
 * <p><b>Damage.</b> A log that is truncated, replaced or nonsense means that the region is not
 * believed, until it is recycled. Names that no longer lead to the files held are looked for every
 * {@value #LOOK_SECONDS} s and before a region is taken; then the new files are opened.
 *
 * <p><b>Threads.</b> {@link #next}, {@link #victim}, {@link #recycle}, {@link #appended} and {@link
 * #finished} are the appending thread's. The others are any thread's. What is known of one region
 * is guarded by its {@link Shared}, which is held while its log is read; one thread at a time
 * refreshes.
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
  private final SharedClaims claims;
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
    this.claims =
        SharedClaims.open(directory.io(), path, directory.objects(), System::currentTimeMillis);
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
    Layout layout = Layout.enter(io, instance.path(), Layout.of(capacityBytes, key));
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

  /** Who fetches what. */
  SharedClaims claims() {
    return claims;
  }

  /** Reads all logs once. What is not read yet is a miss, and left alone by {@link #refresh}. */
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
        if (!claims.isInPlace()) {
          directory.enterAgain();
          claims.reopen();
        }
      }
      claims.refresh();
      boolean lookAtAll = look || now - allNanos > TimeUnit.MILLISECONDS.toNanos(ALL_MILLIS);
      if (lookAtAll) {
        allNanos = now;
      }
      for (SharedRegion shared : all) {
        if (lookAtAll || shared.isGrowing(now)) {
          shared.refresh(look);
        }
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
    for (SharedRegion shared : choice.unused(kind)) {
      if (shared.take()) {
        if (shared.region().generation() == 0) {
          return shared.recycle(kind);
        }
        shared.giveBack();
      }
    }
    for (SharedRegion shared : choice.halfFull(kind)) {
      if (shared.take()) {
        if (shared.isHalfFull(kind)) {
          return shared.resume();
        }
        shared.giveBack();
      }
    }
    for (SharedRegion shared : choice.recyclable(kind)) {
      int generation = shared.region().generation();
      if (shared.take()) {
        if (shared.region().generation() == generation) {
          return shared.recycle(kind);
        }
        // Another process has just recycled it: it is not among the oldest any more.
        shared.giveBack();
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

  /** What is in the region may be read until {@link #next} takes it. */
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
    try {
      claims.close();
    } catch (IOException e) {
      LOG.debug("{} cannot be closed", claims, e);
    }
  }
}
