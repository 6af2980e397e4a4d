// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.block.ByteRange;
import java.io.EOFException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A part of an object before its size is known, written as HTTP does, both ends included ({@code
 * 0-99}, {@code 100-}, {@code -100} for the last hundred bytes), or as {@code START+LENGTH}.
 */
sealed interface RangeSpec {
  String FORM = "START-END (both included), START-, -LENGTH (the last ones) or START+LENGTH";

  /**
   * The bytes meant, cut at the end of the object as HTTP cuts them.
   *
   * @throws EOFException if the object has none of them
   */
  ByteRange in(long size) throws EOFException;

  /** From an offset on, {@code end} excluded. */
  record Between(long start, long end) implements RangeSpec {
    @Override
    public ByteRange in(long size) throws EOFException {
      if (start >= size) {
        throw new EOFException(
            "the range starts at " + start + ", the object has " + size + " bytes");
      }
      return new ByteRange(start, Math.min(end, size));
    }
  }

  /** The last bytes, or all if there are fewer. */
  record Last(long length) implements RangeSpec {
    @Override
    public ByteRange in(long size) {
      return new ByteRange(Math.max(0, size - length), size);
    }
  }

  /** For picocli. */
  final class Converter implements ITypeConverter<RangeSpec> {
    private static final Pattern SYNTAX = Pattern.compile("(\\w*)([-+])(\\w*)");

    @Override
    public RangeSpec convert(String value) {
      Matcher matcher = SYNTAX.matcher(value.trim());
      if (!matcher.matches()) {
        throw wrong(value, null);
      }
      String from = matcher.group(1);
      String to = matcher.group(3);
      boolean byLength = matcher.group(2).equals("+");
      try {
        if (from.isEmpty() && !byLength) {
          return last(value, ByteSize.parse(to));
        }
        long start = ByteSize.parse(from);
        if (to.isEmpty() && !byLength) {
          return new Between(start, Long.MAX_VALUE);
        }
        long end = Math.addExact(ByteSize.parse(to), byLength ? start : 1);
        if (end <= start) {
          throw wrong(value, null);
        }
        return new Between(start, end);
      } catch (IllegalArgumentException | ArithmeticException e) {
        throw wrong(value, e);
      }
    }

    private static RangeSpec last(String value, long length) {
      if (length == 0) {
        throw wrong(value, null);
      }
      return new Last(length);
    }

    private static TypeConversionException wrong(String value, @Nullable Exception cause) {
      TypeConversionException wrong =
          new TypeConversionException("expected " + FORM + " instead of '" + value + "'");
      wrong.initCause(cause);
      return wrong;
    }
  }
}
