package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import io.s3e.disk.IndexRecord.Header;
import io.s3e.disk.Region.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
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

  /** What scans bring has one region in so many. */
  private static final int SCANNED_SHARE = 5;

  private static final int LOOK_SECONDS = 10;

  /** A log that has not grown for a while is looked at less often. */
  static final int ALL_MILLIS = 20;

  private static final long GROWS_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Room that is worth going on with what another has left: a chunk, in slots. */
  private static final int LEAST_SLOTS = StoredObject.CHUNK_BYTES / Region.SLOT_BYTES;

  /** One region with what this process knows of it. */
  private static final class Shared {
    final Region region;
    final ReplaceableFile data;
    final ReplaceableFile logFile;
    final RegionLog log;

    // Guarded by this object.
    /** Behind the last record that was read; 0 if the log is to be read from its beginning. */
    long position;

    // Changed with this object held; read by anybody.
    volatile boolean isOwn;
    volatile long beganMillis;

    /** When the log was last found longer than before. */
    volatile long grewNanos;

    /** Whether the log has been read once; before, refreshing leaves it to replay. */
    volatile boolean isReplayed;

    /** Written by the appending thread. */
    volatile @Nullable ProcessLock lock;

    // The appending thread's.
    /** The generation that this process filled as far as it could. */
    int finishedGeneration;

    /** Objects whose name is in the log. */
    final Set<StoredObject> named = new HashSet<>();

    Shared(Region region, ReplaceableFile data, ReplaceableFile logFile, RegionLog log) {
      this.region = region;
      this.data = data;
      this.logFile = logFile;
      this.log = log;
    }

    @Override
    public String toString() {
      return region.toString();
    }
  }

  /**
   * A region that is to be recycled when there is need.
   *
   * @param generation that it had when it was chosen
   */
  private record Victim(Shared shared, int generation) {}

  private final DiskIo io;
  private final SharedInstance instance;
  private final Layout layout;
  private final ChunkIndex index;
  private final StoredObjects objects;
  private final DiskSpace space;
  private final @Nullable CacheKey key;
  private final SharedClaims claims;
  private final SecureRandom random = new SecureRandom();
  private final List<Shared> all = new ArrayList<>();
  private final ReentrantLock refreshing = new ReentrantLock();

  private volatile long refreshedNanos;
  private volatile boolean closed;

  // Guarded by refreshing.
  private long lookedNanos = System.nanoTime();
  private long allNanos = lookedNanos - TimeUnit.HOURS.toNanos(1);

  // The appending thread's.
  private @Nullable Victim victim;

  private SharedRegions(
      DiskIo io,
      SharedInstance instance,
      Layout layout,
      ChunkIndex index,
      StoredObjects objects,
      DiskSpace space,
      @Nullable CacheKey key)
      throws IOException {
    this.io = io;
    this.instance = instance;
    this.layout = layout;
    this.index = index;
    this.objects = objects;
    this.space = space;
    this.key = key;
    this.claims = SharedClaims.open(io, instance.path(), objects, System::currentTimeMillis);
    this.refreshedNanos = System.nanoTime() - TimeUnit.HOURS.toNanos(1);
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
            io, instance, layout, index, objects, new DiskSpace(instance.path()), key);
    boolean opened = false;
    try {
      for (int number = 0; number < layout.regions(); number++) {
        regions.enter(number);
      }
      opened = true;
      return regions;
    } finally {
      if (!opened) {
        regions.close();
      }
    }
  }

  private void enter(int number) throws IOException {
    ReplaceableFile data = ReplaceableFile.open(io, SharedInstance.dataOf(instance.path(), number));
    ReplaceableFile logFile;
    try {
      logFile = ReplaceableFile.open(io, SharedInstance.logOf(instance.path(), number));
    } catch (IOException e) {
      data.close();
      throw e;
    }
    Region region = new Region(number, layout.regionBytes(), data, 0);
    RegionLog log = new RegionLog(logFile, number, layout.regionBytes());
    all.add(new Shared(region, data, logFile, log));
    index.enter(region);
  }

  /** Who fetches what. */
  SharedClaims claims() {
    return claims;
  }

  /** Reads all logs once. What is not read yet is a miss, and left alone by {@link #refresh}. */
  void replay() {
    for (Shared shared : all) {
      if (closed) {
        return;
      }
      synchronized (shared) {
        try {
          if (!shared.isOwn) {
            tail(shared);
          }
        } catch (IOException e) {
          LOG.debug("{} cannot be read; tried again later", shared, e);
        } finally {
          shared.isReplayed = true;
        }
      }
    }
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
          enterAgain();
          claims.reopen();
        }
      }
      claims.refresh();
      boolean lookAtAll = look || now - allNanos > TimeUnit.MILLISECONDS.toNanos(ALL_MILLIS);
      if (lookAtAll) {
        allNanos = now;
      }
      for (Shared shared : all) {
        boolean isDue = lookAtAll || now - shared.grewNanos < GROWS_NANOS;
        if (isDue && shared.isReplayed && !shared.isOwn) {
          synchronized (shared) {
            if (!shared.isOwn) {
              if (look) {
                reopenIfReplaced(shared);
              }
              tail(shared);
            }
          }
        }
      }
      refreshedNanos = now;
    } finally {
      refreshing.unlock();
    }
  }

  /**
   * Reads what a log has more, if its length says that it has. Holds {@code shared}. One that was
   * begun anew and is as long as before is found when its chunks are read.
   */
  private void tail(Shared shared) throws IOException {
    long size = shared.log.size();
    if (size != shared.position) {
      tail(shared, size);
    }
  }

  /** Reads what a log has more, or all of it if it is another one. Holds {@code shared}. */
  private void tail(Shared shared, long size) throws IOException {
    Region region = shared.region;
    Header header = shared.log.header();
    if (header == null) {
      if (region.generation() != 0) {
        index.begin(region, 0, Kind.LASTING, null);
      }
      shared.position = 0;
      return;
    }
    boolean isSame = header.generation() == region.generation();
    if (!isSame || shared.position == 0 || size < shared.position) {
      begin(shared, header);
    }
    long before = shared.position;
    shared.position =
        shared.log.scan(
            before, header.generation(), new IndexRecord(), record -> add(region, record));
    if (shared.position > before) {
      shared.grewNanos = System.nanoTime();
    }
  }

  private void begin(Shared shared, Header header) {
    CacheKey secret = key;
    RegionKey sealedWith = secret == null ? null : RegionKey.of(secret, header.salt());
    index.begin(shared.region, header.generation(), header.kind(), sealedWith);
    shared.beganMillis = header.beganMillis();
    shared.position = RegionLog.FIRST;
  }

  private void add(Region region, IndexRecord record) {
    if (record.type() != IndexRecord.Type.CHUNK) {
      return;
    }
    StoredObject object = record.object(objects);
    if (object != null && record.fits(object, region.bytes())) {
      boolean unused =
          index.add(
              region, object, record.chunk(), record.slot(), record.sealHigh(), record.sealLow());
    }
  }

  @Override
  public boolean isStill(Region region, int generation) throws IOException {
    Shared shared = all.get(region.number());
    if (shared.isOwn) {
      return region.generation() == generation;
    }
    Header header = shared.log.header();
    if (header != null && header.generation() == generation) {
      return true;
    }
    synchronized (shared) {
      if (!shared.isOwn && region.generation() == generation) {
        // The index does not know yet; the next refresh will.
        shared.position = 0;
        shared.grewNanos = System.nanoTime();
      }
    }
    return false;
  }

  @Override
  public @Nullable Region next(Kind kind) throws IOException {
    if (mayTakeUnused(kind) && space.mayGrow()) {
      for (Shared shared : all) {
        if (shared.region.generation() == 0 && take(shared)) {
          if (shared.region.generation() == 0) {
            return recycle(shared, kind);
          }
          giveBack(shared);
        }
      }
    }
    for (Shared shared : all) {
      if (isHalfFull(shared, kind) && take(shared)) {
        if (isHalfFull(shared, kind)) {
          return resume(shared);
        }
        giveBack(shared);
      }
    }
    return nextRecycled(kind);
  }

  private @Nullable Region nextRecycled(Kind kind) throws IOException {
    List<Shared> candidates = candidates(kind);
    Victim chosen = victim;
    victim = null;
    if (chosen != null
        && chosen.shared().region.generation() == chosen.generation()
        && candidates.remove(chosen.shared())) {
      candidates.add(0, chosen.shared());
    }
    for (Shared shared : candidates) {
      int generation = shared.region.generation();
      if (take(shared)) {
        if (shared.region.generation() == generation) {
          return recycle(shared, kind);
        }
        // Somebody has just recycled it: it is not among the oldest any more.
        giveBack(shared);
      }
    }
    return null;
  }

  /** Regions that may be recycled for a kind, the one that began longest ago first. */
  private List<Shared> candidates(Kind kind) {
    boolean scannedAlone = kind == Kind.SCANNED && scanned() >= scannedShare();
    List<Shared> candidates = new ArrayList<>();
    for (Shared shared : all) {
      Region region = shared.region;
      boolean isOfKind = !scannedAlone || region.kind() == Kind.SCANNED;
      if (!shared.isOwn && region.generation() != 0 && isOfKind) {
        candidates.add(shared);
      }
    }
    candidates.sort(Comparator.comparingLong(shared -> shared.beganMillis));
    return candidates;
  }

  private boolean mayTakeUnused(Kind kind) {
    return kind == Kind.LASTING || scanned() < scannedShare();
  }

  private long scanned() {
    return all.stream()
        .map(shared -> shared.region)
        .filter(region -> region.generation() != 0 && region.kind() == Kind.SCANNED)
        .count();
  }

  private int scannedShare() {
    return Math.max(1, all.size() / SCANNED_SHARE);
  }

  private boolean isHalfFull(Shared shared, Kind kind) {
    Region region = shared.region;
    return key == null
        && region.generation() != 0
        && region.kind() == kind
        && region.generation() != shared.finishedGeneration
        && region.nextSlot() + LEAST_SLOTS <= region.slotCount();
  }

  /** Tries to become the one that writes to a region; its log has been read then. */
  private boolean take(Shared shared) throws IOException {
    if (shared.isOwn || closed) {
      return false;
    }
    ProcessLock lock =
        ProcessLock.tryTake(SharedInstance.lockOf(instance.path(), shared.region.number()));
    if (lock == null) {
      return false;
    }
    boolean taken = false;
    try {
      synchronized (shared) {
        reopenIfReplaced(shared);
        // The header is read whatever the length: the next generation must be one more than its.
        tail(shared, shared.log.size());
        shared.isOwn = true;
        shared.lock = lock;
        taken = true;
      }
    } finally {
      if (!taken) {
        lock.close();
      }
    }
    if (closed) {
      giveBack(shared);
      return false;
    }
    long allocated = Math.min(shared.data.size(), layout.regionBytes());
    shared.region.allocatedUntil((int) (allocated / Region.SLOT_BYTES));
    return true;
  }

  private void giveBack(Shared shared) throws IOException {
    shared.named.clear();
    synchronized (shared) {
      shared.isOwn = false;
    }
    ProcessLock lock = shared.lock;
    shared.lock = null;
    if (lock != null) {
      lock.close();
    }
  }

  private Region resume(Shared shared) throws IOException {
    synchronized (shared) {
      if (shared.log.size() > shared.position) {
        shared.log.cutOff(shared.position);
      }
    }
    return shared.region;
  }

  private Region recycle(Shared shared, Kind kind) throws IOException {
    Region region = shared.region;
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
    boolean begun = false;
    try {
      synchronized (shared) {
        shared.log.begin(header);
        begin(shared, header);
      }
      begun = true;
      return region;
    } finally {
      if (!begun) {
        giveBack(shared);
      }
    }
  }

  /**
   * Chosen without its lock, as nothing of it goes before {@link #next} finds no other: if somebody
   * recycles it before, another is taken then.
   */
  @Override
  public boolean hasGrownOnes() {
    return all.stream().anyMatch(each -> !each.isOwn && each.region.allocatedSlots() > 0);
  }

  @Override
  public @Nullable Region victim(Kind kind) {
    boolean unused =
        mayTakeUnused(kind)
            && all.stream().anyMatch(shared -> shared.region.generation() == 0)
            && space.mayGrow();
    List<Shared> candidates = unused ? List.of() : candidates(kind);
    return candidates.isEmpty() ? null : candidates.get(0).region;
  }

  /** Notes that it is the next one; what is in it may be read until {@link #next} takes it. */
  @Override
  public void recycle(Region chosen) {
    victim = new Victim(all.get(chosen.number()), chosen.generation());
  }

  @Override
  public void appended(Region region, List<Appended> chunks) throws IOException {
    Shared shared = all.get(region.number());
    int bytes = 0;
    for (Appended chunk : chunks) {
      byte[] name = chunk.object().identity();
      bytes += IndexRecord.BYTES + (name == null ? 0 : IndexRecord.nameRecordBytes(name));
    }
    ByteBuffer records = ByteBuffer.allocate(bytes);
    for (Appended chunk : chunks) {
      byte[] name = chunk.object().identity();
      if (name != null
          && name.length <= IndexRecord.MOST_NAME_BYTES
          && shared.named.add(chunk.object())) {
        IndexRecord.putName(records, region.generation(), chunk.object(), name);
      }
      IndexRecord.putChunk(records, region.generation(), chunk);
    }
    int length = records.flip().remaining();
    synchronized (shared) {
      shared.log.append(records, shared.position);
      shared.position += length;
    }
  }

  @Override
  public void finished(Region region) throws IOException {
    Shared shared = all.get(region.number());
    shared.finishedGeneration = region.generation();
    giveBack(shared);
  }

  /** Opens files anew that are not there by their names any more. Holds {@code shared}. */
  private void reopenIfReplaced(Shared shared) throws IOException {
    if (shared.data.isInPlace() && shared.logFile.isInPlace()) {
      return;
    }
    enterAgain();
    shared.data.reopen();
    shared.logFile.reopen();
    shared.position = 0;
    index.begin(shared.region, 0, Kind.LASTING, null);
    LOG.warn("Files of {} in {} were deleted or replaced; opened anew", shared, instance.path());
  }

  /** The directory may be gone, or be another's. */
  private void enterAgain() throws IOException {
    instance.enterAgain();
    Layout present = Layout.enter(io, instance.path(), layout);
    if (!present.equals(layout)) {
      throw new IOException(instance.path() + " was laid out anew, in another way");
    }
  }

  @Override
  public long bytes() {
    long bytes = 0;
    for (Shared shared : all) {
      try {
        bytes += Math.min(shared.data.size(), layout.regionBytes());
      } catch (IOException e) {
        LOG.debug("the length of {} cannot be told", shared, e);
        bytes += layout.regionBytes();
      }
    }
    return bytes;
  }

  @Override
  public long capacityBytes() {
    return layout.capacityBytes();
  }

  /** The appending thread has ended, or hangs. */
  @Override
  public void close() {
    closed = true;
    for (Shared shared : all) {
      ProcessLock lock = shared.lock;
      closeQuietly(shared.data);
      closeQuietly(shared.logFile);
      if (lock != null) {
        closeQuietly(lock);
      }
    }
    closeQuietly(claims);
  }

  private static void closeQuietly(AutoCloseable open) {
    try {
      open.close();
    } catch (Exception e) {
      LOG.debug("{} cannot be closed", open, e);
    }
  }

  /** A file that is held by descriptor, until another stands under its name. */
  private static final class ReplaceableFile implements OpenFile {
    private final DiskIo io;
    private final Path path;
    private volatile OpenFile file;
    private volatile @Nullable Object identity;

    private ReplaceableFile(DiskIo io, Path path, OpenFile file, @Nullable Object identity) {
      this.io = io;
      this.path = path;
      this.file = file;
      this.identity = identity;
    }

    static ReplaceableFile open(DiskIo io, Path path) throws IOException {
      OpenFile file = io.openOrCreate(path);
      return new ReplaceableFile(io, path, file, io.identityOf(path));
    }

    boolean isInPlace() throws IOException {
      return Objects.equals(identity, io.identityOf(path));
    }

    void reopen() throws IOException {
      OpenFile before = file;
      file = io.openOrCreate(path);
      identity = io.identityOf(path);
      before.close();
    }

    @Override
    public long size() throws IOException {
      return file.size();
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
      return file.read(target, position);
    }

    @Override
    public void write(ByteBuffer source, long position) throws IOException {
      file.write(source, position);
    }

    @Override
    public void write(ByteBuffer[] sources, long position) throws IOException {
      file.write(sources, position);
    }

    @Override
    public void truncate(long bytes) throws IOException {
      file.truncate(bytes);
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
