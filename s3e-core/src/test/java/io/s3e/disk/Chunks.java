package io.s3e.disk;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/** Chunks with content that only one disk block has, and a sink that accepts nothing else. */
final class Chunks implements ChunkSource, ChunkSink {
  private final DiskBlockId id;
  private final int mask;
  private final byte[] content;
  private int received;

  private Chunks(DiskBlockId id, int mask, byte[] content) {
    this.id = id;
    this.mask = mask;
    this.content = content;
  }

  /** The chunks in {@code mask}. */
  static Chunks of(DiskBlockId id, int mask) {
    return new Chunks(id, mask, content(id));
  }

  /** All chunks. */
  static Chunks all(DiskBlockId id) {
    return of(id, (1 << id.chunks()) - 1);
  }

  /** The same, with nothing accepted yet. */
  Chunks again() {
    return new Chunks(id, mask, content);
  }

  /** Disk block {@code index} of an object of {@code size} bytes. */
  static DiskBlockId block(String key, long size, long index) {
    return new DiskBlockId(
        "http://127.0.0.1:9000",
        ObjectVersion.identified(
            new ObjectRef("bucket", key),
            size,
            "\"" + Integer.toHexString(key.hashCode()) + "\"",
            null),
        index);
  }

  private static byte[] content(DiskBlockId id) {
    byte[] content = new byte[id.length()];
    new SplittableRandom(id.hashCode()).nextBytes(content);
    return content;
  }

  @Override
  public int mask() {
    return mask;
  }

  @Override
  public ByteBuffer chunk(int index) {
    if ((mask & 1 << index) == 0) {
      throw new AssertionError("chunk " + index + " was not offered");
    }
    return expected(index).asReadOnlyBuffer();
  }

  /**
   * @throws AssertionError if the bytes are not those of the disk block
   */
  @Override
  public boolean accept(int chunk, ByteBuffer bytes) {
    if (!bytes.equals(expected(chunk))) {
      throw new AssertionError("wrong bytes in chunk " + chunk + " of " + id);
    }
    received |= 1 << chunk;
    return true;
  }

  /** Which chunks were accepted. */
  int received() {
    return received;
  }

  private ByteBuffer expected(int chunk) {
    return ByteBuffer.wrap(content, chunk * DiskBlockId.CHUNK_BYTES, id.chunkLength(chunk)).slice();
  }
}
