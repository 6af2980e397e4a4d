// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.cost;

import java.util.Locale;
import org.apache.hadoop.util.StringUtils;

/** Sizes and times as Spark writes them in its settings and as reports show them. */
public final class Sizes {
  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  private static final double UNIT = 1024;
  private static final double MILLIS = 1000;

  private Sizes() {}

  /**
   * A size of a setting, for example {@code 128m}, {@code 1GB} or {@code 4096}.
   *
   * @throws IllegalArgumentException if it is none
   */
  public static long parse(String text) {
    String size = text.trim().toLowerCase(Locale.ROOT).replaceFirst("(?<=[kmgtp])i?b$|b$", "");
    return StringUtils.TraditionalBinaryPrefix.string2long(size);
  }

  public static String bytes(long bytes) {
    double value = (double) bytes;
    int unit = 0;
    while (value >= UNIT && unit < UNITS.length - 1) {
      value /= UNIT;
      unit++;
    }
    return String.format(Locale.ROOT, unit == 0 ? "%.0f %s" : "%.1f %s", value, UNITS[unit]);
  }

  public static String seconds(long millis) {
    return String.format(Locale.ROOT, "%,.1f s", millis / MILLIS);
  }

  public static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** A share of a whole; 0 % of nothing. */
  public static String percent(long part, long whole) {
    return percent((double) part, (double) whole);
  }

  public static String percent(double part, double whole) {
    double share = whole == 0 ? 0 : 100 * part / whole;
    return String.format(Locale.ROOT, share < 10 ? "%.1f %%" : "%.0f %%", share);
  }

  public static String dollars(double usd) {
    return String.format(Locale.ROOT, usd < 0.01 ? "%.6f USD" : "%.2f USD", usd);
  }
}
