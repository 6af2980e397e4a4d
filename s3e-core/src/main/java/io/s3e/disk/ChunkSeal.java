package io.s3e.disk;

import java.nio.ByteBuffer;

/**
 * How the bytes of one file show that they are what was written: by checksums ({@link CrcSeal}), or
 * encrypted with authentication ({@link GcmSeal}). A seal takes {@value #BYTES} bytes. One thread,
 * one file.
 */
interface ChunkSeal {
  /** Length of a seal, in bytes. */
  int BYTES = 16;

  /**
   * Seals a chunk.
   *
   * @param plain its bytes, from position to limit; left as they are
   * @param work at least {@value #BYTES} bytes longer than the chunk; may be used for the result
   * @param seals where the seal is put, at {@code at}
   * @return what is to be stored, from position to limit
   */
  ByteBuffer sealChunk(int chunk, ByteBuffer plain, ByteBuffer work, ByteBuffer seals, int at);

  /**
   * Verifies a chunk and makes it readable.
   *
   * @param stored its bytes as they were stored, from position 0 to the limit; has room for a seal
   *     after them; may be changed
   * @param work at least as long as the chunk; may be used for the result
   * @param seals where its seal stands, at {@code at}
   * @return its bytes, from position to limit: {@code stored} or {@code work}
   * @throws BrokenSealException if it is not what was sealed
   */
  ByteBuffer openChunk(int chunk, ByteBuffer stored, ByteBuffer work, ByteBuffer seals, int at)
      throws BrokenSealException;

  /** Seals all of a header but the place of the seal itself, which is at {@code at}. */
  void sealHeader(ByteBuffer header, int at);

  /**
   * Verifies a header.
   *
   * @throws BrokenSealException if it is not what was sealed
   */
  void verifyHeader(ByteBuffer header, int at) throws BrokenSealException;

  /** Bytes are not those that were sealed. */
  final class BrokenSealException extends Exception {
    private static final long serialVersionUID = 1;

    private final String reason;

    BrokenSealException(String reason) {
      // The stack says nothing that the reason does not.
      super(reason, null, false, false);
      this.reason = reason;
    }

    /** What is not as it should be. */
    String reason() {
      return reason;
    }
  }
}
