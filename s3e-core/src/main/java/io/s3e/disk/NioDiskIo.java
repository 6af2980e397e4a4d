package io.s3e.disk;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file system of this host. Stateless, any thread; an interrupt closes the file that a thread
 * works on, and nothing else.
 *
 * <p>The type of a file is looked at before it is opened, because to open a pipe for reading waits
 * for a writer, without end. Between look and opening only this user and root could put a pipe in
 * the file's place, as the directories are closed to others; the thread then hangs as it would on a
 * dead disk, and every wait for it has a deadline.
 */
final class NioDiskIo implements DiskIo {
  private static final Logger LOG = LoggerFactory.getLogger(NioDiskIo.class);
  private static final FileAttribute<Set<PosixFilePermission>> OWNERS_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
  private static final Set<OpenOption> READ =
      Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
  private static final Set<OpenOption> READ_WRITE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
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
  private static final int CACHED_WRITE_BYTES = 128 << 10;

  /** Shorter writes come sooner by the page cache. */
  private static final int LEAST_DIRECT_BYTES = 256 << 10;

  @Override
  public OpenFile open(Path file) throws IOException {
    requireRegular(file);
    return new ChannelFile(FileChannel.open(file, READ), null);
  }

  @Override
  public OpenFile create(Path file) throws IOException {
    return new ChannelFile(FileChannel.open(file, CREATE, OWNERS_FILE), null);
  }

  @Override
  public OpenFile createUnlinked(Path directory) throws IOException {
    Path file = directory.resolve(".s3e-" + DirectoryGuard.randomHex(16));
    FileChannel channel = FileChannel.open(file, CREATE, OWNERS_FILE);
    FileChannel direct = null;
    boolean unlinked = false;
    try {
      direct = openDirect(file);
      Files.delete(file);
      unlinked = true;
    } finally {
      if (!unlinked) {
        new ChannelFile(channel, direct).close();
      }
    }
    return new ChannelFile(channel, direct);
  }

  /** The same file past the page cache; null where the file system takes no such writes. */
  private static @Nullable FileChannel openDirect(Path file) {
    try {
      return FileChannel.open(
          file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS, ExtendedOpenOption.DIRECT);
    } catch (IOException | UnsupportedOperationException | LinkageError e) {
      // A JVM of few modules has no such option.
      LOG.debug("{} is written through the page cache", file, e);
      return null;
    }
  }

  @Override
  public OpenFile openOrCreate(Path file) throws IOException {
    try {
      requireRegular(file);
    } catch (NoSuchFileException e) {
      try {
        return create(file);
      } catch (FileAlreadyExistsException raced) {
        requireRegular(file);
      }
    }
    return new ChannelFile(FileChannel.open(file, READ_WRITE), null);
  }

  @Override
  public @Nullable Object identityOf(Path file) throws IOException {
    try {
      return attributesOf(file).fileKey();
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  @Override
  public void rename(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
  }

  @Override
  public void link(Path file, Path name) throws IOException {
    Files.createLink(name, file);
  }

  @Override
  public void delete(Path file) throws IOException {
    Files.deleteIfExists(file);
  }

  /** Asks without the list of mounts, which a container may not show; 0 where nobody can tell. */
  @Override
  public long usableBytes(Path directory) {
    return directory.toFile().getUsableSpace();
  }

  private static void requireRegular(Path file) throws IOException {
    if (!attributesOf(file).isRegularFile()) {
      throw new NotRegularFileException(file);
    }
  }

  private static BasicFileAttributes attributesOf(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }

  private static final class ChannelFile implements OpenFile {
    private final FileChannel channel;

    /** Writes past the page cache; null if nothing does. */
    private volatile @Nullable FileChannel direct;

    ChannelFile(FileChannel channel, @Nullable FileChannel direct) {
      this.channel = channel;
      this.direct = direct;
    }

    @Override
    public long size() throws IOException {
      return channel.size();
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
      return channel.read(target, position);
    }

    @Override
    public void write(ByteBuffer source, long position) throws IOException {
      int start = source.position();
      FileChannel past = direct;
      if (past != null && isAligned(source, position)) {
        try {
          while (source.hasRemaining()) {
            int unused = past.write(source, position + source.position() - start);
          }
        } catch (ClosedChannelException e) {
          throw e;
        } catch (IOException e) {
          // Perhaps it is this way of writing that fails; else the other one tells.
          LOG.debug("{} is written through the page cache from now on", this, e);
          direct = null;
          past.close();
        }
      }
      int end = source.limit();
      while (source.position() < end) {
        source.limit(Math.min(end, source.position() + CACHED_WRITE_BYTES));
        int unused = channel.write(source, position + source.position() - start);
        source.limit(end);
      }
    }

    private static boolean isAligned(ByteBuffer source, long position) {
      return source.remaining() >= LEAST_DIRECT_BYTES
          && source.isDirect()
          && source.alignmentOffset(source.position(), Region.SLOT_BYTES) == 0
          && (source.remaining() | position) % Region.SLOT_BYTES == 0;
    }

    @Override
    public void truncate(long bytes) throws IOException {
      channel.truncate(bytes);
    }

    @Override
    public void close() throws IOException {
      try (FileChannel past = direct) {
        channel.close();
      }
    }
  }
}
