package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A region that one engine has for itself: a file without a name, made when the region is taken
 * first. The kernel frees it however the JVM ends, nobody else can open it, and what happens to the
 * directory does not concern it.
 */
final class PrivateRegion extends Region {
  private static final Logger LOG = LoggerFactory.getLogger(PrivateRegion.class);

  private final DiskIo io;
  private final Path directory;
  private final ChunkIndex index;
  private final @Nullable CacheKey key;

  /** Generations so far; the appending thread's. */
  private int begun;

  /** Guarded by this. */
  private boolean closed;

  /**
   * @param key encrypts; null writes bytes as they are
   */
  PrivateRegion(
      DiskIo io,
      Path directory,
      ChunkIndex index,
      @Nullable CacheKey key,
      int number,
      long bytes,
      int mostEntries) {
    super(number, bytes, mostEntries);
    this.io = io;
    this.directory = directory;
    this.index = index;
    this.key = key;
  }

  @Override
  boolean take() throws IOException {
    OpenFile made = isHeld() ? null : create();
    synchronized (this) {
      setOwn(!closed);
      if (made != null && closed) {
        made.close();
      } else if (made != null) {
        hold(made);
      }
    }
    return isOwn();
  }

  private OpenFile create() throws IOException {
    try {
      return io.createUnlinked(directory);
    } catch (NoSuchFileException e) {
      // Cleaners of temporary files delete directories that look empty.
      return io.createUnlinked(DirectoryGuard.realDirectory(directory));
    }
  }

  @Override
  void begin() {
    // Never the one before: an emptied region has none, but its file may be read yet.
    begun = begun % Integer.MAX_VALUE + 1;
    SecretKey secret = CacheKey.ofGeneration(key, CacheKey.newSalt());
    index.begin(this, new Filling(begun, System.nanoTime(), secret));
  }

  @Override
  void empty() throws IOException {
    index.begin(this, Filling.NONE);
    file().truncate(0);
    allocatedUntil(0);
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    try {
      if (isHeld()) {
        file().close();
      }
    } catch (IOException e) {
      LOG.debug("A file in {} cannot be closed", directory, e);
    }
  }
}
