// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import io.s3e.block.BlockLayout;
import io.s3e.prefetch.Cursors.Cursor;

/** Where the cursors of a planner are, and their windows, in bytes. */
public final class PlannerText {
  private PlannerText() {}

  public static String of(ReadPlanner planner, BlockLayout layout) {
    int block = layout.blockSize();
    AccessPattern pattern = planner.pattern();
    StringBuilder text = new StringBuilder(pattern.policy().toString());
    text.append(pattern.countsAsRandom() ? " (jumping)" : "");
    int distrust = pattern.ledger.distrust();
    text.append(distrust == 0 ? "" : ", distrust " + distrust);
    text.append(", ahead ").append(planner.cursors.wanted().count() * block);
    text.append(" of ").append(planner.windows.cap() * block);
    for (Cursor cursor : planner.cursors.leastRecentFirst()) {
      text.append("; at ").append(cursor.next);
      if (cursor.active) {
        text.append(" window ").append(planner.windows.windowOf(cursor) * block);
      }
      text.append(" ahead ").append(cursor.ahead() * block);
      text.append(cursor.held ? " held" : "");
    }
    return text.toString();
  }
}
