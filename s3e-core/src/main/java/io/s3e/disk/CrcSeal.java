package io.s3e.disk;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Seals by CRC32C: four bytes of the sum, and zeros. Finds what goes wrong by chance. The processor
 * computes it, at tens of GB/s.
 */
final class CrcSeal implements ChunkSeal {
  private static final byte[] NO_SEAL = new byte[BYTES];

  private final CRC32C crc = new CRC32C();

  @Override
  public ByteBuffer sealChunk(
      int chunk, ByteBuffer plain, ByteBuffer work, ByteBuffer seals, int at) {
    put(seals, at, ofChunk(plain));
    return plain;
  }

  @Override
  public ByteBuffer openChunk(
      int chunk, ByteBuffer stored, ByteBuffer work, ByteBuffer seals, int at)
      throws BrokenSealException {
    verify(ofChunk(stored), seals, at, "chunk " + chunk);
    return stored;
  }

  @Override
  public void sealHeader(ByteBuffer header, int at) {
    put(header, at, ofHeader(header, at));
  }

  @Override
  public void verifyHeader(ByteBuffer header, int at) throws BrokenSealException {
    verify(ofHeader(header, at), header, at, "header");
  }

  private int ofChunk(ByteBuffer bytes) {
    int position = bytes.position();
    crc.reset();
    crc.update(bytes);
    bytes.position(position);
    return (int) crc.getValue();
  }

  private int ofHeader(ByteBuffer header, int at) {
    crc.reset();
    crc.update(header.slice(0, at));
    crc.update(NO_SEAL);
    crc.update(header.slice(at + BYTES, header.capacity() - at - BYTES));
    return (int) crc.getValue();
  }

  private static void put(ByteBuffer seals, int at, int sum) {
    seals.putInt(at, sum).putInt(at + 4, 0).putLong(at + 8, 0);
  }

  private static void verify(int sum, ByteBuffer seals, int at, String what)
      throws BrokenSealException {
    if (seals.getInt(at) != sum || seals.getInt(at + 4) != 0 || seals.getLong(at + 8) != 0) {
      throw new BrokenSealException(what + " does not have the CRC32C that was written");
    }
  }
}
