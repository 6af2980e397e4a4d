package io.s3e.fetch;

import io.s3e.block.ByteRange;
import io.s3e.disk.DiskBlockId;

/**
 * Adjacent chunks of one disk block: the part of a run that one file holds.
 *
 * @param first the first chunk
 * @param end after the last chunk
 */
record Piece(DiskBlockId id, int first, int end) {
  /** The part of {@code bytes} in the disk block; the object's blocks begin where chunks do. */
  static Piece of(DiskBlockId id, ByteRange bytes) {
    long from = Math.max(bytes.start(), id.start()) - id.start();
    long to = Math.min(bytes.end(), id.start() + id.length()) - id.start();
    int chunk = DiskBlockId.CHUNK_BYTES;
    return new Piece(id, (int) (from / chunk), (int) ((to + chunk - 1) / chunk));
  }

  /** A bit for each chunk. */
  int mask() {
    return (int) ((1L << end) - (1L << first));
  }

  /** Offset in the object after the last byte. */
  long endOffset() {
    return Math.min(id.start() + id.length(), id.start() + (long) end * DiskBlockId.CHUNK_BYTES);
  }

  /** Bytes in it. */
  int bytes() {
    return (int) (endOffset() - id.start() - (long) first * DiskBlockId.CHUNK_BYTES);
  }
}
