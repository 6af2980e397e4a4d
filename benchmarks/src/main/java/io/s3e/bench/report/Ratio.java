// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.report;

import io.s3e.bench.Summary;
import java.util.List;
import java.util.function.ToDoubleBiFunction;

/** The median rate of an engine beside another's in the same pass of the same workload. */
@SuppressWarnings("ImmutableEnumChecker") // The functions are methods without state.
enum Ratio {
  CLASSIC("toClassic", "/classic", Summary::classic, "S3A's classic stream, untuned"),
  S3A("toBestS3a", "/S3A", Summary::bestS3a, "the fastest of S3A's own streams, tuned or not"),
  RAW("toBestRaw", "/raw", Summary::bestRaw, "the fastest raw client"),
  FILE(
      "toBestFile",
      "/file",
      Summary::bestFile,
      "the fastest plain reader of the same bytes in local files");

  private final String key;
  private final String head;
  private final ToDoubleBiFunction<List<Summary>, String> base;
  private final String meaning;

  Ratio(String key, String head, ToDoubleBiFunction<List<Summary>, String> base, String meaning) {
    this.key = key;
    this.head = head;
    this.base = base;
    this.meaning = meaning;
  }

  String key() {
    return key;
  }

  String head() {
    return head;
  }

  String meaning() {
    return "MB/s for each MB/s of " + meaning + ".";
  }

  /** NaN where either has no figure. */
  double of(Summary summary, List<Summary> all) {
    return summary.median(Figure.RATE.value()) / base.applyAsDouble(all, summary.section());
  }
}
