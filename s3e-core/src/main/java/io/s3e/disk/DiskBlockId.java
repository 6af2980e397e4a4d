package io.s3e.disk;

import io.s3e.block.ObjectVersion;

/**
 * One disk block of one immutable content.
 *
 * @param store which store the bucket is in: scheme, host and port of its endpoint
 * @param version whose block; its ETag is known
 * @param index which piece of {@link #BLOCK_BYTES} of the object, 0 or more
 */
public record DiskBlockId(String store, ObjectVersion version, long index) {
  /** Length of a disk block, but for an object's last one, in bytes. */
  public static final int BLOCK_BYTES = 1 << 20;

  /** Length of a chunk, but for an object's last one, in bytes. */
  public static final int CHUNK_BYTES = 64 << 10;

  /** Chunks in a disk block. */
  public static final int CHUNKS = BLOCK_BYTES / CHUNK_BYTES;

  public DiskBlockId {
    if (version.etag() == null) {
      throw new IllegalArgumentException(version + " has no ETag to be known by");
    }
    if (index < 0 || index * BLOCK_BYTES >= version.size()) {
      throw new IllegalArgumentException("disk block " + index + " is outside of " + version);
    }
  }

  /** Offset of the first byte in the object. */
  public long start() {
    return index * BLOCK_BYTES;
  }

  /** Bytes in the disk block. */
  public int length() {
    return (int) Math.min(BLOCK_BYTES, version.size() - start());
  }

  /** Chunks in the disk block. */
  public int chunks() {
    return (length() + CHUNK_BYTES - 1) / CHUNK_BYTES;
  }

  /** Bytes in one of its chunks. */
  public int chunkLength(int chunk) {
    return Math.min(CHUNK_BYTES, length() - chunk * CHUNK_BYTES);
  }

  /**
   * Spread as {@link io.s3e.block.BlockId} is; written out, as a new JVM takes long to derive it.
   */
  @Override
  public int hashCode() {
    return version.hashCode() * 31 + (int) (index * 0x9E3779B1L);
  }

  @Override
  public String toString() {
    return "disk block " + index + " of " + version;
  }
}
