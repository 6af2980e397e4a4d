package io.s3e.disk;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.LongSupplier;

/**
 * How much one directory of the cache may hold: the smallest of its cap, the file system's space
 * and its inodes; and whether anything may be written at all. What the cache holds itself counts as
 * free: it is the cache's to give back.
 *
 * <p>{@link #refresh} does I/O, on one thread; its answers are read by any.
 */
final class CacheSpace {
  /** Space that a free inode stands for: files are of 1 MiB at most, and many are not full. */
  static final long BYTES_PER_INODE = 256 << 10;

  /** With less than this part usable, the disk is others' to use. */
  private static final double RESERVED = 0.05;

  private final DiskIo io;
  private final Path directory;
  private final LongSupplier totalBytes;
  private final LongSupplier freeInodes;
  private final long cap;
  private volatile long capacity;
  private volatile boolean mayWrite;

  CacheSpace(DiskIo io, Path directory, DiskCacheConfig config) {
    this(
        io, directory, config, () -> directory.toFile().getTotalSpace(), new FreeInodes(directory));
  }

  CacheSpace(
      DiskIo io,
      Path directory,
      DiskCacheConfig config,
      LongSupplier totalBytes,
      LongSupplier freeInodes) {
    this.io = io;
    this.directory = directory;
    this.totalBytes = totalBytes;
    this.freeInodes = freeInodes;
    this.cap = config.capacityBytes() == 0 ? Long.MAX_VALUE : config.capacityBytes();
  }

  /**
   * Asks the file system.
   *
   * @param heldBytes what the cache holds in the directory
   * @return the new {@link #capacity()}
   * @throws IOException if it does not answer; nothing may be written until it does
   */
  long refresh(long heldBytes) throws IOException {
    long usable;
    try {
      usable = io.usableBytes(directory);
    } catch (IOException e) {
      mayWrite = false;
      throw e;
    }
    long most = Math.min(cap, usable + heldBytes);
    long inodes = freeInodes.getAsLong();
    if (inodes != FreeInodes.UNKNOWN) {
      most = Math.min(most, inodes * BYTES_PER_INODE + heldBytes);
    }
    capacity = most;
    mayWrite = usable > 0 && usable >= RESERVED * totalBytes.getAsLong() && inodes != 0;
    return most;
  }

  /** The most that the directory may hold, in bytes, when last asked; 0 before. */
  long capacity() {
    return capacity;
  }

  /** Whether the disk was free enough to be written to when last asked. */
  boolean mayWrite() {
    return mayWrite;
  }
}
