// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Where the bytes of one object go. {@link #commit} makes them visible; a destination that is
 * closed before leaves nothing behind.
 */
abstract class Destination implements AutoCloseable {

  /** Takes the bytes in order; closed by {@link #commit} or {@link #close}. */
  abstract WritableByteChannel channel();

  /** Its name in the result; null for none. */
  abstract @Nullable String label();

  /** All bytes are there. */
  abstract void commit() throws IOException;

  @Override
  public abstract void close() throws IOException;

  /** Where bytes are counted and dropped. */
  static Destination nothing() {
    return new Direct(new Discarding(), null);
  }

  static Destination standardOutput(StandardStreams streams) {
    return new Direct(streams.dataOut(), "-");
  }

  /**
   * A file, under a temporary name beside it until it is whole; or a device or pipe that exists.
   *
   * @param overwrite whether a file of that name may be replaced
   */
  static Destination file(Path file, boolean overwrite) throws IOException {
    if (Files.isDirectory(file)) {
      throw new IOException(file + " is a directory");
    }
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      return new Direct(FileChannel.open(file, StandardOpenOption.WRITE), file.toString());
    }
    refuseExisting(file, overwrite);
    // A link stays one: what it leads to is replaced.
    Path place = Files.exists(file) ? file.toRealPath() : file;
    Path directory = place.toAbsolutePath().getParent();
    if (directory == null || !Files.isDirectory(directory)) {
      throw new NoSuchFileException(String.valueOf(directory), null, "no such directory");
    }
    return new TemporaryFile(file, place, directory, overwrite);
  }

  private static void refuseExisting(Path file, boolean overwrite) throws IOException {
    if (!overwrite && Files.exists(file)) {
      throw new FileAlreadyExistsException(file.toString(), null, "exists; --force replaces it");
    }
  }

  /** Bytes that nobody can take back. */
  private static final class Direct extends Destination {
    private final WritableByteChannel channel;
    private final @Nullable String label;

    Direct(WritableByteChannel channel, @Nullable String label) {
      this.channel = channel;
      this.label = label;
    }

    @Override
    WritableByteChannel channel() {
      return channel;
    }

    @Override
    @Nullable String label() {
      return label;
    }

    @Override
    void commit() {}

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  /** Owns the temporary file until it has its name or is deleted. */
  private static final class TemporaryFile extends Destination {
    private static final int LONGEST_SHOWN_BYTES = 200;

    private final Path file;
    private final Path place;
    private final @Nullable Set<PosixFilePermission> permissions;
    private final Path temporary;
    private final boolean overwrite;
    private final FileChannel channel;
    private final AtExit atExit;

    /**
     * @param file as the user calls it
     * @param place where it lies
     * @param directory of that
     */
    TemporaryFile(Path file, Path place, Path directory, boolean overwrite) throws IOException {
      this.file = file;
      this.place = place;
      this.permissions = permissionsOf(place);
      this.overwrite = overwrite;
      // Not File.createTempFile, whose files only their owner may read.
      this.temporary = directory.resolve("." + shortName(place) + "." + UUID.randomUUID());
      Set<StandardOpenOption> create =
          EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      // From the start, since whoever may not read the old file may not read half of the new one.
      this.channel =
          permissions == null
              ? FileChannel.open(temporary, create)
              : FileChannel.open(
                  temporary, create, PosixFilePermissions.asFileAttribute(permissions));
      this.atExit = new AtExit("delete-temporary-file", this::deleteAtExit);
    }

    /** Those of the file that is replaced; null if there is none, or it has none. */
    private static @Nullable Set<PosixFilePermission> permissionsOf(Path place) throws IOException {
      PosixFileAttributeView view = Files.getFileAttributeView(place, PosixFileAttributeView.class);
      return view == null || !Files.exists(place) ? null : view.readAttributes().permissions();
    }

    /** The file's name, or what leaves room for the rest in the 255 bytes that names may have. */
    private static String shortName(Path file) {
      String name = file.getFileName().toString();
      return name.getBytes(UTF_8).length <= LONGEST_SHOWN_BYTES ? name : "s3e";
    }

    @Override
    WritableByteChannel channel() {
      return channel;
    }

    @Override
    String label() {
      return file.toString();
    }

    @Override
    void commit() throws IOException {
      channel.close();
      if (permissions != null && !permissions.equals(permissionsOf(temporary))) {
        // The process's mask has taken some of them.
        setPermissions(permissions);
      }
      if (overwrite) {
        Files.move(temporary, place, StandardCopyOption.ATOMIC_MOVE);
      } else {
        refuseExisting(file, false);
        Files.move(temporary, place);
      }
    }

    /** As far as the file system lets anybody: what came is worth more. */
    private void setPermissions(Set<PosixFilePermission> all) {
      try {
        var unused = Files.setPosixFilePermissions(temporary, all);
      } catch (IOException | UnsupportedOperationException e) {
        // It has those of a new file, no more than the old one had.
      }
    }

    @Override
    public void close() throws IOException {
      channel.close();
      Files.deleteIfExists(temporary);
      atExit.close();
    }

    private void deleteAtExit() {
      try {
        Files.deleteIfExists(temporary);
      } catch (IOException e) {
        System.err.println("Could not delete " + temporary + ": " + e);
      }
    }
  }

  private static final class Discarding implements WritableByteChannel {
    @Override
    public int write(ByteBuffer source) {
      int count = source.remaining();
      source.position(source.limit());
      return count;
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }
}
