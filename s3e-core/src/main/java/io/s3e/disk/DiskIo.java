package io.s3e.disk;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The operations of the file system that the cache uses while it runs: the seam where a test lets
 * any of them fail or hang. Every operation may block for as long as the disk likes, so none is
 * called on a reader's thread. Any thread.
 */
interface DiskIo {
  /**
   * Opens a regular file, without following a link.
   *
   * @throws java.nio.file.NoSuchFileException if there is none
   * @throws java.nio.file.FileSystemException if it is something else
   */
  OpenFile open(Path file) throws IOException;

  /**
   * Creates a file that nobody but its owner may read or write, without following a link.
   *
   * @throws java.nio.file.FileAlreadyExistsException if there is something of that name
   */
  OpenFile create(Path file) throws IOException;

  /**
   * Makes a file to read and write that has no name any more when this returns: nobody else can
   * open it, and it goes with its descriptor, however this process ends.
   */
  OpenFile createUnlinked(Path directory) throws IOException;

  /**
   * Opens a regular file to read and write, without following a link; makes it, for its owner
   * alone, if it is not there.
   *
   * @param directory as {@link DirectoryGuard#require} has told the one that the file is in
   * @throws java.nio.file.FileSystemException if it is something else, or in another directory
   */
  OpenFile openOrCreate(Path file, Object directory) throws IOException;

  /** A value that only this file has, whatever its name; null if there is no file of this name. */
  @Nullable Object identityOf(Path file) throws IOException;

  /** Gives a file another name at once, replacing what has it. */
  void rename(Path from, Path to) throws IOException;

  /**
   * Gives a file a second name.
   *
   * @throws java.nio.file.FileAlreadyExistsException if there is something of that name
   */
  void link(Path file, Path name) throws IOException;

  /** Deletes a file or an empty directory, if it is there; a link itself, never what it names. */
  void delete(Path file) throws IOException;

  /** Bytes that may still be written where {@code directory} is. */
  long usableBytes(Path directory) throws IOException;

  /** An open file. Any thread; one at a time may write. */
  interface OpenFile extends Closeable {
    /** Length in bytes. */
    long size() throws IOException;

    /** Reads at a place, as {@link java.nio.channels.FileChannel#read(ByteBuffer, long)}. */
    int read(ByteBuffer target, long position) throws IOException;

    /**
     * Reads at a place until {@code target} is full or the file ends.
     *
     * @return how many bytes were read
     */
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

    /** Cuts the file off behind {@code bytes}. */
    void truncate(long bytes) throws IOException;
  }
}
