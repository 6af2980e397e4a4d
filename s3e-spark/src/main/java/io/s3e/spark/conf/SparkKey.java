// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.conf;

import java.util.Locale;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.spark.SparkConf;

/**
 * One setting of the plugin's own.
 *
 * @param name in full, beginning with {@code spark.s3e.}
 * @param defaultText the default as one would write it
 * @param accepted the accepted values, in words that complete "expected …"
 * @param parse turns trimmed text into a value; any RuntimeException means "not accepted"
 * @param valid whether a parsed value is in range
 */
public record SparkKey<T>(
    String name,
    String defaultText,
    String accepted,
    Function<String, T> parse,
    Predicate<T> valid) {

  static SparkKey<Boolean> flag(String name, boolean byDefault) {
    return new SparkKey<>(
        SparkKeys.PREFIX + name,
        Boolean.toString(byDefault),
        "true or false",
        SparkKey::parseFlag,
        value -> true);
  }

  static SparkKey<Double> number(String name, double byDefault, double min, double max) {
    return new SparkKey<>(
        SparkKeys.PREFIX + name,
        Double.toString(byDefault),
        String.format(Locale.ROOT, "a number from %s to %s", min, max),
        Double::valueOf,
        value -> value >= min && value <= max);
  }

  /**
   * The configured value, else the default.
   *
   * @throws IllegalArgumentException naming the key, the value and what is accepted
   */
  public T get(SparkConf conf) {
    String text = conf.get(name, defaultText).trim();
    T value;
    try {
      value = parse.apply(text);
    } catch (RuntimeException e) {
      throw new IllegalArgumentException(rejected(text), e);
    }
    if (!valid.test(value)) {
      throw new IllegalArgumentException(rejected(text));
    }
    return value;
  }

  private String rejected(String text) {
    return name + " = \"" + text + "\": expected " + accepted;
  }

  private static boolean parseFlag(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException(text);
    };
  }
}
