package io.s3e.disk;

import io.s3e.block.ObjectVersion;
import io.s3e.disk.IndexRecord.Header;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Lists and clears the caches that processes share in one directory, from outside, for tools. Works
 * beside processes that use the cache. Private caches have files without names, which nobody sees.
 *
 * <p>Any thread; every call may block for as long as the disk likes.
 */
public final class CacheInspector {
  private final DiskIo io = new NioDiskIo();
  private final Path directory;

  /**
   * @param directory as the cache was given it
   */
  public CacheInspector(Path directory) {
    this.directory = directory;
  }

  /** The processes that share an instance. */
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
   * One version of an object, and how much of it is cached, as the logs say. The log of an
   * encrypted cache may have been changed by somebody.
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
    for (Path path : entriesOf(top.resolve(SharedInstance.VERSION))) {
      Kind kind = kindOf(String.valueOf(path.getFileName()));
      Layout layout =
          Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)
              ? Layout.read(io, path.resolve(Layout.NAME))
              : null;
      if (kind != null && layout != null) {
        instances.add(survey(path, kind, layout));
      }
    }
    instances.sort(Comparator.comparing(Instance::name));
    return instances;
  }

  /** The entries of a directory, in no order; none if it is not there, or is a link. */
  private static List<Path> entriesOf(Path directory) throws IOException {
    if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      return List.of();
    }
    List<Path> entries = new ArrayList<>();
    try (DirectoryStream<Path> paths = Files.newDirectoryStream(directory)) {
      paths.forEach(entries::add);
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return entries;
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
      try (InspectedRegion region = InspectedRegion.open(io, path, number, layout)) {
        if (region != null) {
          used += region.header() == null ? 0 : 1;
          held += region.isHeld() ? 1 : 0;
          bytes += region.data().size();
        }
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

  /** The regions of an instance that hold anything, by number. */
  public List<UsedRegion> regions(Instance instance) throws IOException {
    List<UsedRegion> regions = new ArrayList<>();
    forEachRegion(
        instance,
        region -> {
          Header header = region.header();
          if (header != null) {
            int[] chunks = new int[1];
            region.scan(record -> chunks[0] += record.type() == IndexRecord.Type.CHUNK ? 1 : 0);
            regions.add(
                new UsedRegion(
                    region.dataPath(),
                    region.isHeld(),
                    header.kind().name().toLowerCase(Locale.ROOT),
                    chunks[0],
                    region.data().size(),
                    header.beganMillis()));
          }
        });
    return regions;
  }

  /** Facts about one object, gathered while logs are read. */
  private static final class Gathered {
    final BitSet chunks = new BitSet();
    @Nullable ObjectName name;
    long writtenMillis;
  }

  /** The objects of which anything is in an instance, in no order. */
  public List<CachedObject> objects(Instance instance) throws IOException {
    StoredObjects objects = new StoredObjects();
    Map<StoredObject, Gathered> gathered = new HashMap<>();
    forEachRegion(
        instance,
        region -> {
          Header header = region.header();
          if (header != null) {
            region.scan(record -> gather(record, header, objects, gathered));
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
      facts.name = ObjectName.of(object, record.name());
    } else if (record.fits(object, header.regionBytes())) {
      facts.chunks.set(record.chunk());
      facts.writtenMillis = Math.max(facts.writtenMillis, header.beganMillis());
    }
  }

  private static CachedObject describe(StoredObject object, Gathered facts) {
    ObjectName name = facts.name;
    return new CachedObject(
        object.hash(),
        name == null ? "" : name.store(),
        name == null ? null : name.version(),
        object.size(),
        facts.chunks.cardinality(),
        facts.chunks.stream().mapToLong(object::chunkLength).sum(),
        facts.writtenMillis);
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
    forEachRegion(instance, region -> left[0] += region.clear(evenIfHeld) ? 0 : 1);
    if (left[0] == 0 && survey(instance).held() == 0) {
      for (Path path : entriesOf(instance.path())) {
        if (Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
          io.delete(path);
        }
      }
      io.delete(instance.path());
    }
    return left[0];
  }

  /** Bytes that the regions of an instance take on disk now. */
  public long bytes(Instance instance) throws IOException {
    return Files.isDirectory(instance.path()) ? survey(instance).bytes() : 0;
  }

  private Instance survey(Instance instance) throws IOException {
    Layout layout = Layout.read(io, instance.path().resolve(Layout.NAME));
    return layout == null ? instance : survey(instance.path(), instance.kind(), layout);
  }

  @FunctionalInterface
  private interface RegionVisitor {
    void visit(InspectedRegion region) throws IOException;
  }

  private void forEachRegion(Instance instance, RegionVisitor visitor) throws IOException {
    Layout layout = Layout.read(io, instance.path().resolve(Layout.NAME));
    if (layout == null) {
      return;
    }
    for (int number = 0; number < layout.regions(); number++) {
      try (InspectedRegion region = InspectedRegion.open(io, instance.path(), number, layout)) {
        if (region != null) {
          visitor.visit(region);
        }
      }
    }
  }
}
