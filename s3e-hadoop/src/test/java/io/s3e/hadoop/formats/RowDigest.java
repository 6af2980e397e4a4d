// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.formats;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** A digest of all values that a reader gave, in their order, and how many there were. */
public final class RowDigest {
  private static final int BUFFER_BYTES = 8 << 10;

  private final MessageDigest digest;
  private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
  private long rows;
  private long values;

  public RowDigest() {
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  public void add(long value) {
    room(9).put((byte) 1).putLong(value);
    values++;
  }

  public void add(double value) {
    add(Double.doubleToRawLongBits(value));
  }

  public void add(byte[] value) {
    add(value, 0, value.length);
  }

  public void add(byte[] value, int from, int length) {
    room(5).put((byte) 2).putInt(length);
    flush();
    digest.update(value, from, length);
    values++;
  }

  public void addNull() {
    room(1).put((byte) 0);
    values++;
  }

  public void endRow() {
    rows++;
  }

  public long rows() {
    return rows;
  }

  private ByteBuffer room(int bytes) {
    if (buffer.remaining() < bytes) {
      flush();
    }
    return buffer;
  }

  private void flush() {
    digest.update(buffer.flip());
    buffer.clear();
  }

  @Override
  public String toString() {
    flush();
    return rows
        + " rows, "
        + values
        + " values, "
        + HexFormat.of().formatHex(digest.digest(), 0, 8);
  }
}
