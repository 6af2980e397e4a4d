package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import io.s3e.disk.RegionLog.Header;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A region that the processes of one user share, now and later, with what this process knows of it:
 * a file with a name, a log of what stands in it and a lock.
 *
 * <p><b>Sharing is persistence.</b> A process finds what others have written when it looks at their
 * logs: as soon as it has opened the directory, and again when it misses something, once a second
 * at most ({@link #refresh}). Two processes that begin on the same object may both fetch it.
 *
 * <p><b>States.</b> <i>Unknown</i>: nothing of the region is in the index, and its log is to be
 * read from the front, if there is one. <i>Known</i>: the index has the generation of the header
 * that was read or written last, with all chunks up to a place in the log. <i>Own</i>, from {@link
 * #take} to {@link #giveBack}: known to the end, locked, and written by this process alone.
 *
 * <p><b>Invariants.</b>
 *
 * <ol>
 *   <li>Only the holder of a region's lock writes. The kernel lets the lock go with the process. A
 *       write that hangs when the cache is closed may come after the lock is let go: what it
 *       overwrites has another seal, and is a miss.
 *   <li>A generation begins with its header in the log, which is written before a byte of the
 *       region is. So bytes that were read <em>before</em> the header is found to name their
 *       generation are of that generation ({@link #isStill}); for a region that is this process's
 *       the generation in memory says the same.
 *   <li>A chunk's record is written after its bytes, and carries the generation.
 *   <li>No number of a generation comes again soon: the next one is one more, and where the header
 *       is lost, or there never was one, it is drawn at random.
 *   <li>Nobody goes on with a region that another left half full: slots may have been used without
 *       a record. What it holds is read until its turn comes to be begun anew.
 * </ol>
 *
 * <p><b>Damage.</b> A log that is truncated, replaced or nonsense means that the region is not
 * believed, until it is begun anew. A region of which another generation is found in the header is
 * forgotten at once, until its log is read again. One file that fails is one region less. Names are
 * looked at with each log; if they no longer lead to the files held, these are let go. A region
 * that is this process's is not looked at: if its names go, it is filled to its end all the same,
 * for this process alone, and the space that it takes then comes on top of the cap.
 *
 * <p><b>Cost.</b> To refresh takes five calls of the file system, about 10 µs.
 *
 * <p>Files are opened and logs read with this object held.
 */
final class SharedRegion extends Region {
  private static final Logger LOG = LoggerFactory.getLogger(SharedRegion.class);
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Which files the two names lead to; null where there is none. */
  private record Named(@Nullable Object data, @Nullable Object log) {
    boolean isBoth() {
      return data != null && log != null;
    }
  }

  /** The two files of the region, and those that had its names when they were opened. */
  private record Held(OpenFile data, RegionLog log, Named named) {}

  private final SharedInstance instance;
  private final ChunkIndex index;
  private final Path dataPath;
  private final Path logPath;
  private volatile @Nullable Held held;

  /** Behind the last record that the index knows; 0 while the region is unknown. */
  private long position;

  private volatile boolean closed;

  /** Written by the appending thread. */
  private volatile @Nullable ProcessLock lock;

  SharedRegion(SharedInstance instance, ChunkIndex index, int number, int mostEntries) {
    super(number, instance.layout().regionBytes(), mostEntries);
    this.instance = instance;
    this.index = index;
    this.dataPath = instance.dataOf(number);
    this.logPath = instance.logOf(number);
  }

  /** The regions of an instance, of which nothing is known yet, and which the index knows. */
  static List<Region> enter(SharedInstance instance, ChunkIndex index) {
    int count = instance.layout().regions();
    int most = mostEntries(count, instance.layout().regionBytes());
    return Regions.enter(count, index, number -> new SharedRegion(instance, index, number, most));
  }

  @Override
  synchronized boolean refresh() throws IOException {
    if (isOwn() || closed || !isInPlace(false)) {
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
    Named now = named();
    Held before = held;
    if (before != null) {
      if (now.isBoth() && now.equals(before.named())) {
        return true;
      }
      LOG.debug("The files of {} in {} were deleted or replaced", this, instance.path());
      forget();
      held = null;
      hold(null);
      allocatedUntil(0);
      close(before);
    }
    boolean opens = make || now.isBoth();
    if (opens) {
      open(instance.io());
    }
    return opens;
  }

  private Named named() throws IOException {
    DiskIo io = instance.io();
    return new Named(io.identityOf(dataPath), io.identityOf(logPath));
  }

  private void open(DiskIo io) throws IOException {
    // Files of these names may be those of a cache that was laid out anew, in another way.
    Object directory = instance.enterAgain();
    OpenFile data = io.openOrCreate(dataPath, directory);
    OpenFile log = null;
    boolean opened = false;
    try {
      log = io.openOrCreate(logPath, directory);
      Held files = new Held(data, new RegionLog(log, this), named());
      allocatedUntil(data.size());
      hold(data);
      held = files;
      opened = !closed;
    } finally {
      if (!opened) {
        held = null;
        hold(null);
        closeQuietly(data);
        closeQuietly(log);
      }
    }
  }

  /** The log; never to be written once the lock may have been let go. */
  private RegionLog log() throws IOException {
    Held files = held;
    if (closed || files == null) {
      throw new ClosedChannelException();
    }
    return files.log();
  }

  /** Reads what the log has more, or all of it if it is another one. */
  private void read() throws IOException {
    RegionLog log = log();
    long size = log.file().size();
    // Others may have emptied it, or made it grow.
    allocatedUntil(file().size());
    Header header = log.header();
    if (header == null) {
      forget();
      return;
    }
    if (header.generation() != generation() || position == 0 || size < position) {
      enter(header);
    }
    long before = 0;
    while (before < position && position < size) {
      before = position;
      position = log.scan(before, size, filling(), this::add);
    }
  }

  private void add(Place chunk) {
    boolean unused = index.add(chunk);
  }

  private void forget() {
    if (generation() != 0) {
      index.begin(this, Filling.NONE);
    }
    position = 0;
  }

  private void enter(Header header) {
    byte[] salt = new byte[CacheKey.SALT_BYTES];
    header.salt().get(0, salt);
    SecretKey secret = CacheKey.ofGeneration(instance.key(), salt);
    index.begin(this, new Filling(header.generation(), header.beganMillis(), secret));
    position = RegionLog.FIRST;
  }

  @Override
  boolean isStill(int generation) throws IOException {
    if (isOwn()) {
      return generation() == generation;
    }
    Held files = held;
    if (generation() != generation || files == null) {
      return false;
    }
    try {
      Header header = files.log().header();
      if (header != null && header.generation() == generation) {
        return true;
      }
    } catch (ClosedChannelException e) {
      if (generation() == generation) {
        throw e;
      }
      // The file was let go with all that was in it.
      return false;
    }
    synchronized (this) {
      if (!isOwn() && generation() == generation) {
        // Its chunks would cost a read each before the next refresh finds what it has now.
        forget();
      }
    }
    return false;
  }

  @Override
  boolean take() throws IOException {
    if (closed) {
      return false;
    }
    synchronized (this) {
      if (!isInPlace(false)) {
        Object unused = instance.enterAgain();
      }
    }
    ProcessLock taking = ProcessLock.tryTake(instance.lockOf(number()));
    if (taking == null) {
      return false;
    }
    boolean taken = false;
    try {
      synchronized (this) {
        boolean unused = isInPlace(true);
        read();
        setOwn(true);
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

  @Override
  void giveBack() throws IOException {
    synchronized (this) {
      super.giveBack();
    }
    ProcessLock last = lock;
    lock = null;
    if (last != null) {
      last.close();
    }
  }

  @Override
  synchronized void begin() throws IOException {
    int before = generation();
    int generation = before == 0 ? RANDOM.nextInt() : before + 1;
    Header header =
        new Header(
            generation == 0 ? 1 : generation,
            System.currentTimeMillis(),
            ByteBuffer.wrap(CacheKey.newSalt()));
    log().begin(header);
    enter(header);
  }

  @Override
  synchronized void appended(List<Place> chunks) throws IOException {
    position = log().append(chunks, position);
  }

  /** The log goes first, so that nobody takes what follows. */
  @Override
  synchronized void empty() throws IOException {
    log().file().truncate(0);
    forget();
    file().truncate(0);
    allocatedUntil(0);
  }

  @Override
  void letGo() {
    closed = true;
    closeQuietly(lock);
  }

  @Override
  public void close() {
    letGo();
    close(held);
  }

  private static void close(@Nullable Held files) {
    if (files != null) {
      closeQuietly(files.data());
      closeQuietly(files.log().file());
    }
  }

  private static void closeQuietly(@Nullable AutoCloseable open) {
    try {
      if (open != null) {
        open.close();
      }
    } catch (Exception e) {
      LOG.debug("{} cannot be closed", open, e);
    }
  }
}
