package io.s3e.disk;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.disk.ChunkIndex.Place;
import io.s3e.disk.DiskIo.OpenFile;
import io.s3e.disk.IndexRecord.Header;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Looks into one directory of the caches that processes share, from outside, for tools: what is
 * there, whether it is intact, and away with it. Works beside processes that use the cache. Private
 * caches have files without names, which nobody sees.
 *
 * <p>Any thread; every call may block for as long as the disk likes.
 */
public final class CacheInspector {
  private final DiskIo io = new NioDiskIo();
  private final Path directory;
  private final @Nullable CacheKey key;

  /**
   * @param directory as the cache was given it
   * @param key what encrypted chunks are checked with; null leaves them unchecked
   */
  public CacheInspector(Path directory, @Nullable CacheKey key) {
    this.directory = directory;
    this.key = key;
  }

  /** Who shares an instance. */
  public enum Kind {
    /** The processes of an application. */
    APP,
    /** All processes of the user. */
    HOST
  }

  /**
   * One instance: the regions that one set of processes shares.
   *
   * @param regions how many there may be
   * @param used how many hold anything
   * @param held how many a living process appends to just now
   * @param bytes the lengths of the regions' files together
   * @param capacityBytes the most that this can be
   */
  public record Instance(
      Path path,
      String name,
      Kind kind,
      int regions,
      int used,
      int held,
      long bytes,
      long capacityBytes,
      boolean encrypted) {
    /** Whether a living process appends to it. */
    public boolean isInUse() {
      return held > 0;
    }
  }

  /**
   * One region.
   *
   * @param held whether a living process appends to it
   * @param kind {@code lasting} or {@code scanned}
   * @param chunks of 64 KiB, that were appended
   * @param bytes length of its file
   * @param beganMillis when it was begun, in ms since 1970
   */
  public record UsedRegion(
      Path path, boolean held, String kind, int chunks, long bytes, long beganMillis) {}

  /**
   * What is cached of one version of an object. The log says so; of an encrypted cache somebody may
   * have changed it.
   *
   * @param hash what it is known by, in hexadecimal digits
   * @param store where its bucket is; empty if its name is not in the logs
   * @param version null if its name is not in the logs
   * @param size length of the object, in bytes
   * @param bytes how many of these are there
   * @param writtenMillis when the last region was begun that has any of them, in ms since 1970
   */
  public record CachedObject(
      String hash,
      String store,
      @Nullable ObjectVersion version,
      long size,
      int chunks,
      long bytes,
      long writtenMillis) {}

  /** What became of checking a chunk, or the log of a region. */
  public enum Finding {
    /** Every byte is what was written. */
    GOOD,
    /** It is not; a reader would find that, too, and read from S3. */
    CORRUPT,
    /** The disk fails. */
    UNREADABLE,
    /** Encrypted, and its key is not here. */
    UNCHECKED
  }

  /**
   * Something was checked.
   *
   * @param path the region's file, or its log
   * @param bytes how many it has
   * @param reason what is wrong, in a few words; empty if nothing is
   * @param cleared whether its region was cleared for that
   */
  public record Check(Path path, Finding finding, long bytes, String reason, boolean cleared) {}

  /**
   * All instances, by name; none if there is no cache in the directory.
   *
   * @throws java.nio.file.FileSystemException if what is there is not certainly the user's own
   */
  public List<Instance> instances() throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    Path top = DirectoryGuard.topIn(directory.toRealPath());
    if (!Files.exists(top, LinkOption.NOFOLLOW_LINKS)) {
      return List.of();
    }
    // Others who might have laid it out could exchange a directory for a link while we delete.
    DirectoryGuard unused = DirectoryGuard.shared(directory);
    List<Instance> instances = new ArrayList<>();
    for (DiskIo.Entry entry : io.list(top.resolve(SharedInstance.VERSION))) {
      Kind kind = kindOf(String.valueOf(entry.path().getFileName()));
      Layout layout =
          entry.isDirectory() ? Layout.read(io, entry.path().resolve(Layout.NAME)) : null;
      if (kind != null && layout != null) {
        instances.add(survey(entry.path(), kind, layout));
      }
    }
    instances.sort(Comparator.comparing(Instance::name));
    return instances;
  }

  private static @Nullable Kind kindOf(String name) {
    if (name.equals(SharedInstance.HOST)) {
      return Kind.HOST;
    }
    return name.startsWith(SharedInstance.APP) ? Kind.APP : null;
  }

  private Instance survey(Path path, Kind kind, Layout layout) throws IOException {
    int used = 0;
    int held = 0;
    long bytes = 0;
    for (int number = 0; number < layout.regions(); number++) {
      Opened region = Opened.open(io, path, number, layout);
      if (region != null) {
        try (region) {
          used += region.header == null ? 0 : 1;
          bytes += region.data.size();
        }
        held += isHeld(path, number) ? 1 : 0;
      }
    }
    return new Instance(
        path,
        String.valueOf(path.getFileName()),
        kind,
        layout.regions(),
        used,
        held,
        bytes,
        layout.capacityBytes(),
        layout.isSealed());
  }

  private static boolean isHeld(Path instance, int number) throws IOException {
    try (ProcessLock lock = ProcessLock.tryTakeExisting(SharedInstance.lockOf(instance, number))) {
      return lock == null;
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  /** The regions of an instance that hold anything, by number. */
  public List<UsedRegion> regions(Instance instance) throws IOException {
    List<UsedRegion> regions = new ArrayList<>();
    forEachRegion(
        instance,
        region -> {
          Header header = region.header;
          if (header != null) {
            int[] chunks = new int[1];
            long unused =
                region.scan(record -> chunks[0] += record.type() == IndexRecord.Type.CHUNK ? 1 : 0);
            regions.add(
                new UsedRegion(
                    region.path,
                    isHeld(instance.path(), region.number),
                    header.kind().name().toLowerCase(Locale.ROOT),
                    chunks[0],
                    region.data.size(),
                    header.beganMillis()));
          }
        });
    return regions;
  }

  /** What is known of one object while logs are read. */
  private static final class Gathered {
    final BitSet chunks = new BitSet();
    @Nullable Name name;
    long writtenMillis;
  }

  /** The objects of which anything is in an instance, in no order. */
  public List<CachedObject> objects(Instance instance) throws IOException {
    StoredObjects objects = new StoredObjects();
    Map<StoredObject, Gathered> gathered = new HashMap<>();
    forEachRegion(
        instance,
        region -> {
          Header header = region.header;
          if (header != null) {
            long unused = region.scan(record -> gather(record, header, objects, gathered));
          }
        });
    List<CachedObject> cached = new ArrayList<>();
    gathered.forEach(
        (object, facts) -> {
          if (!facts.chunks.isEmpty()) {
            cached.add(describe(object, facts));
          }
        });
    return cached;
  }

  private static void gather(
      IndexRecord record,
      Header header,
      StoredObjects objects,
      Map<StoredObject, Gathered> gathered) {
    StoredObject object = record.object(objects);
    if (object == null) {
      return;
    }
    Gathered facts = gathered.computeIfAbsent(object, unused -> new Gathered());
    if (record.type() == IndexRecord.Type.NAME) {
      facts.name = Name.of(object, record.name());
    } else if (record.fits(object, header.regionBytes())) {
      facts.chunks.set(record.chunk());
      facts.writtenMillis = Math.max(facts.writtenMillis, header.beganMillis());
    }
  }

  private static CachedObject describe(StoredObject object, Gathered facts) {
    Name name = facts.name;
    return new CachedObject(
        object.hash(),
        name == null ? "" : name.store(),
        name == null ? null : name.version(),
        object.size(),
        facts.chunks.cardinality(),
        facts.chunks.stream().mapToLong(object::chunkLength).sum(),
        facts.writtenMillis);
  }

  /** The name of an object, as it was written in clear. */
  private record Name(String store, ObjectVersion version) {
    /** Null if these bytes are not the name of that object. */
    static @Nullable Name of(StoredObject object, byte[] identity) {
      ByteBuffer hash = ByteBuffer.wrap(StoredObject.hashOf(identity));
      if (!StoredObject.at(hash, 0, object.size()).equals(object)) {
        return null;
      }
      ByteBuffer bytes = ByteBuffer.wrap(identity).position(Long.BYTES);
      String store = text(bytes);
      ObjectRef ref = new ObjectRef(text(bytes), text(bytes));
      String etag = text(bytes);
      int length = bytes.getInt();
      String versionId = length < 0 ? null : text(bytes.position(bytes.position() - Integer.BYTES));
      return new Name(store, ObjectVersion.identified(ref, object.size(), etag, versionId));
    }

    private static String text(ByteBuffer bytes) {
      byte[] utf8 = new byte[bytes.getInt()];
      bytes.get(utf8);
      return new String(utf8, StandardCharsets.UTF_8);
    }
  }

  /**
   * Reads all records and chunks of an instance and checks every byte.
   *
   * @param clear whether to clear regions in which anything is corrupt, unless they are held
   * @param checks is told of each chunk, and of each log that is broken
   */
  public void verify(Instance instance, boolean clear, Consumer<Check> checks) throws IOException {
    forEachRegion(
        instance,
        region -> {
          List<Check> corrupt = new ArrayList<>();
          check(
              region,
              found -> {
                if (found.finding() == Finding.CORRUPT) {
                  corrupt.add(found);
                } else {
                  checks.accept(found);
                }
              });
          // The region may have been begun anew meanwhile: then nothing of this says anything.
          if (!corrupt.isEmpty() && region.isStill()) {
            boolean cleared = clear && clear(region, instance, false);
            corrupt.forEach(
                found ->
                    checks.accept(
                        new Check(
                            found.path(),
                            found.finding(),
                            found.bytes(),
                            found.reason(),
                            cleared)));
          }
        });
  }

  private void check(Opened region, Consumer<Check> checks) throws IOException {
    Header header = region.header;
    if (header == null) {
      if (region.log.size() > 0) {
        checks.accept(corrupt(region.logPath, 0, "its header is broken"));
      }
      return;
    }
    if (region.layout.isSealed() && (key == null || !region.layout.isFor(key))) {
      checks.accept(new Check(region.path, Finding.UNCHECKED, region.data.size(), "", false));
      return;
    }
    CacheKey secret = key;
    RegionKey regionKey =
        region.layout.isSealed() && secret != null ? RegionKey.of(secret, header.salt()) : null;
    StoredObjects objects = new StoredObjects();
    RegionSeal seal = new RegionSeal();
    ByteBuffer scratch = ByteBuffer.allocate(StoredObject.CHUNK_BYTES);
    ByteBuffer work = ByteBuffer.allocate(StoredObject.CHUNK_BYTES + RegionSeal.WORK_BYTES);
    long end =
        region.scan(
            record -> {
              StoredObject object = record.object(objects);
              if (object == null) {
                checks.accept(corrupt(region.logPath, 0, "a record is of no possible object"));
              } else if (record.type() == IndexRecord.Type.NAME) {
                if (Name.of(object, record.name()) == null) {
                  checks.accept(corrupt(region.logPath, 0, "a name is not that of its hash"));
                }
              } else if (!record.fits(object, header.regionBytes())) {
                checks.accept(
                    corrupt(region.logPath, 0, "a record is beyond its object or region"));
              } else {
                checks.accept(checkChunk(region, regionKey, object, record, seal, scratch, work));
              }
            });
    if (end < region.log.size() && !isHeld(region.instance, region.number)) {
      checks.accept(corrupt(region.logPath, 0, "ends with no whole record at byte " + end));
    }
  }

  private static Check checkChunk(
      Opened region,
      @Nullable RegionKey regionKey,
      StoredObject object,
      IndexRecord record,
      RegionSeal seal,
      ByteBuffer scratch,
      ByteBuffer work) {
    int chunk = record.chunk();
    int length = object.chunkLength(chunk);
    String what = "chunk " + chunk + " of " + object + " at slot " + record.slot();
    Place place =
        new Place(
            region.region,
            record.generation(),
            0,
            record.slot(),
            record.sealHigh(),
            record.sealLow());
    try {
      scratch.clear().limit(length);
      long position = (long) record.slot() * Region.SLOT_BYTES;
      int count = 0;
      while (count >= 0 && scratch.hasRemaining()) {
        count = region.data.read(scratch, position + scratch.position());
      }
      if (scratch.hasRemaining()) {
        return corrupt(region.path, length, what + " is beyond the end of the file");
      }
    } catch (IOException e) {
      return new Check(region.path, Finding.UNREADABLE, length, what + ": " + e, false);
    }
    return seal.open(regionKey, object, chunk, place, scratch.flip(), work.clear()) == null
        ? corrupt(region.path, length, what + " does not have the seal that was written")
        : new Check(region.path, Finding.GOOD, length, "", false);
  }

  private static Check corrupt(Path path, long bytes, String reason) {
    return new Check(path, Finding.CORRUPT, bytes, reason, false);
  }

  /**
   * Empties the regions of an instance, and deletes it if no living process appends to any.
   *
   * @param evenIfHeld whether to empty also the regions that living processes append to; they read
   *     from S3 then
   * @return how many regions were left alone
   */
  public int clear(Instance instance, boolean evenIfHeld) throws IOException {
    int[] left = new int[1];
    forEachRegion(instance, region -> left[0] += clear(region, instance, evenIfHeld) ? 0 : 1);
    if (left[0] == 0 && survey(instance).held() == 0) {
      for (DiskIo.Entry entry : io.list(instance.path())) {
        if (entry.isFile()) {
          io.delete(entry.path());
        }
      }
      io.delete(instance.path());
    }
    return left[0];
  }

  /** What the regions of an instance take on disk now, in bytes. */
  public long bytes(Instance instance) throws IOException {
    return Files.isDirectory(instance.path()) ? survey(instance).bytes() : 0;
  }

  private Instance survey(Instance instance) throws IOException {
    Layout layout = Layout.read(io, instance.path().resolve(Layout.NAME));
    return layout == null ? instance : survey(instance.path(), instance.kind(), layout);
  }

  /** The log first: from then on nobody takes what the region holds. */
  private static boolean clear(Opened region, Instance instance, boolean evenIfHeld)
      throws IOException {
    try (ProcessLock lock =
        ProcessLock.tryTake(SharedInstance.lockOf(instance.path(), region.number))) {
      if (lock == null && !evenIfHeld) {
        return false;
      }
      region.logFile.truncate(0);
      region.data.truncate(0);
      return true;
    }
  }

  @FunctionalInterface
  private interface RegionVisitor {
    void visit(Opened region) throws IOException;
  }

  private void forEachRegion(Instance instance, RegionVisitor visitor) throws IOException {
    Layout layout = Layout.read(io, instance.path().resolve(Layout.NAME));
    if (layout == null) {
      return;
    }
    for (int number = 0; number < layout.regions(); number++) {
      try (Opened region = Opened.open(io, instance.path(), number, layout)) {
        if (region != null) {
          visitor.visit(region);
        }
      }
    }
  }

  /** One region with its files. */
  private static final class Opened implements AutoCloseable {
    final Path instance;
    final int number;
    final Layout layout;
    final Path path;
    final Path logPath;
    final OpenFile data;
    final OpenFile logFile;
    final RegionLog log;
    final Region region;
    final @Nullable Header header;

    private Opened(Path instance, int number, Layout layout, OpenFile data, OpenFile logFile)
        throws IOException {
      this.instance = instance;
      this.number = number;
      this.layout = layout;
      this.path = SharedInstance.dataOf(instance, number);
      this.logPath = SharedInstance.logOf(instance, number);
      this.data = data;
      this.logFile = logFile;
      this.log = new RegionLog(logFile, number, layout.regionBytes());
      this.region = new Region(number, layout.regionBytes(), data, 0);
      this.header = log.header();
    }

    /** Null if its files are not there. */
    static @Nullable Opened open(DiskIo io, Path instance, int number, Layout layout)
        throws IOException {
      Path data = SharedInstance.dataOf(instance, number);
      Path log = SharedInstance.logOf(instance, number);
      if (!Files.isRegularFile(data, LinkOption.NOFOLLOW_LINKS)
          || !Files.isRegularFile(log, LinkOption.NOFOLLOW_LINKS)) {
        return null;
      }
      OpenFile dataFile = io.openOrCreate(data);
      boolean opened = false;
      try {
        Opened both = new Opened(instance, number, layout, dataFile, io.openOrCreate(log));
        opened = true;
        return both;
      } finally {
        if (!opened) {
          dataFile.close();
        }
      }
    }

    long scan(RegionLog.Visitor visitor) throws IOException {
      Header present = header;
      return present == null
          ? 0
          : log.scan(RegionLog.FIRST, present.generation(), new IndexRecord(), visitor);
    }

    boolean isStill() throws IOException {
      Header now = log.header();
      return header == null ? now == null : header.equals(now);
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
}
