// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.jspecify.annotations.Nullable;

/** By what name a job is known from run to run: without the digits that change with each. */
final class JobName {
  /** Where engines name the job, for as long as the user does not. */
  private static final List<String> NAMES =
      List.of("spark.app.name", "mapreduce.job.name", "hive.query.name");

  /** A number, a date, a time or an id of several numbers. */
  private static final Pattern NUMBERS = Pattern.compile("[0-9]+(?:[-_:./+ tT]?[0-9]+)*");

  private static final Pattern UNFIT = Pattern.compile("[^a-z0-9._#-]+");
  private static final int MOST_LETTERS = 100;

  private JobName() {}

  /**
   * The folded name.
   *
   * @param told by the user; may be empty
   * @return null if nobody names the job
   */
  static @Nullable String of(String told, Configuration conf) {
    String name = told.trim();
    for (String key : NAMES) {
      name = name.isEmpty() ? conf.getTrimmed(key, "") : name;
    }
    return name.isEmpty() ? null : folded(name);
  }

  /** Small letters, and {@code #} for what changes from run to run; folded again it is the same. */
  static String folded(String name) {
    return NUMBERS.matcher(name.trim().toLowerCase(Locale.ROOT)).replaceAll("#");
  }

  /** The name of a directory: readable, and another one for each folded name. */
  static String directory(String folded) {
    String readable = UNFIT.matcher(folded.replace('#', 'n')).replaceAll("-");
    String hash = Integer.toHexString(folded.hashCode());
    return readable.substring(0, Math.min(MOST_LETTERS, readable.length())) + "-" + hash;
  }
}
