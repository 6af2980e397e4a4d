// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The part of an object that a {@code Range} header names.
 *
 * @param start first byte
 * @param length number of bytes, at least 1
 */
record ByteSpan(long start, long length) {

  private static final Pattern SINGLE_RANGE = Pattern.compile("bytes=(\\d*)-(\\d*)");

  /** Thrown for a range that names no byte of the object: the answer is 416. */
  static final class NotSatisfiableException extends Exception {
    private static final long serialVersionUID = 1L;

    NotSatisfiableException(String range, long objectLength) {
      super("Range " + range + " names no byte of an object of " + objectLength + " bytes");
    }
  }

  /**
   * Resolves a single range the way S3 does: an end past the object is clipped, a suffix longer
   * than the object is the whole object.
   *
   * @return the span, or null when the header is not a single well-formed range, which S3 answers
   *     as if the header were not there
   * @throws NotSatisfiableException when the range begins at or after the object's end, or is an
   *     empty suffix
   */
  static @Nullable ByteSpan parse(String range, long objectLength) throws NotSatisfiableException {
    Matcher matcher = SINGLE_RANGE.matcher(range.trim());
    if (!matcher.matches()) {
      return null;
    }
    String first = matcher.group(1);
    String last = matcher.group(2);
    if (first.isEmpty() && last.isEmpty()) {
      return null;
    }
    try {
      if (first.isEmpty()) {
        long suffix = Math.min(Long.parseLong(last), objectLength);
        return span(objectLength - suffix, suffix, range, objectLength);
      }
      long start = Long.parseLong(first);
      long end = last.isEmpty() ? Long.MAX_VALUE : Long.parseLong(last);
      if (end < start) {
        return null;
      }
      return span(start, Math.min(end, objectLength - 1) - start + 1, range, objectLength);
    } catch (NumberFormatException tooLarge) {
      return null;
    }
  }

  private static ByteSpan span(long start, long length, String range, long objectLength)
      throws NotSatisfiableException {
    if (length <= 0) {
      throw new NotSatisfiableException(range, objectLength);
    }
    return new ByteSpan(start, length);
  }

  long endInclusive() {
    return start + length - 1;
  }
}
