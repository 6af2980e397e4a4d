package io.s3e.disk;

import io.s3e.disk.IndexRecord.Header;
import io.s3e.disk.Region.Kind;
import io.s3e.disk.Regions.Appended;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One region that processes share, with what this process knows of it: its files, what was read of
 * its log, and its lock while that is this process's. States and invariants: {@link SharedRegions}.
 *
 * <p><b>Threads.</b> {@link #takeAndRecycle}, {@link #takeAndResume}, {@link #appended}, {@link
 * #finished} and {@link #isHalfFull} are the appending thread's. The others are any thread's. The
 * log is read and written with this object held.
 */
final class SharedRegion implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SharedRegion.class);

  /** Room that is worth going on with what another has left: a chunk, in slots. */
  private static final int LEAST_SLOTS = StoredObject.CHUNK_BYTES / Region.SLOT_BYTES;

  /** The directory of a region; the same for all of them. */
  record Directory(
      DiskIo io,
      SharedInstance instance,
      Layout layout,
      ChunkIndex index,
      StoredObjects objects,
      @Nullable CacheKey key,
      SecureRandom random) {

    /** To be called before a file is opened by name: the directory may be gone, or be another's. */
    void enterAgain() throws IOException {
      instance.enterAgain();
      Layout present = Layout.enter(io, instance.path(), layout);
      if (!present.equals(layout)) {
        throw new IOException(instance.path() + " was laid out anew, in another way");
      }
    }
  }

  private final Directory directory;
  private final Region region;
  private final ReplaceableFile data;
  private final ReplaceableFile logFile;

  /** Changed with this object held. */
  private final RegionTail tail;

  /** Changed with this object held; read by anybody. */
  private volatile boolean isOwn;

  /** Whether the log has been read once; before, refreshing leaves it to replay. */
  private volatile boolean isReplayed;

  private volatile boolean closed;

  /** Written by the appending thread. */
  private volatile @Nullable ProcessLock lock;

  // The appending thread's.
  /** The generation that this process filled as far as it could. */
  private int finishedGeneration;

  /** Objects whose name is in the log. */
  private final Set<StoredObject> named = new HashSet<>();

  private SharedRegion(
      Directory directory, Region region, ReplaceableFile data, ReplaceableFile logFile) {
    this.directory = directory;
    this.region = region;
    this.data = data;
    this.logFile = logFile;
    RegionLog log = new RegionLog(logFile, region.number(), region.bytes());
    this.tail =
        new RegionTail(log, region, directory.index(), directory.objects(), directory.key());
  }

  /** Opens the files of a region, makes them if they are not there, and enters it in the index. */
  static SharedRegion open(Directory directory, int number) throws IOException {
    DiskIo io = directory.io();
    ReplaceableFile data =
        ReplaceableFile.open(io, SharedInstance.dataOf(directory.instance().path(), number));
    ReplaceableFile logFile;
    try {
      logFile = ReplaceableFile.open(io, SharedInstance.logOf(directory.instance().path(), number));
    } catch (IOException e) {
      data.close();
      throw e;
    }
    Region region = new Region(number, directory.layout().regionBytes(), data, 0);
    SharedRegion shared = new SharedRegion(directory, region, data, logFile);
    boolean measured = false;
    try {
      shared.measure();
      measured = true;
    } finally {
      if (!measured) {
        shared.close();
      }
    }
    directory.index().enter(region);
    return shared;
  }

  Region region() {
    return region;
  }

  /** Whether this process is the one that writes to it. */
  boolean isOwn() {
    return isOwn;
  }

  /** When the present generation began, in ms since 1970. */
  long beganMillis() {
    return tail.beganMillis();
  }

  /** Whether its log has grown lately. */
  boolean isGrowing(long nowNanos) {
    return tail.isGrowing(nowNanos);
  }

  /** Whether another has left room in the present generation that this process may fill. */
  boolean isHalfFull(Kind kind) {
    return directory.key() == null
        && region.generation() != 0
        && region.kind() == kind
        && region.generation() != finishedGeneration
        && region.nextSlot() + LEAST_SLOTS <= region.slotCount();
  }

  /** Reads the log for the first time. */
  synchronized void replay() {
    try {
      if (!isOwn && !closed) {
        tail.readIfLonger();
      }
    } catch (IOException e) {
      LOG.debug("{} cannot be read; tried again later", this, e);
    } finally {
      isReplayed = true;
    }
  }

  /**
   * Looks at what another has written, unless the log is still to be replayed.
   *
   * @param look whether the files are to be looked for by their names
   * @return whether there was need to
   */
  boolean refresh(boolean look) throws IOException {
    if (!isReplayed || isOwn) {
      return false;
    }
    synchronized (this) {
      if (isOwn) {
        return false;
      }
      if (look) {
        reopenIfReplaced();
      }
      tail.readIfLonger();
      return true;
    }
  }

  /** As {@link Regions#isStill}. */
  boolean isStill(int generation) throws IOException {
    if (isOwn) {
      return region.generation() == generation;
    }
    Header header = tail.header();
    if (header != null && header.generation() == generation) {
      return true;
    }
    synchronized (this) {
      if (!isOwn && region.generation() == generation) {
        // Its chunks would cost a read each before the next refresh finds what it has now.
        tail.forget();
      }
    }
    return false;
  }

  /** Opens files anew that are not there by their names any more. Holds this object. */
  private void reopenIfReplaced() throws IOException {
    if (data.isInPlace() && logFile.isInPlace()) {
      return;
    }
    directory.enterAgain();
    data.reopen();
    logFile.reopen();
    tail.forget();
    LOG.warn(
        "Files of {} in {} were deleted or replaced; opened anew",
        this,
        directory.instance().path());
  }

  /**
   * Takes the region and begins its next generation.
   *
   * @param expected the generation that it was chosen for
   * @return null if another process writes to it, or has begun a generation meanwhile
   */
  @Nullable Region takeAndRecycle(int expected, Kind kind) throws IOException {
    if (!take()) {
      return null;
    }
    if (region.generation() == expected) {
      return recycle(kind);
    }
    giveBack();
    return null;
  }

  /**
   * Takes the region and goes on behind its last record.
   *
   * @return null if another process writes to it, or it is not half full any more
   */
  @Nullable Region takeAndResume(Kind kind) throws IOException {
    if (!take()) {
      return null;
    }
    if (isHalfFull(kind)) {
      return resume();
    }
    giveBack();
    return null;
  }

  /** Tries to become the one that writes to the region; its log has been read then. */
  private boolean take() throws IOException {
    if (isOwn || closed) {
      return false;
    }
    ProcessLock taking =
        ProcessLock.tryTake(SharedInstance.lockOf(directory.instance().path(), region.number()));
    if (taking == null) {
      return false;
    }
    boolean taken = false;
    try {
      synchronized (this) {
        reopenIfReplaced();
        tail.read();
        measure();
        isOwn = true;
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

  /** Finds how much of the disk its file takes already. */
  private void measure() throws IOException {
    region.allocatedUntil((int) (Math.min(data.size(), region.bytes()) / Region.SLOT_BYTES));
  }

  /** Lets go what {@link #take} took. */
  private void giveBack() throws IOException {
    named.clear();
    synchronized (this) {
      isOwn = false;
    }
    ProcessLock last = lock;
    lock = null;
    if (last != null) {
      last.close();
    }
  }

  /** Goes on behind the last record. */
  private Region resume() throws IOException {
    boolean resumed = false;
    try {
      synchronized (this) {
        tail.cutOff();
      }
      resumed = true;
      return region;
    } finally {
      if (!resumed) {
        giveBack();
      }
    }
  }

  /** Begins the next generation. */
  private Region recycle(Kind kind) throws IOException {
    int before = region.generation();
    int generation = before == 0 ? directory.random().nextInt() : before + 1;
    Header header =
        new Header(
            region.number(),
            generation == 0 ? 1 : generation,
            kind,
            region.bytes(),
            System.currentTimeMillis(),
            directory.random().nextLong(),
            directory.random().nextLong());
    boolean begun = false;
    try {
      synchronized (this) {
        tail.begin(header);
      }
      begun = true;
      return region;
    } finally {
      if (!begun) {
        giveBack();
      }
    }
  }

  /** As {@link Regions#appended}. */
  void appended(List<Appended> chunks) throws IOException {
    ByteBuffer records = RegionLog.records(region.generation(), chunks, named);
    synchronized (this) {
      tail.append(records);
    }
  }

  /** As {@link Regions#finished}. */
  void finished() throws IOException {
    finishedGeneration = region.generation();
    giveBack();
  }

  /** The appending thread has ended, or hangs. */
  @Override
  public void close() {
    closed = true;
    ProcessLock last = lock;
    closeQuietly(data);
    closeQuietly(logFile);
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
