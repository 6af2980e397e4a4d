// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.disk.DiskIo.OpenFile;
import io.s3e.disk.Region.Header;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where one of the caches that processes share is. Immutable, any thread.
 *
 * <pre>
 * &lt;directory&gt;/s3e-cache-&lt;user&gt;/v5/&lt;host | app-hash&gt;/layout, NN.region
 * </pre>
 *
 * <p>{@link DirectoryGuard} says which directories are entered.
 *
 * @param directory that the user named
 * @param path the instance's own
 * @param regions those of the layout that this JVM has room to index and may open, at least one
 */
record SharedInstance(
    DiskIo io, Path directory, DiskCacheConfig config, Path path, Layout layout, int regions)
    implements Regions.Maker {
  static final String APP = "app-";
  static final String HOST = "host";

  /** How the name of a region's file ends. */
  private static final String REGION = ".region";

  private static final Logger LOG = LoggerFactory.getLogger(SharedInstance.class);
  private static final int FORMAT = 5;

  /** Directory of the instances of this version of the format, below {@link DirectoryGuard#top}. */
  static final String VERSION = "v" + FORMAT;

  /** Regions of an instance, as a rule: each process fills one of its own. */
  static final int USUAL_COUNT = 64;

  private static final int HASH_BYTES = 10;

  /** An application of which no process has looked at the cache for so long has ended. */
  private static final long ENDED_MILLIS = TimeUnit.DAYS.toMillis(1);

  /** Whether there is an instance already; makes nothing where there is none. */
  static boolean isLaidOut(Path directory, DiskCacheConfig config) throws IOException {
    if (!Files.exists(DirectoryGuard.topIn(directory), LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    Path path = pathIn(guard(directory, config), config);
    return Files.exists(path.resolve(Layout.NAME), LinkOption.NOFOLLOW_LINKS);
  }

  /**
   * Enters an instance; makes its directory and lays it out if nobody has.
   *
   * @param config its scope, not PRIVATE, application and key
   * @param capacityBytes for the case that nobody has laid it out
   * @throws RefusedDirectoryException naming the path if it is a link, not a directory, somebody
   *     else's or open to others, or is sealed with another key
   */
  static SharedInstance enter(DiskIo io, Path directory, DiskCacheConfig config, long capacityBytes)
      throws IOException {
    CacheKey key = config.key();
    DirectoryGuard guard = guard(directory, config);
    Path path = pathIn(guard, config);
    Object identity = guard.require(path);
    long wantedBytes = Math.max(DiskCacheConfig.LEAST_CAPACITY_BYTES, capacityBytes);
    Layout wanted = Layout.of(wantedBytes, USUAL_COUNT, key);
    Layout layout = Layout.enter(io, path, identity, wanted);
    // The automatic capacity follows what is free, which differs from one process to the next.
    if (config.capacityBytes() != 0 && layout.capacityBytes() != wanted.capacityBytes()) {
      LOG.warn(
          "The cache in {} was laid out for {} bytes and stays so, not {} as set here; it takes"
              + " another capacity when it was deleted and all who use it have ended",
          path,
          layout.capacityBytes(),
          wanted.capacityBytes());
    }
    boolean isSealed = layout.isSealed();
    if (isSealed != wanted.isSealed() || (isSealed && layout.keyCheck() != wanted.keyCheck())) {
      throw new RefusedDirectoryException(
          path,
          isSealed ? "is encrypted with another key" : "is not encrypted",
          key == null ? "a cache that is not encrypted" : "one that is encrypted with this key");
    }
    long indexed = Math.max(1, config.indexedBytes() / layout.regionBytes());
    int opened = config.mostRegions(io);
    int regions = (int) Math.min(layout.regions(), Math.min(indexed, opened));
    if (regions < layout.regions()) {
      LOG.info(
          "Of the {} bytes of the cache in {} this process uses {}: a {} would allow more",
          layout.capacityBytes(),
          path,
          regions * layout.regionBytes(),
          indexed < opened ? "larger heap" : "higher limit of open files");
    }
    SharedInstance entered = new SharedInstance(io, directory, config, path, layout, regions);
    if (guard.doubt() == null) {
      entered.deleteUnread();
    }
    return entered;
  }

  /** Bytes that are not encrypted lie only where nobody else can put others in their place. */
  private static DirectoryGuard guard(Path directory, DiskCacheConfig config) throws IOException {
    DirectoryGuard guard = DirectoryGuard.shared(directory);
    RefusedDirectoryException doubt = guard.doubt();
    if (doubt != null && config.key() == null) {
      throw doubt;
    }
    return guard;
  }

  private static Path pathIn(DirectoryGuard guard, DiskCacheConfig config) {
    String name = HOST;
    if (config.scope() == Scope.APP) {
      byte[] hash = StoredObject.hashOf(config.application().getBytes(StandardCharsets.UTF_8));
      name = APP + HexFormat.of().formatHex(hash, 0, HASH_BYTES);
    }
    return guard.top().resolve(VERSION).resolve(name);
  }

  /** To be called before a file is opened by name; what tells the directory from any other. */
  Object enterAgain() throws IOException {
    DirectoryGuard guard = guard(directory, config);
    Object identity = path.equals(pathIn(guard, config)) ? guard.require(path) : null;
    if (identity == null || !Layout.enter(io, path, identity, layout).equals(layout)) {
      throw new RefusedDirectoryException(path, "is another, or was laid out anew", "as it was");
    }
    return identity;
  }

  @Override
  public @Nullable Region make(int number) throws IOException {
    Object parent = enterAgain();
    Path name = fileOf(number);
    Header header = layout.newRegion(number, System.currentTimeMillis());
    OpenFile file;
    try {
      file = io.createIn(name, parent);
    } catch (FileAlreadyExistsException e) {
      if (isRegion(number, headerOf(name, parent))) {
        return null;
      }
      io.delete(name);
      return make(number);
    }
    Object made = null;
    try {
      file.write(RegionTable.encoded(header), 0);
      Object named = io.identityOf(name);
      // Before it had its header, another process may have taken it for broken and made its own.
      made = named != null && header.equals(headerOf(name, parent)) ? named : null;
      return made == null ? null : region(header, file, made);
    } finally {
      if (made == null) {
        file.close();
      }
    }
  }

  private @Nullable Header headerOf(Path name, Object parent) throws IOException {
    try (OpenFile file = io.openIn(name, parent)) {
      return RegionTable.header(file);
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  @Override
  public @Nullable Region look(int number, @Nullable Region known) throws IOException {
    if (Math.abs(System.currentTimeMillis() - path.toFile().lastModified()) > ENDED_MILLIS / 8) {
      boolean unused = path.toFile().setLastModified(System.currentTimeMillis());
    }
    Path name = fileOf(number);
    Object named = io.identityOf(name);
    if (named == null) {
      return null;
    }
    if (known != null && named.equals(known.identity)) {
      // After a clock that was ahead, a region would outlive all that come later.
      known.began = Math.min(known.began, System.currentTimeMillis());
      return known;
    }
    OpenFile file;
    try {
      file = io.openIn(name, enterAgain());
    } catch (NoSuchFileException e) {
      // Another process has just deleted it.
      return null;
    }
    Region found = null;
    try {
      Header header = RegionTable.header(file);
      if (header != null && isRegion(number, header)) {
        found = region(header, file, named);
      }
      return found;
    } finally {
      if (found == null) {
        file.close();
      }
    }
  }

  private boolean isRegion(int number, @Nullable Header header) {
    return header != null
        && header.number() == number
        && header.regionBytes() == layout.regionBytes()
        && header.mostChunks() == layout.mostChunks();
  }

  private Region region(Header header, OpenFile file, Object identity) {
    long dataStart = RegionTable.bytesFor(header.mostChunks());
    long indexed = config.indexedBytes() / StoredObject.CHUNK_BYTES / regions;
    int most = (int) Math.min(header.mostChunks(), indexed);
    return new Region(header, most, file, dataStart, identity, config.key());
  }

  @Override
  public void delete(Region region) throws IOException {
    io.delete(fileOf(region.header.number()));
  }

  private Path fileOf(int number) {
    return path.resolve((number < 10 ? "0" : "") + number + REGION);
  }

  /** Deletes older formats, caches of ended applications, and regions beyond a mended layout. */
  private void deleteUnread() throws IOException {
    Path version = Objects.requireNonNull(path.getParent());
    Stream<Path> older =
        IntStream.range(1, FORMAT).mapToObj(each -> version.resolveSibling("v" + each));
    Set<Path> regions =
        IntStream.range(0, layout.regions()).mapToObj(this::fileOf).collect(Collectors.toSet());
    Stream<Path> beyond =
        entriesOf(path).stream()
            .filter(each -> each.toString().endsWith(REGION) && !regions.contains(each));
    long now = System.currentTimeMillis();
    Stream<Path> ended =
        entriesOf(version).stream()
            .filter(each -> !each.equals(path) && each.toFile().getName().startsWith(APP))
            .filter(each -> Math.abs(now - each.toFile().lastModified()) > ENDED_MILLIS);
    for (Path each : Stream.of(older, beyond, ended).flatMap(all -> all).toList()) {
      try {
        delete(io, each);
      } catch (IOException e) {
        LOG.debug("{} cannot be deleted", each, e);
      }
    }
  }

  /** Deletes what is there, and all below it; a link itself, never what it names. */
  static void delete(DiskIo io, Path file) throws IOException {
    for (Path each : entriesOf(file)) {
      delete(io, each);
    }
    io.delete(file);
  }

  /** The entries of a directory, in no order; none if it is not there, or is a link. */
  static List<Path> entriesOf(Path directory) throws IOException {
    if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      return List.of();
    }
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }
}
