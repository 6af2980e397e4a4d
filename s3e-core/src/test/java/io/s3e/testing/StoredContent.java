// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import java.util.Locale;
import java.util.Random;
import java.util.zip.CRC32;

/** The bytes of one version of an object, kept or computed when they are asked for. */
public interface StoredContent {
  /** How many bytes there are. */
  long size();

  /** With quotes; another one for other bytes. */
  String etag();

  /** Puts {@code count} bytes from {@code position} on into the array. */
  void copy(long position, byte[] into, int offset, int count);

  /** Bytes in an array of their own. */
  static StoredContent of(byte[] bytes) {
    byte[] content = bytes.clone();
    CRC32 crc = new CRC32();
    crc.update(content);
    String etag = "\"" + Long.toHexString(crc.getValue()) + "-" + content.length + "\"";
    return new StoredContent() {
      @Override
      public long size() {
        return content.length;
      }

      @Override
      public String etag() {
        return etag;
      }

      @Override
      public void copy(long position, byte[] into, int offset, int count) {
        System.arraycopy(content, Math.toIntExact(position), into, offset, count);
      }
    };
  }

  /**
   * Bytes by a formula, in 1 MiB of memory at most, however many they are. The pattern repeats
   * after a prime number of bytes, so that bytes of a wrong place differ from the right ones.
   *
   * @param version other bytes and another ETag for each
   */
  static StoredContent generated(long size, long version) {
    byte[] pattern = new byte[(int) Math.max(1, Math.min(size, 1_048_573))];
    new Random(version).nextBytes(pattern);
    String etag = String.format(Locale.ROOT, "\"%032x-%d\"", version, size);
    return new StoredContent() {
      @Override
      public long size() {
        return size;
      }

      @Override
      public String etag() {
        return etag;
      }

      @Override
      public void copy(long position, byte[] into, int offset, int count) {
        int from = (int) (position % pattern.length);
        for (int done = 0; done < count; from = 0) {
          int some = Math.min(count - done, pattern.length - from);
          System.arraycopy(pattern, from, into, offset + done, some);
          done += some;
        }
      }
    };
  }
}
