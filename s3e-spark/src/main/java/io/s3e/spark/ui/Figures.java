// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import io.s3e.spark.stages.ReadCounts;
import java.math.BigDecimal;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import org.apache.spark.ui.UIUtils;
import org.apache.spark.util.Utils;

/** Figures as the page writes them: in Spark's units, and ratios that may have no value. */
final class Figures {
  /** In place of a figure that does not exist. */
  static final String NONE = "–";

  private Figures() {}

  static String bytes(long bytes) {
    return Utils.bytesToString(bytes);
  }

  static String count(long count) {
    return String.format(Locale.ROOT, "%,d", count);
  }

  static String duration(long nanos) {
    return UIUtils.formatDuration(TimeUnit.NANOSECONDS.toMillis(nanos));
  }

  /** With a digit more near nothing and near all, where whole figures would say just that. */
  static String percent(OptionalDouble share) {
    if (share.isEmpty()) {
      return NONE;
    }
    double part = share.getAsDouble();
    boolean fine = (part > 0 && part < 0.1) || (part > 0.9 && part < 1);
    return String.format(Locale.ROOT, fine ? "%.1f %%" : "%.0f %%", part * 100);
  }

  static String perSecond(OptionalDouble bytesPerSecond) {
    return bytesPerSecond.isEmpty() ? NONE : bytes(Math.round(bytesPerSecond.getAsDouble())) + "/s";
  }

  /** At least a hundredth of a cent is written; less is said to be less. */
  static String dollars(double amount) {
    if (amount == 0) {
      return "$0";
    }
    if (amount < 0.0001) {
      return "< $0.0001";
    }
    return String.format(Locale.ROOT, amount < 1 ? "$%.4f" : "$%,.2f", amount);
  }

  /** All digits, and no exponent. */
  static String plain(double number) {
    return BigDecimal.valueOf(number).stripTrailingZeros().toPlainString();
  }

  /** Of the blocks that readers came to, those that were in memory. */
  static OptionalDouble memoryHitRate(ReadCounts reads) {
    return ratio(reads.memoryHits(), reads.memoryHits() + reads.readWaits());
  }

  /** Of the bytes that were not in memory, those that local disk had. */
  static OptionalDouble diskHitRate(ReadCounts reads) {
    return ratio(reads.bytesFromDisk(), reads.bytesFromDisk() + reads.bytesFromS3());
  }

  /** Of the time of tasks, the part in which they waited for a block. */
  static OptionalDouble blockedShare(ReadCounts reads) {
    return ratio(reads.readWaitNanos(), reads.taskNanos());
  }

  /** Of the prefetched bytes, those that nobody has read. */
  static OptionalDouble wastedShare(ReadCounts reads) {
    return ratio(reads.prefetchWastedBytes(), reads.prefetchedBytes());
  }

  static OptionalDouble bytesPerSecond(long bytes, long nanos) {
    OptionalDouble perNano = ratio(bytes, nanos);
    return perNano.isEmpty()
        ? perNano
        : OptionalDouble.of(perNano.getAsDouble() * TimeUnit.SECONDS.toNanos(1));
  }

  static OptionalDouble ratio(long part, long whole) {
    return whole == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) part / whole);
  }
}
