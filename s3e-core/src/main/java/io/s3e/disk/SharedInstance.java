package io.s3e.disk;

import io.s3e.disk.DiskCacheConfig.Scope;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * Where one of the caches that processes share is. Immutable, any thread.
 *
 * <pre>
 * &lt;directory&gt;/s3e-cache-&lt;user&gt;/v3/&lt;host | app-hash&gt;/layout, NN.data, NN.log, NN.lock
 * </pre>
 *
 * <p>From {@code s3e-cache-<user>} on every directory is the user's own and for the user alone;
 * {@link DirectoryGuard} refuses what is not.
 */
final class SharedInstance {
  static final String APP = "app-";
  static final String HOST = "host";

  /** Directory of the instances of this version of the format, below {@link DirectoryGuard#top}. */
  static final String VERSION = "v3";

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

  static Path dataOf(Path instance, int number) {
    return instance.resolve(nameOf(number) + ".data");
  }

  static Path logOf(Path instance, int number) {
    return instance.resolve(nameOf(number) + ".log");
  }

  static Path lockOf(Path instance, int number) {
    return instance.resolve(nameOf(number) + ".lock");
  }

  private static String nameOf(int number) {
    return number < 10 ? "0" + number : String.valueOf(number);
  }
}
