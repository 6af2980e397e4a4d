// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.formats;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/** A digest of all values that a reader gave, in their order, and how many there were. */
public final class RowDigest {
  private static final int BUFFER_BYTES = 8 << 10;

  /** Two of 32 bits, which every compiler of a JVM has instructions for. */
  private final List<Checksum> sums = List.of(new CRC32(), new CRC32C());

  private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
  private long rows;
  private long values;

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
    sums.forEach(sum -> sum.update(value, from, length));
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
    sums.forEach(sum -> sum.update(buffer.array(), 0, buffer.position()));
    buffer.clear();
  }

  @Override
  public String toString() {
    flush();
    StringBuilder told = new StringBuilder().append(rows).append(" rows, ");
    told.append(values).append(" values, ");
    sums.forEach(sum -> told.append(HexFormat.of().toHexDigits((int) sum.getValue())));
    return told.toString();
  }
}
