package io.s3e.disk;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Records that a fuzzer makes up, with right sums and hashes: without them it would hardly ever
 * come behind those. The first byte of a unit of {@value IndexRecord#BYTES} bytes chooses its type,
 * or leaves it as it is.
 */
final class FuzzedRecords {
  private static final byte[] NAME = {'S', '3', 'N', '3'};
  private static final byte[][] TYPES = {{'S', '3', 'H', '3'}, {'S', '3', 'C', '3'}, NAME};
  private static final int HASH = 8;
  private static final int NAME_BYTES = 40;
  private static final int SUM = 60;

  private FuzzedRecords() {}

  /** Changes {@code bytes} in place. */
  static byte[] repair(byte[] bytes) {
    int payload = 0;
    for (int at = 0; at + IndexRecord.BYTES <= bytes.length; at += payload + IndexRecord.BYTES) {
      int choice = bytes[at] & 0xFF;
      if (choice < TYPES.length) {
        System.arraycopy(TYPES[choice], 0, bytes, at, TYPES[choice].length);
      }
      payload = 0;
      if (Arrays.equals(bytes, at, at + NAME.length, NAME, 0, NAME.length)) {
        payload = hashName(bytes, at);
      }
      if (choice != 0xFF) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, at, SUM);
        ByteBuffer.wrap(bytes).putInt(at + SUM, (int) crc.getValue());
      }
    }
    return bytes;
  }

  /**
   * Puts the hash of the name that follows.
   *
   * @return bytes of the units of the name; 0 if it is not all there
   */
  private static int hashName(byte[] bytes, int at) {
    int length = ByteBuffer.wrap(bytes).getInt(at + NAME_BYTES);
    int from = at + IndexRecord.BYTES;
    if (length <= 0 || length > bytes.length - from) {
      return 0;
    }
    byte[] hash = StoredObject.hashOf(Arrays.copyOfRange(bytes, from, from + length));
    System.arraycopy(hash, 0, bytes, at + HASH, StoredObject.HASH_BYTES);
    return (length + IndexRecord.BYTES - 1) / IndexRecord.BYTES * IndexRecord.BYTES;
  }
}
