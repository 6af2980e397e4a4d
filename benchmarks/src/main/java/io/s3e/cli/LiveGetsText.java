// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.explain.LiveGets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** GETs of a JVM for people: what they were for, and the latest of them. */
final class LiveGetsText {
  private static final int MOST_LISTED = 20;

  private LiveGetsText() {}

  static String of(LiveGets live) {
    if (live.gets().isEmpty()) {
      return "JVM "
          + live.pid()
          + " remembers no GETs: it has read nothing by S3E"
          + (live.engines() == 0 ? ", or fs.s3a.s3e.explain is off" : "");
    }
    String gap = System.lineSeparator().repeat(2);
    return "The latest "
        + live.gets().size()
        + " GETs of JVM "
        + live.pid()
        + gap
        + reasons(live)
        + gap
        + latest(live.gets());
  }

  private static String reasons(LiveGets live) {
    Columns table =
        new Columns()
            .name("for")
            .figure("GETs")
            .figure("sent")
            .figure("came")
            .figure("used")
            .figure("wasted")
            .figure("held");
    List<LiveGets.Reason> rows = new ArrayList<>(live.reasons());
    rows.add(live.total());
    for (LiveGets.Reason row : rows) {
      table.row(
          row.reason(),
          row.gets(),
          row.sent(),
          ByteSize.format(row.received()),
          ByteSize.format(row.used()),
          ByteSize.format(row.wasted()),
          ByteSize.format(row.held()));
    }
    return table.text();
  }

  private static String latest(List<LiveGets.Get> gets) {
    Columns table =
        new Columns()
            .name("time")
            .figure("stream")
            .name("label")
            .name("for")
            .name("state")
            .figure("answered ms")
            .figure("took ms")
            .figure("came")
            .figure("used")
            .figure("wasted")
            .name("bytes of the object");
    for (LiveGets.Get get : gets.subList(0, Math.min(MOST_LISTED, gets.size()))) {
      table.row(
          get.time(),
          get.stream(),
          get.label() == null ? "" : get.label(),
          get.reason() + (get.attempt() > 1 ? " (attempt " + get.attempt() + ")" : ""),
          get.state(),
          millis(get.answeredMillis()),
          millis(get.tookMillis()),
          ByteSize.format(get.received()),
          ByteSize.format(get.used()),
          ByteSize.format(get.wasted()),
          bytes(get));
    }
    return table.text();
  }

  /** On one line, whatever the key is made of. */
  private static String bytes(LiveGets.Get get) {
    String key = get.key().replaceAll("\\p{Cntrl}", "?");
    return "[%d, %d) of s3a://%s/%s".formatted(get.start(), get.end(), get.bucket(), key);
  }

  private static String millis(@Nullable Double millis) {
    return millis == null ? "" : String.format(Locale.ROOT, "%.1f", millis);
  }
}
