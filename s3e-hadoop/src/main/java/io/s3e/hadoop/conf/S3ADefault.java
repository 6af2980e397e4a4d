// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import io.s3e.S3EConfig;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.Constants;
import org.apache.hadoop.fs.s3a.impl.AWSClientConfig;

/**
 * What follows for S3E from keys of S3A's, where a user has set those: the default of one key of
 * S3E's and, by the static methods, values that S3E has no key for.
 *
 * <p>A user has set a key if its value is not S3A's own default. The value alone decides, not the
 * source that the configuration names for it: programs that copy configurations lose sources, and
 * many distributions write S3A's defaults into their core-site.xml. Values are read as S3A reads
 * them: a bare number is milliseconds, suffixes are Hadoop's, per-bucket values have been applied,
 * and time-outs of the network below S3A's least, 15 s, count as that. A value that S3A accepts and
 * S3E does not becomes the nearest one that S3E accepts.
 *
 * @param keys S3A's
 * @param rule what becomes the default, in words that complete "The default is …"
 * @param value empty where no user has set the keys; the configuration has per-bucket overrides
 *     applied
 */
record S3ADefault<T>(List<String> keys, String rule, Function<Configuration, Optional<T>> value) {

  /** A client of S3E's takes at least so many connections without a limit. */
  static final int CLIENT_CONNECTIONS = 64;

  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final Duration LONGEST_CONNECT = Duration.ofMinutes(10);
  private static final Duration LONGEST_STALL = Duration.ofHours(1);
  private static final Duration SHORTEST_READ = Duration.ofSeconds(1);

  /**
   * The limit of connections takes S3A's place only below what S3E's clients take by themselves:
   * S3A wants a connection for each open stream, so that its users set hundreds.
   */
  static OptionalInt connections(Configuration conf) {
    int value = number(conf, Constants.MAXIMUM_CONNECTIONS, Constants.DEFAULT_MAXIMUM_CONNECTIONS);
    // S3A itself refuses 0 and less.
    return value >= 1 && value < CLIENT_CONNECTIONS ? OptionalInt.of(value) : OptionalInt.empty();
  }

  /** The longest wait for a connection is S3A's. */
  static Duration connect(Configuration conf) {
    return ofNetwork(conf, Constants.ESTABLISH_TIMEOUT, Constants.DEFAULT_ESTABLISH_TIMEOUT)
        .map(value -> shorter(value, LONGEST_CONNECT))
        .orElse(CONNECT);
  }

  /** A GET may be silent as long as S3A's socket may. */
  static Duration stall(Configuration conf) {
    return silence(conf)
        .map(value -> shorter(value, LONGEST_STALL))
        .orElse(S3EConfig.DEFAULTS.stallTimeout());
  }

  /**
   * How long a connection may be silent: as long as the engine, which gives a GET up after {@code
   * stall}, waits for one that it has sent again and again, each time twice as long.
   */
  static Duration longestStall(Duration stall) {
    return shorter(stall.multipliedBy(16), LONGEST_STALL);
  }

  /**
   * A read waits as long as S3A's retries of one call would: the pauses after failures and after
   * words for slow down, which double, and the silence of each attempt that the SDK makes within
   * each call. S3A's time-outs make it longer and never shorter: S3A sends a request that ran into
   * them again. Twice the silence lets a GET be sent again at least once.
   *
   * @param most what retries make of it at most: schedulers end a task that is silent for longer
   *     ({@code mapreduce.task.timeout} is 10 minutes)
   * @param max what time-outs make of it at most
   */
  static S3ADefault<Duration> read(Duration most, Duration max) {
    return new S3ADefault<>(
        List.of(
            Constants.RETRY_LIMIT,
            Constants.RETRY_INTERVAL,
            Constants.RETRY_THROTTLE_LIMIT,
            Constants.RETRY_THROTTLE_INTERVAL,
            Constants.MAX_ERROR_RETRIES,
            Constants.REQUEST_TIMEOUT,
            Constants.SOCKET_TIMEOUT),
        "the time that S3A would spend on one call: `"
            + Constants.RETRY_INTERVAL
            + "` × (2^`"
            + Constants.RETRY_LIMIT
            + "` − 1) + `"
            + Constants.RETRY_THROTTLE_INTERVAL
            + "` × (2^`"
            + Constants.RETRY_THROTTLE_LIMIT
            + "` − 1) + (`"
            + Constants.RETRY_LIMIT
            + "` + 1) × (`"
            + Constants.MAX_ERROR_RETRIES
            + "` + 1) × "
            + ConfigValues.durationText(S3EConfig.DEFAULTS.stallTimeout())
            + " (`"
            + Constants.SOCKET_TIMEOUT
            + "` where a user has set that, 15 s at least as in S3A), at least "
            + ConfigValues.durationText(SHORTEST_READ)
            + " and at most "
            + ConfigValues.durationText(most)
            + ", since schedulers end tasks that are silent for longer (`mapreduce.task.timeout`);"
            + " or `"
            + Constants.REQUEST_TIMEOUT
            + "` or twice `"
            + Constants.SOCKET_TIMEOUT
            + "`, where a user has set one that makes it longer",
        conf ->
            Stream.of(
                    Optional.of(shorter(longer(ofRetries(conf), SHORTEST_READ), most)),
                    ofNetwork(conf, Constants.REQUEST_TIMEOUT, Constants.DEFAULT_REQUEST_TIMEOUT),
                    silence(conf).map(value -> value.multipliedBy(2)))
                .flatMap(Optional::stream)
                .max(Duration::compareTo)
                .map(value -> shorter(value, max)));
  }

  /** The time that S3A spends on one call before it fails. */
  private static Duration ofRetries(Configuration conf) {
    int limit = number(conf, Constants.RETRY_LIMIT, Constants.RETRY_LIMIT_DEFAULT);
    int throttles =
        number(conf, Constants.RETRY_THROTTLE_LIMIT, Constants.RETRY_THROTTLE_LIMIT_DEFAULT);
    // Those after the first one, whatever the key's name is.
    int attempts = number(conf, Constants.MAX_ERROR_RETRIES, Constants.DEFAULT_MAX_ERROR_RETRIES);
    double millis =
        pauses(conf, Constants.RETRY_INTERVAL, Constants.RETRY_INTERVAL_DEFAULT, limit)
            + pauses(
                conf,
                Constants.RETRY_THROTTLE_INTERVAL,
                Constants.RETRY_THROTTLE_INTERVAL_DEFAULT,
                throttles)
            + (Math.max(0, limit) + 1.0) * (Math.max(0, attempts) + 1.0) * stall(conf).toMillis();
    // Limits of a thousand are beyond a double's range, and beyond a day in any case.
    return Duration.ofMillis((long) Math.min(millis, Duration.ofDays(1).toMillis()));
  }

  private static double pauses(Configuration conf, String key, String byDefault, int limit) {
    long first = time(conf, key, byDefault);
    return Math.max(0, first) * Math.min(Double.MAX_VALUE, Math.pow(2, Math.max(0, limit)) - 1);
  }

  private static int number(Configuration conf, String key, int byDefault) {
    try {
      return conf.getInt(key, byDefault);
    } catch (NumberFormatException e) {
      throw unreadable(conf, key, "a whole number", e);
    }
  }

  /** In milliseconds. */
  private static long time(Configuration conf, String key, String byDefault) {
    try {
      return conf.getTimeDuration(key, byDefault, TimeUnit.MILLISECONDS);
    } catch (NumberFormatException e) {
      throw unreadable(conf, key, "a time with ms, s, m, h or d", e);
    }
  }

  /** Hadoop names neither the key nor, of a time, the whole value. */
  private static IllegalArgumentException unreadable(
      Configuration conf, String key, String expected, NumberFormatException cause) {
    return new IllegalArgumentException(
        key + " = \"" + conf.get(key) + "\": expected " + expected, cause);
  }

  private static Optional<Duration> silence(Configuration conf) {
    return ofNetwork(conf, Constants.SOCKET_TIMEOUT, Constants.DEFAULT_SOCKET_TIMEOUT);
  }

  private static Optional<Duration> ofNetwork(Configuration conf, String key, int s3aMillis) {
    long millis = time(conf, key, s3aMillis + "ms");
    boolean isNoLimit = millis <= 0 && leastOfNetwork().isZero();
    return millis == s3aMillis || isNoLimit
        ? Optional.empty()
        : Optional.of(longer(Duration.ofMillis(millis), leastOfNetwork()));
  }

  private static Duration leastOfNetwork() {
    try {
      return AWSClientConfig.getMinimumOperationDuration();
    } catch (NoClassDefFoundError e) {
      // Hadoop 3.3, whose S3A takes any.
      return Duration.ZERO;
    }
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) <= 0 ? one : other;
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) >= 0 ? one : other;
  }
}
