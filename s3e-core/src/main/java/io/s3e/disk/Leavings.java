package io.s3e.disk;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Instances that nobody uses any more: private ones whose owner is dead, those of applications that
 * have ended, and what an interrupted removal left. Never follows a link; nothing here is in use by
 * a running cache.
 */
final class Leavings {
  private static final Logger LOG = LoggerFactory.getLogger(Leavings.class);
  static final String REMOVED = "removed-";

  /** An instance without any owner may be one that is just being made. */
  private static final long UNOWNED_MILLIS = Duration.ofSeconds(60).toMillis();

  /** An application has moments without a process on this host, and may come again. */
  private static final long APP_MILLIS = Duration.ofHours(1).toMillis();

  private static final Set<Path> BUSY = ConcurrentHashMap.newKeySet();

  private Leavings() {}

  /** Removes what is abandoned in a directory of instances; at once if this JVM does already. */
  static void removeInBackground(Path versioned) {
    if (!BUSY.add(versioned)) {
      return;
    }
    Background.start(
        "s3e-cache-leavings",
        () -> {
          try {
            removeAll(versioned);
          } catch (IOException | RuntimeException e) {
            LOG.debug("cannot remove what dead processes left in {}", versioned, e);
          } finally {
            BUSY.remove(versioned);
          }
        });
  }

  private static void removeAll(Path versioned) throws IOException {
    try (DirectoryStream<Path> instances = Files.newDirectoryStream(versioned)) {
      for (Path instance : instances) {
        String name = instance.getFileName().toString();
        try {
          if (name.startsWith(REMOVED)) {
            deleteTree(instance);
          } else if (isAbandoned(instance, name)) {
            LOG.info("removing {}: its processes are dead", instance);
            remove(instance);
          }
        } catch (IOException e) {
          LOG.debug("cannot remove {}", instance, e);
        }
      }
    }
  }

  private static boolean isAbandoned(Path instance, String name) throws IOException {
    long patience;
    if (name.startsWith(CacheRoot.PRIVATE)) {
      patience = 0;
    } else if (name.startsWith(CacheRoot.APP)) {
      patience = APP_MILLIS;
    } else {
      return false;
    }
    Path owners = instance.resolve(Membership.OWNERS);
    long changed = Math.max(changedMillis(instance), changedMillis(owners));
    boolean wasOwned = false;
    try (DirectoryStream<Path> locks = Files.newDirectoryStream(owners)) {
      for (Path file : locks) {
        wasOwned = true;
        if (!isDead(file)) {
          return false;
        }
      }
    } catch (NoSuchFileException e) {
      wasOwned = false;
    }
    long quiet = System.currentTimeMillis() - changed;
    return quiet >= (wasOwned ? patience : Math.max(patience, UNOWNED_MILLIS));
  }

  /** Whether nobody holds an owner's lock. */
  static boolean isDead(Path lockFile) throws IOException {
    if (ProcessLock.isHeldHere(lockFile)) {
      return false;
    }
    try (ProcessLock lock = ProcessLock.tryTakeExisting(lockFile)) {
      return lock != null;
    } catch (NoSuchFileException e) {
      return true;
    }
  }

  private static long changedMillis(Path path) throws IOException {
    try {
      return Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS).toMillis();
    } catch (NoSuchFileException e) {
      return 0;
    }
  }

  /**
   * Removes an instance: gives it another name first, so that it is gone at once for whoever looks,
   * and a process that still writes there finds nothing to write to.
   */
  static void remove(Path instance) throws IOException {
    Path removed = instance.resolveSibling(REMOVED + DirectoryGuard.randomHex(8));
    try {
      Files.move(instance, removed);
    } catch (NoSuchFileException e) {
      return;
    }
    deleteTree(removed);
  }

  /** Deletes a directory and all in it; links themselves, never what they name. */
  static void deleteTree(Path top) throws IOException {
    Files.walkFileTree(
        top,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE;
            }
            throw e;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e)
              throws IOException {
            if (e != null) {
              throw e;
            }
            Files.deleteIfExists(directory);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
