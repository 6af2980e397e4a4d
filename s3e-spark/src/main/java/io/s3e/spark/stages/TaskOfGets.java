// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import io.s3e.fetch.GetRecord;

/**
 * A task, as records of GETs name it. Another application of this JVM may have had one of the same
 * name before, as in a notebook.
 *
 * @param label of its streams
 * @param startedMillis when it began, in ms since 1970
 */
public record TaskOfGets(String label, long startedMillis) {
  /** Whether it was sent for this task. */
  boolean has(GetRecord get) {
    return get.startedMillis() >= startedMillis && label.equals(get.label());
  }
}
