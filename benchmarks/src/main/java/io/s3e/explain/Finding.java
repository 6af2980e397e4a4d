// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import io.s3e.hadoop.cost.Advice;
import io.s3e.hadoop.cost.Saving;

/**
 * One thing that costs time or money.
 *
 * @param kind what it is
 * @param scope of what kind the place is
 * @param place the directory of a table, a stage or a job
 * @param evidence what the log, or the files, say
 * @param change what to change
 * @param saving what that saves, by estimate
 */
record Finding(
    Kind kind, Scope scope, String place, String evidence, String change, Saving saving) {

  /** What can be found. Programs read the names, so they stay. */
  enum Kind {
    SMALL_FILES("files too small"),
    SMALL_ROW_GROUPS("row groups too small"),
    LARGE_ROW_GROUPS("row groups too large"),
    UNSPLITTABLE_FILES("files that cannot be split"),
    LARGE_FOOTERS("footers too large"),
    FILTER_WITHOUT_PRUNING("filters that leave nothing out"),
    THROTTLED(Advice.Topic.THROTTLED.title()),
    MEMORY_BUDGET(Advice.Topic.MEMORY_BUDGET.title()),
    WASTED_PREFETCH(Advice.Topic.WASTED_PREFETCH.title()),
    READ_AGAIN("read again from S3"),
    IDLE_SLOTS("more slots than reads"),
    PLAIN_S3A("read without S3E"),
    NOT_S3(Advice.Topic.NOT_S3.title());

    final String title;

    Kind(String title) {
      this.title = title;
    }

    /** Whether there is nothing to save by it: it says where not to look. */
    boolean isRemark() {
      return this == NOT_S3;
    }
  }

  /** The same advice, about a place. */
  static Finding of(Kind kind, Scope scope, String place, Advice advice) {
    return new Finding(kind, scope, place, advice.evidence(), advice.change(), advice.saving());
  }

  /** What a place is. */
  enum Scope {
    TABLE,
    STAGE,
    APPLICATION
  }
}
