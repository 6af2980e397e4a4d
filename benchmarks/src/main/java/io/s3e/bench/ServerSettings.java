// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import io.s3e.bench.server.FirstByteTime;
import io.s3e.bench.server.Shape;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How the embedded server shall serve.
 *
 * @param shape pace of its answers to reads
 * @param tls whether clients connect by TLS
 * @param requestLog file that takes a line of every request; null for none
 */
record ServerSettings(Shape shape, boolean tls, @Nullable Path requestLog) {

  /** A line for people. */
  String description() {
    FirstByteTime first = shape.firstByte();
    StringBuilder text = new StringBuilder(tls ? "TLS, " : "plain HTTP, ");
    text.append(millis(first.baseNanos()));
    if (first.jitterNanos() > 0) {
      text.append(" ± ").append(millis(first.jitterNanos()));
    }
    text.append(" ms to the first byte");
    if (first.tailProbability() > 0) {
      text.append(
          " (%s %% of them x %s)"
              .formatted(number(first.tailProbability() * 100), number(first.tailFactor())));
    }
    text.append(", ").append(rate(shape.bytesPerSecond())).append(" a connection");
    if (shape.totalBytesPerSecond() > 0) {
      text.append(", ").append(rate(shape.totalBytesPerSecond())).append(" in total");
    }
    return text.toString();
  }

  private static String millis(long nanos) {
    return number((double) nanos / TimeUnit.MILLISECONDS.toNanos(1));
  }

  private static String rate(long bytesPerSecond) {
    return bytesPerSecond == 0 ? "unlimited bandwidth" : number(bytesPerSecond / 1e6) + " MB/s";
  }

  /** At most three decimals, none when it is whole. */
  private static String number(double value) {
    return String.format(Locale.ROOT, "%.3f", value).replaceAll("\\.?0+$", "");
  }
}
