// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import io.s3e.metrics.EngineMetrics.Counter;
import org.jspecify.annotations.Nullable;

/** Why blocks are fetched before they are asked for. Each kind is judged by itself. */
public enum GuessKind {
  /** What follows a reader that goes forward. */
  WINDOW(null, null),
  /** The end of a file, at its first read there. */
  TAIL(Counter.COLUMNAR_TAIL_USED_BYTES, Counter.COLUMNAR_TAIL_WASTED_BYTES),
  /** Column chunks or streams, of the present group and of those that follow. */
  GROUP(Counter.COLUMNAR_GROUP_USED_BYTES, Counter.COLUMNAR_GROUP_WASTED_BYTES),
  /** Column chunks of a file whose footer is not known, where files beside it have theirs. */
  ALIKE(Counter.COLUMNAR_GROUP_USED_BYTES, Counter.COLUMNAR_GROUP_WASTED_BYTES),
  DICTIONARY(Counter.COLUMNAR_DICTIONARY_USED_BYTES, Counter.COLUMNAR_DICTIONARY_WASTED_BYTES),
  BLOOM_FILTER(
      Counter.COLUMNAR_BLOOM_FILTER_USED_BYTES, Counter.COLUMNAR_BLOOM_FILTER_WASTED_BYTES),
  /** Page indexes; the row indexes of ORC. */
  INDEX(Counter.COLUMNAR_INDEX_USED_BYTES, Counter.COLUMNAR_INDEX_WASTED_BYTES),
  STRIPE_FOOTER(
      Counter.COLUMNAR_STRIPE_FOOTER_USED_BYTES, Counter.COLUMNAR_STRIPE_FOOTER_WASTED_BYTES);

  /** The counter of their bytes that were read; null if the kind has none. */
  public final @Nullable Counter used;

  /** The counter of their bytes that nobody came to read; null if the kind has none. */
  public final @Nullable Counter wasted;

  GuessKind(@Nullable Counter used, @Nullable Counter wasted) {
    this.used = used;
    this.wasted = wasted;
  }

  /** Whether it is of the columns themselves, and not of what says where they lie. */
  public boolean isData() {
    return this == GROUP || this == ALIKE;
  }

  /** Whether a layout of the file, or of files like it, says what is guessed. */
  public boolean isColumnar() {
    return this != WINDOW;
  }
}
