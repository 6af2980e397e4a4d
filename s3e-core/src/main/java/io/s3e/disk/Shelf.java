package io.s3e.disk;

/**
 * What one directory of the cache holds, as far as this process knows, and who makes room in it.
 *
 * <p>A shelf is told of everything that happens to files and never touches one to answer a
 * question. What it says is a belief: files vanish, and come, without it.
 */
interface Shelf extends AutoCloseable {
  /** Answer of {@link #believed}: only the disk knows. */
  int UNKNOWN = -1;

  /**
   * Which chunks the disk has of a disk block: a bit for each, 0 if it has none, {@link #UNKNOWN}
   * if one must look. Never touches the disk. Any thread.
   */
  int believed(DiskBlockId id);

  /**
   * Whether a file of {@code bytes} may be written now. Asked once before each write, by the thread
   * that writes: a yes may set that room aside until the same thread says {@link #written} or asks
   * again. Who drops the file after a no counts what it dropped. Cheap; does not touch the disk.
   *
   * @param bytes what the file will take on disk, header included
   */
  boolean hasRoomFor(long bytes);

  /**
   * Whether {@link #hasRoomFor} would say yes to a disk block; nothing is set aside. Any thread.
   */
  boolean isOpen();

  /**
   * A file was written.
   *
   * @param mask the chunks that it holds
   * @param bytesOnDisk what it takes, header included
   */
  void written(DiskBlockId id, int mask, long bytesOnDisk);

  /** A read was answered from a file. May do I/O, so it is called on a thread of the disk. */
  void used(DiskBlockId id);

  /** A file was found absent, or invalid and deleted. */
  void gone(DiskBlockId id);

  /** Bytes that the directory holds, as far as known. */
  long bytes();

  /** Ends what the shelf does by itself. Deletes no file; takes 2 s at most. */
  @Override
  void close();
}
