package io.s3e.disk;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A lock on a file that the operating system lets go when this process ends, however it ends.
 *
 * <p>Locks of POSIX belong to the process, and closing <em>any</em> descriptor of the file drops
 * them. So a file that this JVM holds must never be opened a second time, not even by a copy of
 * this class that another class loader brought. A lock is therefore noted where all copies see it:
 * in a system property of its own. A thread that finds the note leaves the file alone.
 *
 * <p>Any thread.
 */
final class ProcessLock implements AutoCloseable {
  private static final String HELD = "io.s3e.disk.held:";
  private static final Set<PosixFilePermission> OWNER_ALONE =
      EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

  private static final Set<OpenOption> OPEN =
      Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);

  private final Path file;
  private final FileChannel channel;
  private boolean closed;

  private ProcessLock(Path file, FileChannel channel) {
    this.file = file;
    this.channel = channel;
  }

  /**
   * Locks a file, made if it is not there.
   *
   * @param file absolute, and always the same for the same file
   * @return null if somebody else has it, in this process or in another
   */
  static @Nullable ProcessLock tryTake(Path file) throws IOException {
    if (System.getProperties().putIfAbsent(HELD + file, "1") != null) {
      return null;
    }
    ProcessLock taken = null;
    try {
      taken = open(file);
    } finally {
      if (taken == null) {
        System.clearProperty(HELD + file);
      }
    }
    return taken;
  }

  private static @Nullable ProcessLock open(Path file) throws IOException {
    Object before = identityOf(file);
    if (before == null) {
      channelOf(file).close();
      before = identityOf(file);
    }
    FileChannel channel = channelOf(file);
    boolean taken = false;
    try {
      FileLock lock = channel.tryLock();
      // Another process may delete or replace the file at any time, and a lock on a file without a
      // name is worth nothing: the name led to the same file before it was opened.
      taken = lock != null && before != null && before.equals(identityOf(file));
      return taken ? new ProcessLock(file, channel) : null;
    } catch (OverlappingFileLockException e) {
      return null;
    } finally {
      if (!taken) {
        channel.close();
      }
    }
  }

  private static FileChannel channelOf(Path file) throws IOException {
    return FileChannel.open(file, OPEN, PosixFilePermissions.asFileAttribute(OWNER_ALONE));
  }

  private static @Nullable Object identityOf(Path file) throws IOException {
    try {
      BasicFileAttributes attributes =
          Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      return Objects.requireNonNullElse(attributes.fileKey(), file);
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  /** Lets the file go; leaves it where it is. Again: nothing. */
  @Override
  public synchronized void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    try {
      channel.close();
    } finally {
      System.clearProperty(HELD + file);
    }
  }
}
