// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.s3e.explain.Finding.Kind;
import io.s3e.hadoop.cost.Prices;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Logs of real runs, each with one thing that costs. */
class ExplanationTest {
  private static final int QUERIES = 50_000;

  @TempDir Path directory;

  private Explanation explain(String log) throws IOException {
    Path file = RecordedLog.of(log).write(directory, LogCodec.NONE);
    Explanation.Options options =
        new Explanation.Options(new Configuration(), false, OptionalDouble.of(0.05));
    return RecordedLog.explained(file, options).get(0);
  }

  /** Footers are looked at by {@link LayoutRuleTest}; waste by {@link StoreRuleTest}. */
  @ParameterizedTest
  @EnumSource(
      mode = Mode.EXCLUDE,
      names = {"SMALL_ROW_GROUPS", "LARGE_FOOTERS", "WASTED_PREFETCH"})
  void whatCostsMostIsFoundFirst(Kind kind) throws IOException {
    Explanation explanation = explain(kind.name().toLowerCase(Locale.ROOT).replace('_', '-'));
    assertThat(explanation.damages()).isEmpty();
    assertThat(explanation.findings()).as("%s", ExplanationText.text(explanation)).isNotEmpty();
    Finding first = explanation.findings().get(0);
    assertThat(first.kind()).as("%s", ExplanationText.text(explanation)).isEqualTo(kind);
    assertThat(explanation.prices().of(first.saving()))
        .isBetween(kind.isRemark() ? 0.0 : Double.MIN_VALUE, explanation.cost());
    assertThat(ExplanationText.text(explanation))
        .contains("1. " + kind.title + ": " + first.place(), first.evidence(), first.change());
  }

  @Test
  void nothingIsSaidOfACleanRun() throws IOException {
    Explanation explanation = explain("clean");
    assertThat(explanation.findings()).as("%s", ExplanationText.text(explanation)).isEmpty();
    assertThat(explanation.tables()).isNotEmpty();
    assertThat(ExplanationText.text(explanation))
        .contains("Nothing was found that is worth a change.");
  }

  @Test
  void textsOfQueriesAreShownOnOneLineAndCut() throws IOException {
    String sql = "SELECT a,\r\n\tb\u001b[2J, " + "c, ".repeat(100) + "d";
    String path = "s3a://bucket/" + "long/".repeat(40) + "table";
    SyntheticLog log = new SyntheticLog();
    log.executorAdded("0", 4, 0);
    log.jobStarted(7, 0, sql);
    log.query(0, path, 4, 0, 10_000);
    Explanation explanation = log.explain(directory);
    String text = ExplanationText.text(explanation);
    String job = text.lines().filter(line -> line.contains("job 7 (")).findFirst().orElse("");
    assertThat(job).contains("job 7 (SELECT a, b [2J, c, c, ", "c,...): ").hasSizeLessThan(250);
    assertThat(text).doesNotContain("\u001b").contains(path + ": ");
    JsonNode document = new ObjectMapper().valueToTree(ExplanationText.document(explanation));
    assertThat(document.path("jobs").path(0).path("place").asText())
        .as("whole for programs")
        .isEqualTo("job 7 (" + sql + ")");
  }

  /** It takes a second or two; comparing all with all takes minutes. */
  @Test
  @Timeout(60)
  @Slow
  void tensOfThousandsOfQueriesTakeSeconds() {
    Application application = new Application();
    JsonNode none = MissingNode.getInstance();
    for (int i = 0; i < QUERIES; i++) {
      long rows = 3L * i;
      Map<String, Long> metrics =
          Map.of(
              TableScan.OUTPUT_ROWS,
              rows,
              TableScan.FILES,
              rows + 1,
              TableScan.FILE_BYTES,
              rows + 2);
      application.scans.put(
          rows, new TableScan(i, "s3a://bucket/table", "parquet", "a", "", "", metrics, -1));
      application.metrics.put(rows + 1, 1L);
      application.metrics.put(rows + 2, 64L << 20);
      Stage stage = application.stage(i, 0);
      stage.add(none, none);
      stage.metrics.add(rows);
    }
    List<TableReads> tables = TableReads.of(application);
    List<Finding> findings = new StoreRule().find(new Facts(application, tables, Map.of()));
    Explanation explanation =
        new Explanation("log", List.of(), application, Prices.LIST, tables, findings);

    assertThat(tables).singleElement().extracting(TableReads::files).isEqualTo((long) QUERIES);
    assertThat(ExplanationText.text(explanation))
        .contains("came from S3 again " + (QUERIES - 1) + " times")
        .contains("up to 64.0 MiB were read from one time");
  }

  @Test
  void tablesHaveAllThatStagesRead() throws IOException {
    Explanation explanation = explain("clean");
    assertThat(explanation.tables().stream().mapToLong(TableReads::readBytes).sum())
        .isEqualTo(explanation.application().s3e().bytesRead())
        .isPositive();
  }
}
