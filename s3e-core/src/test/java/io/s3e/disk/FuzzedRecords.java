// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Records that a fuzzer makes up, with right sums: without them it would hardly ever come behind
 * those. The first byte of a unit of {@value RegionTable#RECORD_BYTES} bytes chooses its type, or
 * leaves it as it is.
 */
final class FuzzedRecords {
  private static final byte[][] TYPES = {{'S', '3', 'H', '5'}, {'S', '3', 'C', '5'}};
  private static final int SUM = 60;

  private FuzzedRecords() {}

  /** Changes {@code bytes} in place. */
  static byte[] repair(byte[] bytes) {
    for (int at = 0;
        at + RegionTable.RECORD_BYTES <= bytes.length;
        at += RegionTable.RECORD_BYTES) {
      int choice = bytes[at] & 0xFF;
      if (choice < TYPES.length) {
        System.arraycopy(TYPES[choice], 0, bytes, at, TYPES[choice].length);
      }
      if (choice != 0xFF) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, at, SUM);
        ByteBuffer.wrap(bytes).putInt(at + SUM, (int) crc.getValue());
      }
    }
    return bytes;
  }
}
