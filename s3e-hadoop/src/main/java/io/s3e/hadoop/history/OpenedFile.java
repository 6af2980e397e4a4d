// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import io.s3e.columnar.LayoutMemory;
import org.jspecify.annotations.Nullable;

/**
 * One file as the history of the job sees it, from its opening to its end.
 *
 * @param past what its stream may believe; null if nothing
 * @param task whose time counts for the comparison; null if none does
 */
public record OpenedFile(@Nullable LayoutMemory past, @Nullable TaskTime task) {
  /** Of no history. */
  public static final OpenedFile NONE = new OpenedFile(null, null);

  /** A stream of the file was closed, whose reader was blocked so long in all. */
  public void closed(long blockedNanos) {
    if (task != null) {
      task.blocked(blockedNanos);
    }
  }
}
