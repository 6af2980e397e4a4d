// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Lists and clears the caches that processes share in one directory, from outside, for tools: by
 * their {@link Layout} and the lengths of their files. Works beside processes that use the cache.
 * Private caches have files without names, which nobody sees.
 *
 * <p>Any thread; every call may block for as long as the disk likes.
 *
 * @param directory as the cache was given it
 */
public record CacheInspector(Path directory) {
  private static final DiskIo IO = new DiskIo();

  /** Processes that use an instance make a file now and then while it is deleted. */
  private static final int MOST_TRIES = 10;

  /**
   * One instance: the regions that one set of processes shares.
   *
   * @param bytes that its files hold now
   * @param capacityBytes the most that its regions ever hold
   */
  public record Instance(Path path, long bytes, long capacityBytes, boolean encrypted) {
    public String name() {
      return String.valueOf(path.getFileName());
    }

    /** {@code app} or {@code host}. */
    public String scope() {
      return name().equals(SharedInstance.HOST) ? SharedInstance.HOST : "app";
    }
  }

  /**
   * All instances, by name; none if there is no cache in the directory.
   *
   * @throws java.nio.file.FileSystemException if what is there is not the user's own
   */
  public List<Instance> instances() throws IOException {
    if (!Files.isDirectory(directory)
        || !Files.exists(DirectoryGuard.topIn(directory.toRealPath()), LinkOption.NOFOLLOW_LINKS)) {
      return List.of();
    }
    DirectoryGuard guard = DirectoryGuard.shared(directory);
    List<Instance> instances = new ArrayList<>();
    for (Path path : SharedInstance.entriesOf(guard.top().resolve(SharedInstance.VERSION))) {
      Object identity = IO.identityOf(path);
      Path file = path.resolve(Layout.NAME);
      boolean isDirectory = Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
      Layout layout = identity == null || !isDirectory ? null : Layout.read(IO, file, identity);
      if (layout != null) {
        instances.add(new Instance(path, bytesIn(path), layout.capacityBytes(), layout.isSealed()));
      }
    }
    instances.sort(Comparator.comparing(Instance::name));
    return instances;
  }

  private static long bytesIn(Path instance) throws IOException {
    return SharedInstance.entriesOf(instance).stream()
        .filter(each -> Files.isRegularFile(each, LinkOption.NOFOLLOW_LINKS))
        // 0 of one that a process gives up just now.
        .mapToLong(each -> each.toFile().length())
        .sum();
  }

  /**
   * Deletes an instance. Processes that use it notice within a second, and read from S3; what they
   * are just writing is theirs alone until they let it go.
   *
   * @throws java.nio.file.FileSystemException if what is there is not certainly the user's own
   */
  public void clear(Instance instance) throws IOException {
    // Others could exchange a directory for a link while we delete.
    RefusedDirectoryException doubt = DirectoryGuard.shared(directory).doubt();
    if (doubt != null) {
      throw doubt;
    }
    for (int tries = 1; ; tries++) {
      try {
        SharedInstance.delete(IO, instance.path());
        return;
      } catch (DirectoryNotEmptyException e) {
        // Somebody caches anew.
        if (tries == MOST_TRIES) {
          throw e;
        }
      }
    }
  }
}
