// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.fault.Gate;
import io.s3e.jvm.Background;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of readers that wait long for a store, which may be out of reach: what they have tried,
 * since when, and until when they go on. One line after {@value #FIRST_SECONDS} s of a wait, or
 * after a quarter of its patience if that is shorter, then one a minute, for all readers of a
 * bucket together.
 *
 * <p>Any thread; asked again and again while a reader waits.
 */
final class LongWaits {
  private static final Logger LOG = LoggerFactory.getLogger(LongWaits.class);

  private static final long FIRST_SECONDS = 10;
  private static final int FIRST_SHARE = 4;
  private static final long AGAIN_NANOS = TimeUnit.MINUTES.toNanos(1);

  private LongWaits() {}

  /** The same of a reader of which the patience knows for how long it has waited. */
  static void look(Gate gate, Patience patience, Supplier<String> tried) {
    look(gate, patience.nanos - patience.leftNanos(), Duration.ofNanos(patience.nanos), tried);
  }

  /**
   * A reader waits, for whom nothing has come for {@code waitedNanos} ns and nothing may come for
   * {@code patience}; {@code tried} begins a sentence on what it waits for and what was done.
   */
  static void look(Gate gate, long waitedNanos, Duration patience, Supplier<String> tried) {
    long first =
        Math.min(TimeUnit.SECONDS.toNanos(FIRST_SECONDS), patience.toNanos() / FIRST_SHARE);
    if (waitedNanos < first || !gate.tryTell(AGAIN_NANOS)) {
      return;
    }
    Duration waited = Duration.ofNanos(waitedNanos);
    Instant since = Instant.now().minus(waited).truncatedTo(ChronoUnit.SECONDS);
    String words =
        "A read has waited {} s for S3: {}. Nothing has come since {}; without an answer the read"
            + " fails at {} (read timeout of {} s, fs.s3a.s3e.read.timeout under Hadoop)";
    Instant end = since.plus(patience).truncatedTo(ChronoUnit.SECONDS);
    String what = tried.get();
    Background.logApart(
        () -> LOG.warn(words, seconds(waited), what, since, end, seconds(patience)));
  }

  private static String seconds(Duration time) {
    return String.format(Locale.ROOT, "%.1f", time.toMillis() / 1e3);
  }
}
