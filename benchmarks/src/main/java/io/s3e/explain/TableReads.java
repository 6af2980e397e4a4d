// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The reads of one table: of each stage that scanned it, the part that belongs to it. A stage with
 * several scans is divided by the size of the files that each says to have read.
 *
 * @param table the directory of its files
 * @param runs in the order of the stages
 */
record TableReads(String table, List<Run> runs) {

  /**
   * What a stage did for a table.
   *
   * @param scan the plan's; empty for an RDD, of which the log tells the path alone
   * @param share the table's part of the stage, 0 to 1
   * @param files files that were read; by estimate where the stage did not run all partitions
   * @param fileBytes their length
   */
  record Run(Stage stage, Optional<TableScan> scan, double share, long files, long fileBytes) {
    long runMillis() {
      return Math.round(stage.runMillis() * share);
    }

    long waitedMillis() {
      return Math.round(stage.waitedMillis() * share);
    }

    long offProcessorMillis() {
      return Math.round(stage.offProcessorMillis() * share);
    }

    S3eReads s3e() {
      return stage.s3e().times(share);
    }

    boolean isText() {
      return scan.map(TableScan::isText).orElse(true);
    }

    boolean isColumnar() {
      return scan.map(TableScan::isColumnar).orElse(false);
    }

    /** What was read of the files; Spark's own count lacks what S3A reads of ranges at once. */
    long readBytes() {
      return stage.isReadByS3e() ? s3e().bytesRead() : Math.round(stage.inputBytes() * share);
    }

    /**
     * Requests that went out; by estimate where the log does not tell: two a file, and the HEAD.
     */
    long requests() {
      return stage.isReadByS3e() ? s3e().gets() + files : files * 3;
    }
  }

  /** The tables of an application, in the order of their first stage. */
  static List<TableReads> of(Application application) {
    Map<String, List<Run>> runs = new LinkedHashMap<>();
    ScansByMetric byMetric = new ScansByMetric(application.scans());
    for (Stage stage : application.stages()) {
      List<TableScan> scans = byMetric.of(stage);
      double whole = scans.stream().mapToLong(scan -> bytes(application, scan)).sum();
      for (TableScan scan : scans) {
        long bytes = bytes(application, scan);
        double share = whole == 0 ? 1.0 / scans.size() : bytes / whole;
        // The plan's, of all partitions.
        long files = Math.round(application.metric(scan, TableScan.FILES) * stage.part());
        long read = Math.round(bytes * stage.part());
        runs.computeIfAbsent(scan.table(), table -> new ArrayList<>())
            .add(new Run(stage, Optional.of(scan), share, files, read));
      }
      // A scan of SQL has an RDD of its own, whose name is no path.
      for (String path : scans.isEmpty() ? stage.rddPaths : List.<String>of()) {
        runs.computeIfAbsent(path, table -> new ArrayList<>())
            .add(new Run(stage, Optional.empty(), 1.0 / stage.rddPaths.size(), 0, 0));
      }
    }
    return runs.entrySet().stream().map(e -> new TableReads(e.getKey(), e.getValue())).toList();
  }

  /** Scans by the metrics that they count in: a long application has thousands, as of stages. */
  private static final class ScansByMetric {
    private final List<TableScan> scans;
    private final Map<Long, List<Integer>> places = new HashMap<>();

    ScansByMetric(Collection<TableScan> all) {
      scans = List.copyOf(all);
      for (int place = 0; place < scans.size(); place++) {
        for (Long metric : scans.get(place).metrics().values()) {
          places.computeIfAbsent(metric, key -> new ArrayList<>()).add(place);
        }
      }
    }

    /** The scans that the tasks of a stage ran, in the order of the log. */
    List<TableScan> of(Stage stage) {
      return stage.metrics.stream()
          .flatMap(metric -> places.getOrDefault(metric, List.of()).stream())
          .distinct()
          .sorted()
          .map(scans::get)
          .toList();
    }
  }

  private static long bytes(Application application, TableScan scan) {
    return application.metric(scan, TableScan.FILE_BYTES);
  }

  long runMillis() {
    return runs.stream().mapToLong(Run::runMillis).sum();
  }

  long waitedMillis() {
    return runs.stream().mapToLong(Run::waitedMillis).sum();
  }

  long offProcessorMillis() {
    return runs.stream().mapToLong(Run::offProcessorMillis).sum();
  }

  long readBytes() {
    return runs.stream().mapToLong(Run::readBytes).sum();
  }

  long requests() {
    return runs.stream().mapToLong(Run::requests).sum();
  }

  /** Files of all scans: one that was read twice counts twice. */
  long files() {
    return runs.stream().mapToLong(Run::files).sum();
  }

  long fileBytes() {
    return runs.stream().mapToLong(Run::fileBytes).sum();
  }

  S3eReads s3e() {
    return runs.stream().map(Run::s3e).reduce(S3eReads.NONE, S3eReads::plus);
  }

  boolean isReadByS3e() {
    return runs.stream().anyMatch(run -> run.stage().isReadByS3e());
  }

  boolean isColumnar() {
    return runs.stream().anyMatch(Run::isColumnar);
  }

  boolean isText() {
    return runs.stream().allMatch(Run::isText);
  }
}
