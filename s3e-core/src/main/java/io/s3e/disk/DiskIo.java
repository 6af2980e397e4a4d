// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.Closeable;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The operations of this host's file system that the cache uses while it runs: the seam where a
 * test lets any of them fail or hang. Every operation may block for as long as the disk likes, so
 * none is called on a reader's thread. Stateless, any thread; an interrupt closes the file that a
 * thread works on, and nothing else.
 *
 * <p>The type of a file is looked at before it is opened, because to open a pipe for reading waits
 * for a writer, without end. Between look and opening only this user and root could put a pipe in
 * the file's place, as the directories are closed to others; the thread then hangs as it would on a
 * dead disk, and every wait for it has a deadline.
 */
class DiskIo {
  private static final FileAttribute<Set<PosixFilePermission>> OWNERS_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
  private static final Set<OpenOption> READ =
      Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
  private static final Set<OpenOption> CREATE =
      Set.of(
          StandardOpenOption.CREATE_NEW,
          StandardOpenOption.READ,
          StandardOpenOption.WRITE,
          LinkOption.NOFOLLOW_LINKS);

  /**
   * For longer writes Linux takes memory in large pieces, which it first has to find or to clear: 1
   * MiB at once took 0.3 to 3.5 s of processor time for a GB in a virtual machine with Linux 6.18,
   * 128 KiB at once took 0.3 to 0.5.
   */
  private static final int WRITE_BYTES = 128 << 10;

  /**
   * Makes a file to read and write that has no name any more when this returns: nobody else can
   * open it, and it goes with its descriptor, however this process ends.
   */
  OpenFile createUnlinked(Path directory) throws IOException {
    // Nobody guesses it.
    Path file = directory.resolve(".s3e-" + UUID.randomUUID());
    FileChannel created = FileChannel.open(file, CREATE, OWNERS_FILE);
    try {
      Files.delete(file);
      return new ChannelFile(created);
    } catch (IOException e) {
      created.close();
      throw e;
    }
  }

  /**
   * Opens a regular file to read, without following a link. By the directory's descriptor, where a
   * JVM can do so: on Linux; by name elsewhere.
   *
   * @param directory as {@link DirectoryGuard#require} has told the one that the file is in
   * @throws NoSuchFileException if there is none
   * @throws FileSystemException if it is something else, or in another directory
   */
  OpenFile openIn(Path file, Object directory) throws IOException {
    if (!attributesOf(file).isRegularFile()) {
      throw new FileSystemException(file.toString(), null, "not a regular file");
    }
    return in(file, directory, READ);
  }

  /**
   * Creates a file for its owner alone, to read and write, as {@link #openIn} opens it.
   *
   * @throws java.nio.file.FileAlreadyExistsException if there is something of that name
   */
  OpenFile createIn(Path file, Object directory) throws IOException {
    return in(file, directory, CREATE);
  }

  private static OpenFile in(Path file, Object directory, Set<OpenOption> options)
      throws IOException {
    Path parent = Objects.requireNonNull(file.getParent());
    Path name = parent.relativize(file);
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(parent)) {
      if (!(entries instanceof SecureDirectoryStream<Path> opened)) {
        return new ChannelFile(FileChannel.open(file, options, OWNERS_FILE));
      }
      BasicFileAttributeView view = opened.getFileAttributeView(BasicFileAttributeView.class);
      if (!directory.equals(view.readAttributes().fileKey())) {
        throw new FileSystemException(parent.toString(), null, "is another directory now");
      }
      return new ChannelFile((FileChannel) opened.newByteChannel(name, options, OWNERS_FILE));
    }
  }

  /** A value that only this file has, whatever its name; null if there is no file of this name. */
  @Nullable Object identityOf(Path file) throws IOException {
    try {
      return attributesOf(file).fileKey();
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  /** Gives a file another name at once, replacing what has it. */
  void rename(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Gives a file a second name; fails as {@link #createIn} if there is something of that name. */
  void link(Path file, Path name) throws IOException {
    Files.createLink(name, file);
  }

  /** Deletes a file or an empty directory, if it is there; a link itself, never what it names. */
  void delete(Path file) throws IOException {
    Files.deleteIfExists(file);
  }

  /**
   * Bytes that may still be written where {@code directory} is; 0 where nobody can tell. Asks
   * without the list of mounts, which a container may not show.
   */
  long usableBytes(Path directory) throws IOException {
    return directory.toFile().getUsableSpace();
  }

  /** Files and connections that this process may have open at once; without end if not known. */
  long mostOpenFiles() {
    try {
      return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean os
          ? os.getMaxFileDescriptorCount()
          : Long.MAX_VALUE;
    } catch (LinkageError e) {
      // An image without the module.
      return Long.MAX_VALUE;
    }
  }

  private static BasicFileAttributes attributesOf(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }

  record ChannelFile(FileChannel channel) implements OpenFile {
    @Override
    public int read(ByteBuffer target, long position) throws IOException {
      return channel.read(target, position);
    }

    @Override
    public void write(ByteBuffer source, long position) throws IOException {
      int start = source.position();
      int end = source.limit();
      while (source.position() < end) {
        source.limit(Math.min(end, source.position() + WRITE_BYTES));
        int unused = channel.write(source, position + source.position() - start);
        source.limit(end);
      }
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  /** An open file. Any thread; one at a time may write. */
  interface OpenFile extends Closeable {
    /** Reads at a place, as {@link java.nio.channels.FileChannel#read(ByteBuffer, long)}. */
    int read(ByteBuffer target, long position) throws IOException;

    /** Reads at a place until {@code target} is full or the file ends; how many bytes. */
    default int readFully(ByteBuffer target, long position) throws IOException {
      int first = target.position();
      int count = 0;
      while (count >= 0 && target.hasRemaining()) {
        count = read(target, position + target.position() - first);
      }
      return target.position() - first;
    }

    /** Writes all of {@code source} at a place. */
    void write(ByteBuffer source, long position) throws IOException;
  }
}
