// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What an engine keeps of its GETs.
 *
 * @param keepsLatest false keeps none
 * @param sink makes who takes each, for one engine; null if nobody does
 */
public record ExplainConfig(boolean keepsLatest, @Nullable Supplier<GetSink> sink) {
  /** The latest, in memory. */
  public static final ExplainConfig DEFAULTS = new ExplainConfig(true, null);

  @Override
  public String toString() {
    return sink != null ? sink.toString() : keepsLatest ? "recent" : "off";
  }
}
