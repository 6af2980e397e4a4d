package io.s3e.disk;

import io.s3e.disk.Region.Kind;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of a directory that the processes of one user share, now and later: regions with names,
 * each with a log of what stands in it and a lock. Their number and length are fixed by the {@link
 * Layout}.
 *
 * <p><b>Sharing is persistence.</b> A process finds what others have written when it looks at their
 * logs: as soon as it has opened the directory, and again when it misses something, once a second
 * at most ({@link #refresh}). Two processes that begin on the same object may both fetch it.
 *
 * <p><b>Invariants.</b>
 *
 * <ol>
 *   <li>Only the holder of a region's lock writes. The kernel lets the lock go with the process.
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
 * believed, until it is begun anew. A region of which another generation is found in the header is
 * forgotten at once, until its log is read again. One file that fails is one region less. Names are
 * looked at with each log; if they no longer lead to the files held, these are let go. A region
 * that is this process's is not looked at: if its names go, it is filled to its end all the same,
 * for this process alone, and the space that it takes then comes on top of the cap.
 *
 * <p><b>Cost.</b> To refresh takes five calls of the file system, about 10 µs, for each region.
 */
final class SharedFiles implements RegionFiles {
  private static final Logger LOG = LoggerFactory.getLogger(SharedFiles.class);

  private final Layout layout;
  private final List<Region> regions;
  private final List<SharedRegion> all;

  private SharedFiles(SharedRegion.Place place) {
    this.layout = place.layout();
    this.regions = Regions.enter(layout.regions(), layout.regionBytes(), place.index());
    this.all = regions.stream().map(region -> new SharedRegion(place, region)).toList();
  }

  /**
   * Enters an instance; lays it out if nobody has. Nothing is known before {@link #refresh}.
   *
   * @param directory that the user named
   * @param config its scope, application and key
   * @param capacityBytes for the case that nobody has laid it out
   * @param index without any region yet
   * @throws RefusedDirectoryException if it must not be trusted, or is sealed with another key
   */
  static SharedFiles open(
      DiskIo io, Path directory, DiskCacheConfig config, long capacityBytes, ChunkIndex index)
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
    instance.deleteOlder(io);
    return new SharedFiles(
        new SharedRegion.Place(io, instance, layout, index, key, new SecureRandom()));
  }

  /** The regions, by number. */
  List<Region> regions() {
    return regions;
  }

  private SharedRegion of(Region region) {
    return all.get(region.number());
  }

  @Override
  public void refresh() throws IOException {
    Regions.Failures failures = new Regions.Failures();
    boolean isAnyRead = false;
    for (SharedRegion each : all) {
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

  @Override
  public boolean take(Region region) throws IOException {
    return of(region).take();
  }

  @Override
  public boolean resume(Region region) throws IOException {
    return of(region).resume();
  }

  @Override
  public void begin(Region region, Kind kind) throws IOException {
    of(region).begin(kind);
  }

  @Override
  public void appended(Region region, List<Appended> chunks) throws IOException {
    of(region).appended(chunks);
  }

  @Override
  public void empty(Region region) throws IOException {
    of(region).empty();
  }

  @Override
  public void giveBack(Region region) throws IOException {
    of(region).giveBack();
  }

  @Override
  public boolean isStill(Region region, int generation) throws IOException {
    return of(region).isStill(generation);
  }

  @Override
  public void close() {
    all.forEach(SharedRegion::close);
  }
}
