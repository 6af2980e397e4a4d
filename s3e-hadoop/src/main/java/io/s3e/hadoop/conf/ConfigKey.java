// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.jspecify.annotations.Nullable;

/**
 * One setting: its name, what it accepts, its default and what it does. The value is read from a
 * configuration on which S3A's per-bucket overrides have been applied.
 *
 * @param name full name, beginning with {@link S3EKeys#PREFIX}
 * @param type the kind of value, for the documentation
 * @param defaultText the default as one would write it
 * @param accepted the range of accepted values, in words that complete "expected …"
 * @param description what it does, in Markdown
 * @param parse turns trimmed text into a value; any RuntimeException means "not accepted"
 * @param fromS3A the default that follows from S3A's keys; null if none does
 */
public record ConfigKey<T>(
    String name,
    String type,
    String defaultText,
    String accepted,
    String description,
    Function<String, T> parse,
    @Nullable S3ADefault<T> fromS3A) {

  ConfigKey(
      String name,
      String type,
      String defaultText,
      String accepted,
      String description,
      Function<String, T> parse) {
    this(name, type, defaultText, accepted, description, parse, null);
  }

  /** The same key, whose default is S3A's where a user has set S3A's. */
  ConfigKey<T> orFromS3A(S3ADefault<T> from) {
    return new ConfigKey<>(name, type, defaultText, accepted, description, parse, from);
  }

  static ConfigKey<Boolean> flag(String name, boolean byDefault, String description) {
    return new ConfigKey<>(
        S3EKeys.PREFIX + name,
        "flag",
        Boolean.toString(byDefault),
        "true or false",
        description,
        ConfigValues::flag);
  }

  /** Any text, which whoever uses it checks; empty by default. */
  static ConfigKey<String> text(String name, String type, String accepted, String description) {
    return new ConfigKey<>(S3EKeys.PREFIX + name, type, "", accepted, description, text -> text);
  }

  /** One of the constants of an enum, written in small letters and with hyphens. */
  static <E extends Enum<E>> ConfigKey<E> choice(
      String name, E byDefault, Class<E> choices, String description) {
    return choice(name, byDefault, choices, "", description);
  }

  /** As above, with more words on what is accepted. */
  static <E extends Enum<E>> ConfigKey<E> choice(
      String name, E byDefault, Class<E> choices, String also, String description) {
    Map<String, E> named = new LinkedHashMap<>();
    for (E each : choices.getEnumConstants()) {
      named.put(textOf(each), each);
    }
    return new ConfigKey<>(
        S3EKeys.PREFIX + name,
        "choice",
        textOf(byDefault),
        "one of " + String.join(", ", named.keySet()) + also,
        description,
        text ->
            Optional.ofNullable(named.get(text.toLowerCase(Locale.ROOT)))
                .orElseThrow(() -> new IllegalArgumentException("no such choice: " + text)));
  }

  /** {@code value}, if {@code isAccepted}; for what parses. */
  static <T> T accepted(T value, boolean isAccepted) {
    if (!isAccepted) {
      throw new IllegalArgumentException("not accepted: " + value);
    }
    return value;
  }

  private static String textOf(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static ConfigKey<Long> size(
      String name, long byDefault, long min, long max, String also, String description) {
    return size(name, byDefault, min, max, also, ConfigValues::size, description);
  }

  static ConfigKey<Long> size(
      String name,
      long byDefault,
      long min,
      long max,
      String also,
      Function<String, Long> parse,
      String description) {
    return new ConfigKey<>(
        S3EKeys.PREFIX + name,
        "size",
        ConfigValues.sizeText(byDefault),
        "a size from "
            + ConfigValues.sizeText(min)
            + " to "
            + ConfigValues.sizeText(max)
            + " (bytes, or with K, M, G, T)"
            + (also.isEmpty() ? "" : ", " + also),
        description,
        text -> {
          long value = parse.apply(text);
          return accepted(value, value >= min && value <= max);
        });
  }

  static ConfigKey<Duration> duration(
      String name, Duration byDefault, Duration min, Duration max, String description) {
    return new ConfigKey<>(
        S3EKeys.PREFIX + name,
        "duration",
        ConfigValues.durationText(byDefault),
        "a duration from "
            + ConfigValues.durationText(min)
            + " to "
            + ConfigValues.durationText(max)
            + " (with ms, s, m, h)",
        description,
        text -> {
          Duration value = ConfigValues.duration(text);
          return accepted(value, value.compareTo(min) >= 0 && value.compareTo(max) <= 0);
        });
  }

  /**
   * The configured value, else what S3A's keys make the default, else the default.
   *
   * @param bucket named in the error; null if not known
   * @throws IllegalArgumentException if the value is not accepted; the message names the key, the
   *     value and what is accepted
   */
  T get(Configuration conf, @Nullable String bucket) {
    String text = conf.getTrimmed(name, "");
    if (text.isEmpty()) {
      T byDefault = parse.apply(defaultText);
      return fromS3A == null ? byDefault : fromS3A.value().apply(conf).orElse(byDefault);
    }
    try {
      return parse.apply(text);
    } catch (RuntimeException e) {
      throw rejected(conf, bucket, text, "expected " + accepted, e);
    }
  }

  /** The error for a value that is in range by itself but contradicts another setting. */
  IllegalArgumentException contradicted(
      Configuration conf, @Nullable String bucket, String expected) {
    return rejected(conf, bucket, conf.getTrimmed(name, defaultText), "expected " + expected, null);
  }

  private IllegalArgumentException rejected(
      Configuration conf,
      @Nullable String bucket,
      String text,
      String expected,
      @Nullable Throwable cause) {
    return new IllegalArgumentException(
        writtenAs(conf, bucket)
            + " = \""
            + text
            + "\""
            + (bucket == null ? "" : " (bucket " + bucket + ")")
            + ": "
            + expected,
        cause);
  }

  /** The name under which the user wrote the value: the bucket's own, if there is one. */
  private String writtenAs(Configuration conf, @Nullable String bucket) {
    if (bucket == null) {
      return name;
    }
    String perBucket = "fs.s3a.bucket." + bucket + "." + name.substring("fs.s3a.".length());
    return conf.get(perBucket) == null ? name : perBucket;
  }
}
