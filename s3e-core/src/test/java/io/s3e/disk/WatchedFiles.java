// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The files that a cache has open, as a test sees them from below: how many there are and how long
 * they have grown. The test may change their bytes, which have no other way in: most of them have
 * no name. Any thread.
 */
final class WatchedFiles implements UnaryOperator<OpenFile> {
  // Guarded by this.
  private final List<Watched> files = new ArrayList<>();
  private long bytes;
  private long mostBytes;

  @Override
  public synchronized OpenFile apply(OpenFile file) {
    Watched watched = new Watched(file);
    files.add(watched);
    return watched;
  }

  /** How many files were opened so far. */
  synchronized int opened() {
    return files.size();
  }

  /** How many of them have not been closed. */
  synchronized int open() {
    return (int) files.stream().filter(file -> !file.isClosed).count();
  }

  /** How many of them were closed more than once. */
  synchronized int closedTwice() {
    return (int) files.stream().filter(file -> file.isClosedTwice).count();
  }

  /** How long all of them are, as far as they were written, in bytes. */
  synchronized long bytes() {
    return bytes;
  }

  /** The most that {@link #bytes()} has ever been. */
  synchronized long mostBytes() {
    return mostBytes;
  }

  private synchronized void shrunk(Watched file, long end) {
    bytes -= Math.max(0, file.end - end);
    file.end = Math.min(file.end, end);
  }

  /** The file that was opened as number {@code number}, without anything between. */
  synchronized OpenFile file(int number) {
    return files.get(number).file;
  }

  private synchronized void grown(Watched file, long end) {
    if (end > file.end) {
      bytes += end - file.end;
      mostBytes = Math.max(mostBytes, bytes);
      file.end = end;
    }
  }

  /** Cuts a file of the disk off, as nothing of a cache does. */
  static void truncate(OpenFile file, long bytes) throws IOException {
    FileChannel unused = ((DiskIo.ChannelFile) file).channel().truncate(bytes);
  }

  private final class Watched implements OpenFile {
    private final OpenFile file;

    // Guarded by the watcher.
    private long end;
    private boolean isClosed;
    private boolean isClosedTwice;

    Watched(OpenFile file) {
      this.file = file;
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
      return file.read(target, position);
    }

    @Override
    public void write(ByteBuffer source, long position) throws IOException {
      grown(this, position + source.remaining());
      file.write(source, position);
    }

    @Override
    public void close() throws IOException {
      synchronized (WatchedFiles.this) {
        isClosedTwice |= isClosed;
        isClosed = true;
        // It has no name, so that its space is free.
        shrunk(this, 0);
      }
      file.close();
    }
  }
}
