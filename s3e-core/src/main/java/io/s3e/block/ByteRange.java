// SPDX-License-Identifier: Apache-2.0
package io.s3e.block;

/**
 * Bytes {@code [start, end)} of an object. Immutable; may be empty.
 *
 * @param start offset of the first byte, 0 or more
 * @param end offset after the last byte, at least {@code start}
 */
public record ByteRange(long start, long end) {
  public ByteRange {
    if (start < 0 || end < start) {
      throw new IllegalArgumentException(
          "range [" + start + ", " + end + ") is not 0 <= start <= end");
    }
  }

  /** The range of {@code length} bytes from {@code start}. */
  public static ByteRange ofLength(long start, long length) {
    return new ByteRange(start, Math.addExact(start, length));
  }

  /** Number of bytes. */
  public long length() {
    return end - start;
  }

  /** Whether the range holds no byte. */
  public boolean isEmpty() {
    return start == end;
  }

  /** The value of an HTTP {@code Range} header for this range, which must not be empty. */
  public String httpHeader() {
    if (isEmpty()) {
      throw new IllegalStateException("an empty range has no HTTP form: " + this);
    }
    return "bytes=" + start + "-" + (end - 1);
  }

  @Override
  public String toString() {
    return "[" + start + ", " + end + ")";
  }
}
