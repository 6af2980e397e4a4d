package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import io.s3e.disk.IndexRecord.Header;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * One region of an instance, opened from outside with its log. The header is the one that stood in
 * the log when the region was opened. One thread; every method may block on the disk.
 */
final class InspectedRegion implements AutoCloseable {
  private final Path lockPath;
  private final Path dataPath;
  private final OpenFile data;
  private final OpenFile logFile;
  private final RegionLog log;
  private final @Nullable Header header;

  private InspectedRegion(Path instance, int number, Layout layout, OpenFile data, OpenFile logFile)
      throws IOException {
    this.lockPath = SharedInstance.lockOf(instance, number);
    this.dataPath = SharedInstance.dataOf(instance, number);
    this.data = data;
    this.logFile = logFile;
    this.log = new RegionLog(logFile, number, layout.regionBytes());
    this.header = log.header();
  }

  /** Opens a region; null if its files are not there. */
  static @Nullable InspectedRegion open(DiskIo io, Path instance, int number, Layout layout)
      throws IOException {
    Path data = SharedInstance.dataOf(instance, number);
    Path log = SharedInstance.logOf(instance, number);
    if (!Files.isRegularFile(data, LinkOption.NOFOLLOW_LINKS)
        || !Files.isRegularFile(log, LinkOption.NOFOLLOW_LINKS)) {
      return null;
    }
    OpenFile dataFile = io.openOrCreate(data);
    OpenFile logFile = null;
    boolean opened = false;
    try {
      logFile = io.openOrCreate(log);
      InspectedRegion both = new InspectedRegion(instance, number, layout, dataFile, logFile);
      opened = true;
      return both;
    } finally {
      if (!opened) {
        dataFile.close();
        if (logFile != null) {
          logFile.close();
        }
      }
    }
  }

  Path dataPath() {
    return dataPath;
  }

  OpenFile data() {
    return data;
  }

  @Nullable Header header() {
    return header;
  }

  /** Whether a living process appends to the region. */
  boolean isHeld() throws IOException {
    try (ProcessLock lock = ProcessLock.tryTakeExisting(lockPath)) {
      return lock == null;
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  /** Shows all records behind the header to {@code visitor}. */
  void scan(RegionLog.Visitor visitor) throws IOException {
    Header present = header;
    if (present != null) {
      long unused = log.scan(RegionLog.FIRST, present.generation(), new IndexRecord(), visitor);
    }
  }

  /**
   * Empties the region. The log goes first: from then on no process takes what the region holds.
   *
   * @return false if the region was left alone, because a living process appends to it
   */
  boolean clear(boolean evenIfHeld) throws IOException {
    try (ProcessLock lock = ProcessLock.tryTake(lockPath)) {
      if (lock == null && !evenIfHeld) {
        return false;
      }
      logFile.truncate(0);
      data.truncate(0);
      return true;
    }
  }

  @Override
  public void close() throws IOException {
    try {
      data.close();
    } finally {
      logFile.close();
    }
  }
}
