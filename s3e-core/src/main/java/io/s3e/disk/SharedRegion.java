package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import io.s3e.disk.IndexRecord.Header;
import io.s3e.disk.Region.Filling;
import io.s3e.disk.RegionFiles.Appended;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One region that processes share, with what this process knows of it: its files, and how far its
 * log was read. Invariants: {@link SharedFiles}.
 *
 * <p><b>States.</b> <i>Unknown</i>: nothing of the region is in the index, and its log is to be
 * read from the front, if there is one. <i>Known</i>: the index has the generation of the header
 * that was read or written last, with all chunks up to a place in the log. <i>Own</i>, from {@link
 * #take} to {@link #giveBack}: known to the end, locked, and written by this process alone.
 *
 * <p><b>Threads.</b> {@link #refresh} and {@link #isStill} are any thread's, {@link #close} too;
 * the rest is the appending thread's. Files are opened and logs read with this object held.
 */
final class SharedRegion implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SharedRegion.class);

  /** The directory of a region; the same for all of them. */
  record Place(
      DiskIo io,
      SharedInstance instance,
      Layout layout,
      ChunkIndex index,
      @Nullable CacheKey key,
      SecureRandom random) {

    /** To be called before a file is made: the directory may be gone, or be another's. */
    void enterAgain() throws IOException {
      instance.enterAgain();
      Layout present = Layout.enter(io, instance.path(), layout);
      if (!present.equals(layout)) {
        throw new IOException(instance.path() + " was laid out anew, in another way");
      }
    }
  }

  /**
   * The two files of the region, as they were found by their names.
   *
   * @param dataIdentity of the file that had the name when it was opened
   */
  private record Held(
      OpenFile data,
      OpenFile logFile,
      RegionLog log,
      @Nullable Object dataIdentity,
      @Nullable Object logIdentity) {}

  private final Place place;
  private final Region region;
  private final Path dataPath;
  private final Path logPath;
  private volatile @Nullable Held held;

  /** Behind the last record that the index knows; 0 while the region is unknown. */
  private long position;

  private volatile boolean closed;

  /** Written by the appending thread. */
  private volatile @Nullable ProcessLock lock;

  SharedRegion(Place place, Region region) {
    this.place = place;
    this.region = region;
    this.dataPath = place.instance().dataOf(region.number());
    this.logPath = place.instance().logOf(region.number());
  }

  /**
   * Looks at what another process has written.
   *
   * @return whether there was anything to look at
   */
  synchronized boolean refresh() throws IOException {
    if (region.isOwn() || closed || !isInPlace(false)) {
      return false;
    }
    read();
    return true;
  }

  /**
   * Holds the files that have the names now; what is known of others is forgotten.
   *
   * @param make whether missing files are made
   * @return false if they are not there
   */
  private boolean isInPlace(boolean make) throws IOException {
    DiskIo io = place.io();
    Object data = io.identityOf(dataPath);
    Object logs = io.identityOf(logPath);
    Held before = held;
    if (before != null
        && data != null
        && data.equals(before.dataIdentity())
        && logs != null
        && logs.equals(before.logIdentity())) {
      return true;
    }
    if (before != null) {
      LOG.debug("The files of {} in {} were deleted or replaced", region, place.instance().path());
      forget();
      drop(before);
    }
    if ((data == null || logs == null) && !make) {
      return false;
    }
    open(io);
    return true;
  }

  private void open(DiskIo io) throws IOException {
    // Files of these names may be those of a cache that was laid out anew, in another way.
    place.enterAgain();
    OpenFile data = io.openOrCreate(dataPath);
    OpenFile logFile = null;
    boolean opened = false;
    try {
      logFile = io.openOrCreate(logPath);
      RegionLog log = new RegionLog(logFile, region.number(), region.bytes());
      held = new Held(data, logFile, log, io.identityOf(dataPath), io.identityOf(logPath));
      region.hold(data);
      region.allocatedUntil(data.size());
      opened = true;
    } finally {
      if (!opened || closed) {
        held = null;
        region.hold(null);
        closeQuietly(data);
        if (logFile != null) {
          closeQuietly(logFile);
        }
      }
    }
  }

  private void drop(Held before) {
    held = null;
    region.hold(null);
    region.allocatedUntil(0);
    closeQuietly(before.data());
    closeQuietly(before.logFile());
  }

  private RegionLog log() throws IOException {
    Held files = held;
    if (files == null) {
      throw new IOException(logPath + " is not open");
    }
    return files.log();
  }

  /** Reads what the log has more, or all of it if it is another one. */
  private void read() throws IOException {
    RegionLog log = log();
    long size = log.size();
    // Others may have emptied it, or made it grow.
    region.allocatedUntil(region.file().size());
    Header header = log.header();
    if (header == null) {
      forget();
      return;
    }
    if (header.generation() != region.generation() || position == 0 || size < position) {
      enter(header);
    }
    if (size > position) {
      position = log.scan(position, header.generation(), this::add);
    }
  }

  private void add(IndexRecord record) {
    StoredObject object = record.object();
    if (object != null && record.fits(object, region.bytes())) {
      boolean unused =
          place
              .index()
              .add(
                  region,
                  object,
                  record.chunk(),
                  record.slot(),
                  record.sealHigh(),
                  record.sealLow());
    }
  }

  private void forget() {
    if (region.generation() != 0) {
      place.index().begin(region, Filling.NONE);
    }
    position = 0;
  }

  private void enter(Header header) {
    CacheKey secret = place.key();
    RegionKey sealedWith = secret == null ? null : RegionKey.of(secret, header.salt());
    place
        .index()
        .begin(
            region,
            new Filling(header.generation(), header.kind(), header.beganMillis(), sealedWith));
    position = RegionLog.FIRST;
  }

  /** As {@link RegionFiles#isStill}. */
  boolean isStill(int generation) throws IOException {
    if (region.isOwn()) {
      return region.generation() == generation;
    }
    Header header = log().header();
    if (header != null && header.generation() == generation) {
      return true;
    }
    synchronized (this) {
      if (!region.isOwn() && region.generation() == generation) {
        // Its chunks would cost a read each before the next refresh finds what it has now.
        forget();
      }
    }
    return false;
  }

  /** As {@link RegionFiles#take}. */
  boolean take() throws IOException {
    if (closed) {
      return false;
    }
    if (!isStillInPlace()) {
      place.enterAgain();
    }
    ProcessLock taking = ProcessLock.tryTake(place.instance().lockOf(region.number()));
    if (taking == null) {
      return false;
    }
    boolean taken = false;
    try {
      synchronized (this) {
        boolean unused = isInPlace(true);
        read();
        region.setOwn(true);
        lock = taking;
        taken = true;
      }
    } finally {
      if (!taken) {
        taking.close();
      }
    }
    if (closed) {
      giveBack();
    }
    return !closed;
  }

  private synchronized boolean isStillInPlace() throws IOException {
    return isInPlace(false);
  }

  /** As {@link RegionFiles#giveBack}. */
  void giveBack() throws IOException {
    synchronized (this) {
      region.setOwn(false);
    }
    ProcessLock last = lock;
    lock = null;
    if (last != null) {
      last.close();
    }
  }

  /** As {@link RegionFiles#resume}: cuts off what is behind the last whole record. */
  synchronized boolean resume() throws IOException {
    if (place.key() != null) {
      // Slots may have been used with the key, without a record.
      return false;
    }
    if (log().size() > position) {
      log().cutOff(position);
    }
    return true;
  }

  /** As {@link RegionFiles#begin}. */
  synchronized void begin(Region.Kind kind) throws IOException {
    SecureRandom random = place.random();
    int before = region.generation();
    int generation = before == 0 ? random.nextInt() : before + 1;
    Header header =
        new Header(
            region.number(),
            generation == 0 ? 1 : generation,
            kind,
            region.bytes(),
            System.currentTimeMillis(),
            random.nextLong(),
            random.nextLong());
    log().begin(header);
    enter(header);
  }

  /** As {@link RegionFiles#appended}. */
  synchronized void appended(List<Appended> chunks) throws IOException {
    position = log().append(region.generation(), chunks, position);
  }

  /** As {@link RegionFiles#empty}; the log goes first, so that nobody takes what follows. */
  synchronized void empty() throws IOException {
    log().cutOff(0);
    forget();
    region.file().truncate(0);
    region.allocatedUntil(0);
  }

  @Override
  public void close() {
    closed = true;
    Held files = held;
    ProcessLock last = lock;
    if (files != null) {
      closeQuietly(files.data());
      closeQuietly(files.logFile());
    }
    if (last != null) {
      closeQuietly(last);
    }
  }

  private static void closeQuietly(AutoCloseable open) {
    try {
      open.close();
    } catch (Exception e) {
      LOG.debug("{} cannot be closed", open, e);
    }
  }

  @Override
  public String toString() {
    return region.toString();
  }
}
