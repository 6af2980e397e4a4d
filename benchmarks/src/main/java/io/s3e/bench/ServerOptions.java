// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import io.s3e.bench.server.FirstByteTime;
import io.s3e.bench.server.Shape;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** The options of the embedded server, for commands that start one. Filled in by picocli. */
final class ServerOptions {

  private static final double MOST_MILLIS = 60_000;
  private static final double MOST_MEGABYTES = 1_000_000;
  private static final double MOST_FACTOR = 1_000;
  private static final Pattern TAIL = Pattern.compile("([0-9]*\\.?[0-9]+)x([0-9]*\\.?[0-9]+)");

  /** All of them. */
  static final List<String> NAMES =
      List.of(
          "--ttfb",
          "--jitter",
          "--tail",
          "--bandwidth",
          "--total-bandwidth",
          "--tls",
          "--request-log");

  /** Every run meets the same waits. */
  private static final long SEED = 20_060_314;

  @Option(
      names = "--ttfb",
      paramLabel = "MS",
      defaultValue = "30",
      description = "Time to first byte of the embedded server.")
  private double firstByteMillis;

  @Option(
      names = "--jitter",
      paramLabel = "MS",
      defaultValue = "0",
      description = "Each time to first byte differs from --ttfb by up to this, evenly spread.")
  private double jitterMillis;

  @Option(
      names = "--tail",
      paramLabel = "SHARExFACTOR",
      defaultValue = "0x1",
      description =
          "Share of the requests whose time to first byte is longer, and how many times: 0.01x10"
              + " makes one in a hundred wait ten times as long.")
  private String tail = "";

  @Option(
      names = "--bandwidth",
      paramLabel = "MB/S",
      defaultValue = "60",
      description = "Bandwidth of one connection of the embedded server; 0 is unlimited.")
  private double megabytesPerSecond;

  @Option(
      names = "--total-bandwidth",
      paramLabel = "MB/S",
      defaultValue = "0",
      description = "Bandwidth that all connections share; 0 is unlimited.")
  private double totalMegabytesPerSecond;

  @Option(
      names = "--tls",
      description = "The embedded server speaks TLS, by a certificate made at its start.")
  private boolean tls;

  @Option(
      names = "--request-log",
      paramLabel = "FILE",
      showDefaultValue = Visibility.NEVER,
      description = "Where the embedded server writes a line of JSON for every request.")
  private @Nullable Path requestLog;

  /**
   * The options, checked.
   *
   * @throws IllegalArgumentException when one makes no sense; names it, its value and its range
   */
  ServerSettings settings() {
    double firstByte = within("--ttfb", firstByteMillis, MOST_MILLIS, "ms");
    if (!(jitterMillis >= 0 && jitterMillis <= firstByte)) {
      throw new IllegalArgumentException(
          "--jitter must be between 0 and --ttfb, %s ms, and is %s"
              .formatted(number(firstByte), number(jitterMillis)));
    }
    Matcher parts = tail();
    FirstByteTime time =
        new FirstByteTime(
            nanos(firstByte),
            nanos(jitterMillis),
            Double.parseDouble(parts.group(1)),
            Double.parseDouble(parts.group(2)),
            SEED);
    double connection = within("--bandwidth", megabytesPerSecond, MOST_MEGABYTES, "MB/s");
    double total = within("--total-bandwidth", totalMegabytesPerSecond, MOST_MEGABYTES, "MB/s");
    Shape shape = new Shape(time, Math.round(connection * 1e6), Math.round(total * 1e6));
    return new ServerSettings(shape, tls, requestLog);
  }

  private Matcher tail() {
    Matcher parts = TAIL.matcher(tail);
    if (!parts.matches()
        || Double.parseDouble(parts.group(1)) > 1
        || Double.parseDouble(parts.group(2)) < 1
        || Double.parseDouble(parts.group(2)) > MOST_FACTOR) {
      throw new IllegalArgumentException(
          "--tail must be a share from 0 to 1, an x and a factor from 1 to %s, like 0.01x10,"
                  .formatted(number(MOST_FACTOR))
              + " and is "
              + tail);
    }
    return parts;
  }

  private static double within(String name, double value, double most, String unit) {
    if (!(value >= 0 && value <= most)) {
      throw new IllegalArgumentException(
          "%s must be between 0 and %s %s and is %s"
              .formatted(name, number(most), unit, number(value)));
    }
    return value;
  }

  private static String number(double value) {
    return value == Math.rint(value)
        ? String.format(Locale.ROOT, "%.0f", value)
        : Double.toString(value);
  }

  private static long nanos(double millis) {
    return Math.round(millis * TimeUnit.MILLISECONDS.toNanos(1));
  }
}
