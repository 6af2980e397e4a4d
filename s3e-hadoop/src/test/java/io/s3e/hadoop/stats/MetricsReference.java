// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stats;

import io.s3e.hadoop.stats.ReadStatistic.Of;
import io.s3e.hadoop.stats.ReadStatistic.Unit;
import java.util.Locale;

/**
 * The text of docs/METRICS.md from {@link ReadStatistic}. A test fails when the file is out of
 * date.
 */
final class MetricsReference {
  private MetricsReference() {}

  /** The whole document. */
  static String markdown() {
    StringBuilder text = new StringBuilder(INTRODUCTION);
    table(text, "S3A's names", false);
    table(text, "S3E's own", true);
    return text.toString();
  }

  private static void table(StringBuilder text, String title, boolean own) {
    text.append("\n## ").append(title).append("\n\n");
    text.append("| name | kind | unit | of | meaning |\n|---|---|---|---|---|\n");
    for (ReadStatistic row : ReadStatistic.values()) {
      if (row.symbol().startsWith("s3e_") == own) {
        text.append("| `").append(row.symbol()).append("` | ");
        text.append(row.kind.name().toLowerCase(Locale.ROOT)).append(" | ");
        text.append(word(row.unit)).append(" | ").append(word(row.of)).append(" | ");
        text.append(row.meaning).append(" |\n");
      }
    }
  }

  private static String word(Unit unit) {
    return switch (unit) {
      case COUNT -> "count";
      case BYTES -> "bytes";
      case NANOS -> "ns";
    };
  }

  private static String word(Of of) {
    return switch (of) {
      case STREAM -> "stream";
      case FILE_SYSTEM -> "file system";
      case BOTH -> "both";
    };
  }

  private static final String INTRODUCTION =
      """
      <!-- Generated from io.s3e.hadoop.stats.ReadStatistic by io.s3e.hadoop.stats.MetricsReference. Do not edit. -->
      # Metrics

      Counters of reading, as Hadoop's IOStatistics of the stream (`in.getIOStatistics()`), of the
      thread that opened it (`IOStatisticsContext`, at close) and of the file system
      (`fs.getIOStatistics()`; logged at its close with `fs.iostatistics.logging.level=info`). The work of
      prefetch counts for the stream whose reads caused it. Names stay as they are.

      Where a process runs Hadoop's metrics system (tasks of MapReduce, daemons), each file system is
      a source of it, `S3E-BUCKET-NUMBER`: its sinks get the file system's counters and gauges, and
      JMX has them as `Hadoop:service=PROCESS,name=S3E-BUCKET-NUMBER`.

      Some of that happens after the stream was closed: GETs on their way end, and blocks that it had
      fetched are read by another stream, or leave memory unread. The stream's and the file system's
      statistics get it when it happens; the thread's do not, since the thread may do something else
      by then. The Spark plugin counts it for the stage that opened the stream
      ([SPARK.md](SPARK.md#events)).

      S3A's names that are not listed mean what they mean in S3A. S3A adds its counters of a stream
      to the file system's when the stream is closed, and S3E what comes later; those of requests,
      throttling and retries, and all of S3E's own, are live. In a plain S3AFileSystem with S3E's
      stream factory, S3E's own are those of streams only.

      How they add up, once nothing is in flight:

      - GETs in the store's log = `stream_read_opened` = `action_http_get_request` = `s3e_gets`. A GET
        that was ended before it was sent is in none of them, and one that a client sends twice by
        itself is in each twice. The AWS CRT tells of a GET when its answer begins or when it has
        ended, so one that waits for its answer is not counted yet. S3A's client does not tell:
        its GETs are counted when they are about to connect. A request that goes out on a connection
        which the store closes in that moment is counted and may be in no log.
      - `stream_read_opened` = `stream_read_closed` + `stream_aborted`.
      - With S3E's own client each of them is in `store_io_request` and `audit_request_execution`
        too, beside S3A's HEADs, PUTs and lists. With the client `s3a`, S3A counts its own.
      - `s3e_fetched_bytes` + `s3e_cache_hit_bytes` = `s3e_used_bytes` + `s3e_wasted_bytes` +
        `s3e_held_bytes`: each byte that came was of use, of none, or is in memory unread. A block is
        one thing here: it is used, all of it, when somebody has read any part of it. Where file
        systems share an engine, `s3e_cache_hit_bytes` is that of all, and so the sum is.
      - `s3e_prefetched_bytes` = `s3e_prefetch_used_bytes` + `s3e_prefetch_wasted_bytes` +
        `s3e_prefetch_held_bytes`.
      - A block that is given up (by a seek, `unbuffer` or `close`) stays in memory until its place is
        needed. It is held until then, and of use if it is read after all.
      - `s3e_columnar_asked_bytes` = `s3e_columnar_withdrawn_bytes` + all of
        `s3e_columnar_*_used_bytes` + all of `s3e_columnar_*_wasted_bytes`, once streams are closed.
        They are about what one stream guessed and read itself. Bytes that it had in memory already
        are in them and not in `s3e_prefetched_bytes`; bytes that it did not read may serve
        another stream, and are then no waste there.
      """;
}
