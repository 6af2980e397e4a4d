package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import io.s3e.disk.Region.Kind;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The regions of a cache that one engine has for itself: files without a name. The kernel frees
 * them however the JVM ends, nobody else can open them, and what happens to the directory does not
 * concern them.
 *
 * <p><b>States of a region.</b> <i>Free</i> (begun anew or just made), <i>appended to</i> (between
 * {@link #next} and {@link #finished}), <i>filled</i>. Files are made one after the other until
 * there are as many as the cap has room for or the disk becomes too full; from then on one region
 * is kept free, so that there is a place for the chunks of a victim that were read.
 *
 * <p>All but {@link #isStill}, {@link #bytes} and {@link #close} is the appending thread's.
 */
final class PrivateRegions implements Regions {
  private static final Logger LOG = LoggerFactory.getLogger(PrivateRegions.class);

  private final DiskIo io;
  private final Path directory;
  private final ChunkIndex index;
  private final DiskSpace space;
  private final long regionBytes;
  private final int most;
  private final @Nullable CacheKey key;
  private final SecureRandom random = new SecureRandom();

  // The appending thread's.
  private final Deque<Region> free = new ArrayDeque<>();
  private final Deque<Region> lasting = new ArrayDeque<>();
  private final Deque<Region> scanned = new ArrayDeque<>();

  /** Guarded by itself. */
  private final List<Region> all = new ArrayList<>();

  /** Guarded by {@link #all}. */
  private boolean closed;

  /**
   * @param capacityBytes of which each region has a part, at least {@link Region#LEAST_BYTES} times
   *     {@link Region#USUAL_COUNT}
   * @param key encrypts; null writes bytes as they are
   */
  PrivateRegions(
      DiskIo io,
      Path directory,
      ChunkIndex index,
      DiskSpace space,
      long capacityBytes,
      @Nullable CacheKey key) {
    this.io = io;
    this.directory = directory;
    this.index = index;
    this.space = space;
    this.regionBytes = Region.bytesFor(capacityBytes, Region.USUAL_COUNT);
    this.most = (int) Math.min(ChunkIndex.MOST_REGIONS, capacityBytes / regionBytes);
    this.key = key;
  }

  @Override
  public @Nullable Region next(Kind kind) throws IOException {
    Region region = free.poll();
    if (region == null) {
      region = mayMake() ? make() : victim(kind);
    }
    if (region == null) {
      return null;
    }
    filled(region).remove(region);
    begin(region, kind);
    return region;
  }

  /** The filled regions of that one's kind, oldest first. */
  private Deque<Region> filled(Region like) {
    return like.kind() == Kind.SCANNED ? scanned : lasting;
  }

  private boolean mayMake() {
    synchronized (all) {
      return all.size() < most && !closed && space.mayGrow();
    }
  }

  private Region make() throws IOException {
    OpenFile file = createFile();
    synchronized (all) {
      if (closed) {
        file.close();
        throw new IOException("the cache is closed");
      }
      Region made = new Region(all.size(), regionBytes, file, 0);
      index.enter(made);
      all.add(made);
      return made;
    }
  }

  private OpenFile createFile() throws IOException {
    try {
      return io.createUnlinked(directory);
    } catch (NoSuchFileException e) {
      // Cleaners of temporary files delete directories that look empty.
      Path unused = DirectoryGuard.realDirectory(directory);
      return io.createUnlinked(directory);
    }
  }

  private void begin(Region region, Kind kind) {
    CacheKey secret = key;
    RegionKey sealedWith = null;
    if (secret != null) {
      byte[] salt = new byte[RegionKey.SALT_BYTES];
      random.nextBytes(salt);
      sealedWith = RegionKey.of(secret, salt);
    }
    index.begin(region, region.generation() + 1, kind, sealedWith);
  }

  @Override
  public boolean hasGrownOnes() {
    return !free.isEmpty() || !lasting.isEmpty() || !scanned.isEmpty();
  }

  @Override
  public @Nullable Region victim(Kind kind) {
    if (!free.isEmpty() || mayMake()) {
      return null;
    }
    int withNext = scanned.size() + (kind == Kind.SCANNED ? 1 : 0);
    boolean ofScans = lasting.isEmpty() || withNext > Region.scannedShare(most);
    Region oldest = (ofScans ? scanned : lasting).peek();
    return oldest == null ? lasting.peek() : oldest;
  }

  @Override
  public void recycle(Region victim) {
    filled(victim).remove(victim);
    begin(victim, victim.kind());
    free.add(victim);
  }

  @Override
  public void appended(Region region, List<Appended> chunks) {
    // There is nobody to be told.
  }

  @Override
  public void finished(Region region) {
    filled(region).add(region);
  }

  @Override
  public boolean isStill(Region region, int generation) {
    return region.generation() == generation;
  }

  @Override
  public void refresh(long maxAgeNanos) {
    // Nobody else writes.
  }

  @Override
  public long bytes() {
    synchronized (all) {
      return all.stream()
          .mapToLong(region -> (long) region.allocatedSlots() * Region.SLOT_BYTES)
          .sum();
    }
  }

  @Override
  public long capacityBytes() {
    return most * regionBytes;
  }

  @Override
  public void close() {
    List<Region> last;
    synchronized (all) {
      closed = true;
      last = List.copyOf(all);
    }
    for (Region region : last) {
      try {
        region.file().close();
      } catch (IOException e) {
        LOG.debug("{} cannot be closed", region, e);
      }
    }
  }
}
