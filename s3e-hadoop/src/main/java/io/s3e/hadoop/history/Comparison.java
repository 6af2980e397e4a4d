// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import java.util.Locale;

/**
 * Tasks that ran with what a history told, beside tasks of the same job that ran without: the
 * control group. Which task is of which is chance, so what they differ by is the history's doing,
 * or chance.
 */
public record Comparison(Blocked with, Blocked without) {
  /** Fewer tasks without a history say too little of the others. */
  public static final int ENOUGH_CONTROLS = 30;

  /** Quantile of the normal distribution for a confidence of 95 %, of two sides. */
  private static final double QUANTILE = 1.96;

  /** A run that is worse by less is not worth a rollback. */
  private static final double MUCH_WORSE = 1.1;

  public boolean isEnough() {
    return without.tasks() >= ENOUGH_CONTROLS && with.tasks() >= ENOUGH_CONTROLS;
  }

  /** Time blocked of a task with the history, as a share of that of a task without. */
  double ratio() {
    if (without.mean() > 0) {
      return with.mean() / without.mean();
    }
    return with.mean() > 0 ? Double.POSITIVE_INFINITY : 1;
  }

  /** By how much {@link #ratio} may be wrong, at 95 %, as the delta method has it. */
  double margin() {
    if (with.mean() == 0 || without.mean() == 0) {
      return 0;
    }
    return QUANTILE * ratio() * Math.sqrt(with.relativeVariance() + without.relativeVariance());
  }

  /** Whether tasks are blocked less with the history: certain at 95 %. */
  boolean isBetter() {
    return isEnough() && ratio() + margin() < 1;
  }

  /**
   * Whether tasks are blocked more, by 10 % at least: certain at 95 %. Where no task without a
   * history was blocked, nothing is certain: of more tasks, one is blocked sooner.
   */
  boolean isMuchWorse() {
    return isEnough() && without.mean() > 0 && ratio() >= MUCH_WORSE && ratio() - margin() > 1;
  }

  /** One line. */
  public String text() {
    if (!isEnough()) {
      return String.format(
          Locale.ROOT,
          "not enough yet: %d tasks with, %d without, of %d each",
          with.tasks(),
          without.tasks(),
          ENOUGH_CONTROLS);
    }
    String blocked =
        ratio() == Double.POSITIVE_INFINITY
            ? "with the history alone"
            : String.format(Locale.ROOT, "%+.0f %% ± %.0f %%", 100 * (ratio() - 1), 100 * margin());
    return String.format(
        Locale.ROOT,
        "blocked %s, %d tasks with, %d without",
        blocked,
        with.tasks(),
        without.tasks());
  }
}
