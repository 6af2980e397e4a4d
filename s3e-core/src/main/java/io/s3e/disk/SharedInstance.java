package io.s3e.disk;

import io.s3e.disk.DiskCacheConfig.Scope;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where one of the caches that processes share is. Immutable, any thread.
 *
 * <pre>
 * &lt;directory&gt;/s3e-cache-&lt;user&gt;/v4/&lt;host | app-hash&gt;/layout, NN.data, NN.log, NN.lock
 * </pre>
 *
 * <p>From {@code s3e-cache-<user>} on every directory is the user's own and for the user alone;
 * {@link DirectoryGuard} refuses what is not.
 */
final class SharedInstance {
  static final String APP = "app-";
  static final String HOST = "host";

  private static final Logger LOG = LoggerFactory.getLogger(SharedInstance.class);
  private static final int FORMAT = 4;

  /** Directory of the instances of this version of the format, below {@link DirectoryGuard#top}. */
  static final String VERSION = "v" + FORMAT;

  /** How the name of a region's lock ends. */
  static final String LOCK = ".lock";

  private static final int HASH_BYTES = 10;

  private final Path directory;
  private final Scope scope;
  private final String application;
  private final Path path;

  private SharedInstance(Path directory, Scope scope, String application, Path path) {
    this.directory = directory;
    this.scope = scope;
    this.application = application;
    this.path = path;
  }

  /**
   * An instance, whose directory is made if it is not there.
   *
   * @param directory that the user named
   * @param scope not {@link Scope#PRIVATE}
   * @throws RefusedDirectoryException naming the path if it is a link, not a directory, somebody
   *     else's or open to others
   */
  static SharedInstance enter(Path directory, Scope scope, String application) throws IOException {
    return new SharedInstance(
        directory, scope, application, require(directory, scope, application));
  }

  private static Path require(Path directory, Scope scope, String application) throws IOException {
    DirectoryGuard guard = DirectoryGuard.shared(directory);
    Path instance = guard.top().resolve(VERSION).resolve(nameOf(scope, application));
    guard.require(instance);
    return instance;
  }

  /** Makes the directory again if it was deleted; to be called before a file is opened by name. */
  void enterAgain() throws IOException {
    if (!path.equals(require(directory, scope, application))) {
      throw new IOException(directory + " has become another directory");
    }
  }

  Path path() {
    return path;
  }

  private static String nameOf(Scope scope, String application) {
    if (scope == Scope.HOST) {
      return HOST;
    }
    byte[] hash = StoredObject.hashOf(application.getBytes(StandardCharsets.UTF_8));
    return APP + HexFormat.of().formatHex(hash, 0, HASH_BYTES);
  }

  Path dataOf(int number) {
    return path.resolve(nameOf(number) + ".data");
  }

  Path logOf(int number) {
    return path.resolve(nameOf(number) + ".log");
  }

  Path lockOf(int number) {
    return path.resolve(nameOf(number) + LOCK);
  }

  private static String nameOf(int number) {
    return number < 10 ? "0" + number : String.valueOf(number);
  }

  /** Deletes the caches of older versions of the format, which no S3E of today reads. */
  void deleteOlder(DiskIo io) {
    Path versions = path.getParent();
    for (int version = 1; versions != null && version < FORMAT; version++) {
      try {
        delete(io, versions.resolveSibling("v" + version));
      } catch (IOException e) {
        LOG.debug("An older cache beside {} cannot be deleted", versions, e);
      }
    }
  }

  /** Deletes what is there, and all below it; a link itself, never what it names. */
  static void delete(DiskIo io, Path file) throws IOException {
    if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
      for (Path each : entriesOf(file)) {
        delete(io, each);
      }
    }
    io.delete(file);
  }

  /** The entries of a directory, in no order; none if it is not there, or is a link. */
  static List<Path> entriesOf(Path directory) throws IOException {
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
}
