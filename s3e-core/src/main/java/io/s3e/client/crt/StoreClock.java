// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.client.StoreAnswer;
import io.s3e.jvm.Background;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time by the store's clock: this machine's time, and the offset that an answer's {@code Date}
 * has told. S3 refuses signatures that are more than 15 minutes off. An offset serves until another
 * answer is learnt from. Thread-safe.
 */
final class StoreClock {
  private static final Logger LOG = LoggerFactory.getLogger(StoreClock.class);

  /** A {@code Date} is a little old when it comes; a smaller offset does no harm either. */
  private static final Duration TOLERANCE = Duration.ofMinutes(4);

  private volatile Duration offset = Duration.ZERO;

  Instant now() {
    return Instant.now().plus(offset);
  }

  /** Whether this machine's clock is so far off that signatures need the store's time. */
  boolean isOff() {
    return !offset.isZero();
  }

  /** Learns the offset from an answer that has just come, if any; false if it tells no time. */
  boolean learn(@Nullable StoreAnswer answer) {
    Instant told = answer == null ? null : answer.date();
    if (told == null) {
      return false;
    }
    Duration difference = Duration.between(Instant.now(), told);
    Duration learnt = difference.abs().compareTo(TOLERANCE) < 0 ? Duration.ZERO : difference;
    boolean news = learnt.minus(offset).abs().compareTo(TOLERANCE) >= 0;
    offset = learnt;
    if (news) {
      String ahead =
          "This machine's clock differs from the store's by {} s; requests are signed with the"
              + " store's time";
      Background.logApart(() -> LOG.warn(ahead, difference.toSeconds()));
    }
    return true;
  }
}
