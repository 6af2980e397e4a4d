package io.s3e.hadoop.conf;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.Constants;

/**
 * The default of one key of S3E's that follows from keys of S3A's, where a user has set those.
 *
 * <p>A user has set a key if its value is not S3A's own default. The value alone decides, not the
 * source that the configuration names for it: programs that copy configurations lose sources, and
 * many distributions write S3A's defaults into their core-site.xml. Values are read as S3A reads
 * them: a bare number is milliseconds, suffixes are Hadoop's, per-bucket values have been applied,
 * and time-outs of the network below {@link #S3A_MINIMUM} count as that. A value that S3A accepts
 * and S3E does not becomes the nearest one that S3E accepts.
 *
 * @param keys S3A's
 * @param rule what becomes the default, in words that complete "The default is …"
 * @param value empty where no user has set the keys; the configuration has per-bucket overrides
 *     applied
 */
record S3ADefault<T>(List<String> keys, String rule, Function<Configuration, Optional<T>> value) {

  /** S3A raises time-outs of the network to this (MINIMUM_NETWORK_OPERATION_DURATION). */
  private static final Duration S3A_MINIMUM = Duration.ofSeconds(15);

  /**
   * The limit of connections takes S3A's place only below what S3E's clients take by themselves:
   * S3A wants a connection for each open stream, so that its users set hundreds.
   *
   * @param most what S3E's clients take by themselves
   */
  static S3ADefault<Integer> connections(int most) {
    return new S3ADefault<>(
        List.of(Constants.MAXIMUM_CONNECTIONS),
        "`" + Constants.MAXIMUM_CONNECTIONS + "` where a user has set that below " + most,
        conf -> {
          int value =
              conf.getInt(Constants.MAXIMUM_CONNECTIONS, Constants.DEFAULT_MAXIMUM_CONNECTIONS);
          // S3A itself refuses 0 and less.
          return value >= 1 && value < most ? Optional.of(value) : Optional.empty();
        });
  }

  /** The longest wait for a connection is S3A's. */
  static S3ADefault<Duration> connect(Duration max) {
    return new S3ADefault<>(
        List.of(Constants.ESTABLISH_TIMEOUT),
        "`" + Constants.ESTABLISH_TIMEOUT + "` where a user has set that, 15 s at least as in S3A",
        conf ->
            ofNetwork(conf, Constants.ESTABLISH_TIMEOUT, Constants.DEFAULT_ESTABLISH_TIMEOUT)
                .map(value -> shorter(value, max)));
  }

  /** A GET may be silent as long as S3A's socket may. */
  static S3ADefault<Duration> stall(Duration max) {
    return new S3ADefault<>(
        List.of(Constants.SOCKET_TIMEOUT),
        "`" + Constants.SOCKET_TIMEOUT + "` where a user has set that, 15 s at least as in S3A",
        conf -> silence(conf).map(value -> shorter(value, max)));
  }

  /**
   * S3A's time-outs make one read longer and never shorter: S3A sends a request that ran into them
   * again, while a read of S3E's that ran into its own has failed. Twice the silence lets a GET be
   * sent again at least once.
   */
  static S3ADefault<Duration> read(Duration least, Duration max) {
    return new S3ADefault<>(
        List.of(Constants.REQUEST_TIMEOUT, Constants.SOCKET_TIMEOUT),
        "`"
            + Constants.REQUEST_TIMEOUT
            + "` or twice `"
            + Constants.SOCKET_TIMEOUT
            + "`, where a user has set one that makes it longer",
        conf ->
            Stream.of(
                    ofNetwork(conf, Constants.REQUEST_TIMEOUT, Constants.DEFAULT_REQUEST_TIMEOUT),
                    silence(conf).map(value -> value.multipliedBy(2)))
                .flatMap(Optional::stream)
                .filter(value -> value.compareTo(least) > 0)
                .max(Duration::compareTo)
                .map(value -> shorter(value, max)));
  }

  private static Optional<Duration> silence(Configuration conf) {
    return ofNetwork(conf, Constants.SOCKET_TIMEOUT, Constants.DEFAULT_SOCKET_TIMEOUT);
  }

  private static Optional<Duration> ofNetwork(Configuration conf, String key, int s3aMillis) {
    long millis = conf.getTimeDuration(key, s3aMillis, TimeUnit.MILLISECONDS);
    return millis == s3aMillis
        ? Optional.empty()
        : Optional.of(longer(Duration.ofMillis(millis), S3A_MINIMUM));
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) <= 0 ? one : other;
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) >= 0 ? one : other;
  }
}
