// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import java.util.Map;

/**
 * A scan in the plan of a query.
 *
 * @param execution the query's number in the log
 * @param table the directory of the files, or the name of the table where the plan tells no more
 * @param format as Spark calls it, in lower case; empty where the plan tells none
 * @param columns the columns that it reads, as the plan writes them
 * @param filters what is asked of the files by their statistics, as the plan writes it; empty for
 *     none
 * @param partitions the filters that say which partitions are read, as the plan writes them, and
 *     the query where that has files of its own
 * @param metrics numbers of the scan's SQL metrics, by name
 * @param filterRows number of the metric of rows behind the filter above the scan; -1 for none
 */
record TableScan(
    long execution,
    String table,
    String format,
    String columns,
    String filters,
    String partitions,
    Map<String, Long> metrics,
    long filterRows) {
  static final String OUTPUT_ROWS = "number of output rows";
  static final String FILES = "number of files read";
  static final String FILE_BYTES = "size of files read";
  static final long NO_FILTER = -1;

  /** The same for two scans that read the same part of the table. */
  String whatIsRead() {
    // Numbers of expressions differ from query to query.
    return (columns + filters + partitions).replaceAll("#\\d+L?", "");
  }

  boolean isColumnar() {
    return format.equals("parquet") || format.equals("orc");
  }

  boolean isText() {
    return format.equals("text") || format.equals("csv") || format.equals("json");
  }

  /** The number of a metric; none has it if it is negative. */
  long metric(String name) {
    return metrics.getOrDefault(name, -1L);
  }
}
