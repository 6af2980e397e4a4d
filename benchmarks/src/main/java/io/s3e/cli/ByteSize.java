// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Sizes as people write them: {@code 8m}, {@code 8MiB}, {@code 64k}, {@code 1048576}. */
final class ByteSize {
  static final String FORM = "a size such as 8m, 8MiB, 64k or 1048576";

  private static final Pattern SYNTAX = Pattern.compile("(\\d{1,19})(?:([kmgt])(?:i?b)?|b)?");
  private static final String UNITS = "kmgt";
  private static final int UNIT_BITS = 10;
  private static final double UNIT = 1 << UNIT_BITS;

  private ByteSize() {}

  /**
   * A size in bytes; units are powers of 1024, in any case.
   *
   * @throws IllegalArgumentException if it is none
   */
  static long parse(String text) {
    Matcher matcher = SYNTAX.matcher(text.trim().toLowerCase(Locale.ROOT));
    if (!matcher.matches()) {
      throw new IllegalArgumentException("expected " + FORM + " instead of '" + text + "'");
    }
    int unit = matcher.group(2) == null ? 0 : UNITS.indexOf(matcher.group(2)) + 1;
    try {
      return Math.multiplyExact(Long.parseLong(matcher.group(1)), 1L << (unit * UNIT_BITS));
    } catch (ArithmeticException | NumberFormatException e) {
      throw new IllegalArgumentException("'" + text + "' is too large", e);
    }
  }

  /** For reading: {@code 512 B}, {@code 8.0 MiB}. */
  static String format(long bytes) {
    if (bytes < UNIT) {
      return bytes + " B";
    }
    double value = bytes / UNIT;
    int unit = 0;
    while (value >= UNIT && unit < UNITS.length() - 1) {
      value /= UNIT;
      unit++;
    }
    char letter = Character.toUpperCase(UNITS.charAt(unit));
    return String.format(Locale.ROOT, "%.1f %ciB", value, letter);
  }

  /** For picocli. */
  static final class Converter implements ITypeConverter<Long> {
    @Override
    public Long convert(String value) {
      try {
        return parse(value);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(String.valueOf(e.getMessage()));
      }
    }
  }
}
