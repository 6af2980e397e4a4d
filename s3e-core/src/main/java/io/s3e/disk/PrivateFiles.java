package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import io.s3e.disk.Region.Filling;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Files without a name, for regions that one engine has for itself. The kernel frees them however
 * the JVM ends, nobody else can open them, and what happens to the directory does not concern them.
 * A region gets its file when it is taken first.
 */
final class PrivateFiles implements RegionFiles {
  private static final Logger LOG = LoggerFactory.getLogger(PrivateFiles.class);

  private final DiskIo io;
  private final Path directory;
  private final ChunkIndex index;
  private final @Nullable CacheKey key;
  private final SecureRandom random = new SecureRandom();

  /** The appending thread's. */
  private long begun;

  /** Guarded by itself. */
  private final List<OpenFile> open = new ArrayList<>();

  /** Guarded by {@link #open}. */
  private boolean closed;

  /**
   * @param key encrypts; null writes bytes as they are
   */
  PrivateFiles(DiskIo io, Path directory, ChunkIndex index, @Nullable CacheKey key) {
    this.io = io;
    this.directory = directory;
    this.index = index;
    this.key = key;
  }

  @Override
  public boolean take(Region region) throws IOException {
    OpenFile made = region.isHeld() ? null : create();
    if (made != null) {
      region.hold(made);
    }
    region.setOwn(region.isHeld());
    return region.isHeld();
  }

  /** A file; null if the cache is closed. */
  private @Nullable OpenFile create() throws IOException {
    OpenFile file;
    try {
      file = io.createUnlinked(directory);
    } catch (NoSuchFileException e) {
      // Cleaners of temporary files delete directories that look empty.
      file = io.createUnlinked(DirectoryGuard.realDirectory(directory));
    }
    synchronized (open) {
      if (closed) {
        file.close();
        return null;
      }
      open.add(file);
    }
    return file;
  }

  @Override
  public boolean resume(Region region) {
    return true;
  }

  @Override
  public void begin(Region region, Region.Kind kind) {
    CacheKey secret = key;
    RegionKey sealedWith = null;
    if (secret != null) {
      byte[] salt = new byte[RegionKey.SALT_BYTES];
      random.nextBytes(salt);
      sealedWith = RegionKey.of(secret, salt);
    }
    // Never 0 and never the one before: an emptied region has none, but its file may be read yet.
    begun++;
    int generation = (int) (begun % Integer.MAX_VALUE) + 1;
    index.begin(region, new Filling(generation, kind, begun, sealedWith));
  }

  @Override
  public void appended(Region region, List<Appended> chunks) {
    // There is nobody to be told.
  }

  @Override
  public void empty(Region region) throws IOException {
    index.begin(region, Filling.NONE);
    region.file().truncate(0);
    region.allocatedUntil(0);
  }

  @Override
  public void giveBack(Region region) {
    region.setOwn(false);
  }

  @Override
  public boolean isStill(Region region, int generation) {
    return region.generation() == generation;
  }

  @Override
  public void refresh() {
    // Nobody else writes.
  }

  @Override
  public void close() {
    List<OpenFile> last;
    synchronized (open) {
      closed = true;
      last = List.copyOf(open);
    }
    for (OpenFile each : last) {
      try {
        each.close();
      } catch (IOException e) {
        LOG.debug("A file in {} cannot be closed", directory, e);
      }
    }
  }
}
