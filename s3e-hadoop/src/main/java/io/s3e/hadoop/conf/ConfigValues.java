// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import java.net.URI;
import java.nio.file.Path;
import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.util.StringUtils;

/** Text forms of configuration values, as Hadoop's users write them. */
public final class ConfigValues {
  private static final Pattern DURATION = Pattern.compile("(\\d{1,12})(ms|s|m|h)?");
  private static final String[] UNITS = {"", "K", "M", "G", "T"};

  private static final long MIB = 1L << 20;
  private static final long GIB = 1L << 30;
  private static final DecimalFormatSymbols ROOT_SYMBOLS =
      DecimalFormatSymbols.getInstance(Locale.ROOT);

  private ConfigValues() {}

  /** {@code true} or {@code false}, in any case; nothing else. */
  static boolean flag(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException(text);
    };
  }

  /** Bytes, with one of Hadoop's binary suffixes K, M, G, T or none. */
  static long size(String text) {
    return StringUtils.TraditionalBinaryPrefix.string2long(text);
  }

  /** The shortest text that {@link #size} reads back as {@code bytes}. */
  public static String sizeText(long bytes) {
    int unit = 0;
    long value = bytes;
    while (value != 0 && value % 1024 == 0 && unit < UNITS.length - 1) {
      value /= 1024;
      unit++;
    }
    return value + UNITS[unit];
  }

  /** For people: whole MiB, from 1 GiB on GiB with at most one decimal. */
  public static String roundedSize(long bytes) {
    return bytes < GIB
        ? bytes / MIB + " MiB"
        : new DecimalFormat("0.#", ROOT_SYMBOLS).format((double) bytes / GIB) + " GiB";
  }

  /** A number with ms, s, m or h after it; milliseconds without. */
  static Duration duration(String text) {
    Matcher matcher = DURATION.matcher(text.toLowerCase(Locale.ROOT));
    if (!matcher.matches()) {
      throw new IllegalArgumentException(text);
    }
    long number = Long.parseLong(matcher.group(1));
    String unit = matcher.group(2);
    return switch (unit == null ? "ms" : unit) {
      case "ms" -> Duration.ofMillis(number);
      case "s" -> Duration.ofSeconds(number);
      case "m" -> Duration.ofMinutes(number);
      default -> Duration.ofHours(number);
    };
  }

  /** The shortest text that {@link #duration} reads back as {@code value}. */
  static String durationText(Duration value) {
    long millis = value.toMillis();
    if (millis == 0) {
      return "0s";
    }
    if (millis % 3_600_000 == 0) {
      return millis / 3_600_000 + "h";
    }
    if (millis % 60_000 == 0) {
      return millis / 60_000 + "m";
    }
    return millis % 1000 == 0 ? millis / 1000 + "s" : millis + "ms";
  }

  /**
   * Paths separated by commas, as {@code /a} or {@code file:/a}; each once.
   *
   * @throws IllegalArgumentException if one cannot be a path
   */
  public static List<Path> paths(String text) {
    return Arrays.stream(text.split(","))
        .map(String::trim)
        .filter(each -> !each.isEmpty())
        .map(each -> each.startsWith("file:") ? Path.of(URI.create(each)) : Path.of(each))
        .map(Path::normalize)
        .distinct()
        .toList();
  }
}
