package io.s3e.disk;

import java.nio.ByteBuffer;

/**
 * One direct buffer, cut into what it takes to read a file and to write its successor. The parts
 * share the buffer's bytes and belong to whoever has it; one thread.
 *
 * @param front header and first chunk of a file, as they lie on disk
 * @param header the header alone
 * @param stored a chunk as it is on disk, with room for a seal after it; the rest of {@code front}
 * @param work a chunk that is decrypted or encrypted, with room for a seal after it
 * @param newHeader the header that is being written
 */
record BlockScratch(
    ByteBuffer front, ByteBuffer header, ByteBuffer stored, ByteBuffer work, ByteBuffer newHeader) {
  private static final int PART = BlockHeader.BYTES + DiskBlockId.CHUNK_BYTES;

  /** Length of the buffer, in bytes. */
  static final int BYTES = 2 * PART + 2 * BlockHeader.BYTES;

  static BlockScratch of(ByteBuffer buffer) {
    if (buffer.capacity() < BYTES) {
      throw new IllegalArgumentException(
          "scratch of " + buffer.capacity() + " bytes: expected at least " + BYTES);
    }
    int page = BlockHeader.BYTES;
    return new BlockScratch(
        buffer.slice(0, PART),
        buffer.slice(0, page),
        buffer.slice(page, PART),
        buffer.slice(page + PART, PART),
        buffer.slice(page + 2 * PART, page));
  }
}
