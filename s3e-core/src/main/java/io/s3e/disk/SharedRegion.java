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
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One region that processes share, with what this process knows of it: its files, what was read of
 * its log, and its lock while that is this process's. States and invariants: {@link SharedRegions}.
 *
 * <p><b>Threads.</b> {@link #take}, {@link #giveBack}, {@link #resume}, {@link #recycle}, {@link
 * #appended}, {@link #finished} and {@link #isHalfFull} are the appending thread's. The others are
 * any thread's. The log is read and written with this object held.
 */
final class SharedRegion implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SharedRegion.class);

  private static final long GROWS_NANOS = TimeUnit.SECONDS.toNanos(1);

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
  private final RegionLog log;

  // Guarded by this object.
  /** Behind the last record that was read; 0 if the log is to be read from its beginning. */
  private long position;

  // Changed with this object held; read by anybody.
  private volatile boolean isOwn;
  private volatile long beganMillis;

  /** When the log was last found longer than before. */
  private volatile long grewNanos;

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
    this.log = new RegionLog(logFile, region.number(), region.bytes());
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
    return beganMillis;
  }

  /** Whether its log has grown lately. */
  boolean isGrowing(long nowNanos) {
    return nowNanos - grewNanos < GROWS_NANOS;
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
        tail();
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
   */
  void refresh(boolean look) throws IOException {
    if (!isReplayed || isOwn) {
      return;
    }
    synchronized (this) {
      if (!isOwn) {
        if (look) {
          reopenIfReplaced();
        }
        tail();
      }
    }
  }

  /**
   * Reads what the log has more, if its length says that it has. Holds this object. A log that was
   * begun anew and is as long as before is found when its chunks are read.
   */
  private void tail() throws IOException {
    long size = log.size();
    if (size != position) {
      tail(size);
    }
  }

  /** Reads what the log has more, or all of it if it is another one. Holds this object. */
  private void tail(long size) throws IOException {
    Header header = log.header();
    if (header == null) {
      if (region.generation() != 0) {
        directory.index().begin(region, 0, Kind.LASTING, null);
      }
      position = 0;
      return;
    }
    boolean isSame = header.generation() == region.generation();
    if (!isSame || position == 0 || size < position) {
      begin(header);
    }
    long before = position;
    position = log.scan(before, header.generation(), new IndexRecord(), this::add);
    if (position > before) {
      grewNanos = System.nanoTime();
    }
  }

  private void begin(Header header) {
    CacheKey secret = directory.key();
    RegionKey sealedWith = secret == null ? null : RegionKey.of(secret, header.salt());
    directory.index().begin(region, header.generation(), header.kind(), sealedWith);
    beganMillis = header.beganMillis();
    position = RegionLog.FIRST;
  }

  private void add(IndexRecord record) {
    if (record.type() != IndexRecord.Type.CHUNK) {
      return;
    }
    StoredObject object = record.object(directory.objects());
    if (object != null && record.fits(object, region.bytes())) {
      boolean unused =
          directory
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

  /** As {@link Regions#isStill}. */
  boolean isStill(int generation) throws IOException {
    if (isOwn) {
      return region.generation() == generation;
    }
    Header header = log.header();
    if (header != null && header.generation() == generation) {
      return true;
    }
    synchronized (this) {
      if (!isOwn && region.generation() == generation) {
        // The index does not know yet; the next refresh will.
        position = 0;
        grewNanos = System.nanoTime();
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
    position = 0;
    directory.index().begin(region, 0, Kind.LASTING, null);
    LOG.warn(
        "Files of {} in {} were deleted or replaced; opened anew",
        this,
        directory.instance().path());
  }

  /** Tries to become the one that writes to the region; its log has been read then. */
  boolean take() throws IOException {
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
        // The header is read whatever the length: the next generation must be one more than its.
        tail(log.size());
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
  void giveBack() throws IOException {
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
  Region resume() throws IOException {
    boolean resumed = false;
    try {
      synchronized (this) {
        if (log.size() > position) {
          log.cutOff(position);
        }
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
  Region recycle(Kind kind) throws IOException {
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
        log.begin(header);
        begin(header);
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
    int bytes = 0;
    for (Appended chunk : chunks) {
      byte[] name = chunk.object().identity();
      bytes += IndexRecord.BYTES + (name == null ? 0 : IndexRecord.nameRecordBytes(name));
    }
    ByteBuffer records = ByteBuffer.allocate(bytes);
    for (Appended chunk : chunks) {
      byte[] name = chunk.object().identity();
      if (name != null && name.length <= IndexRecord.MOST_NAME_BYTES && named.add(chunk.object())) {
        IndexRecord.putName(records, region.generation(), chunk.object(), name);
      }
      IndexRecord.putChunk(records, region.generation(), chunk);
    }
    int length = records.flip().remaining();
    synchronized (this) {
      log.append(records, position);
      position += length;
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
