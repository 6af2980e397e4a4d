// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.explain.Finding.Kind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.OptionalDouble;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Logs of real runs, each with one thing that costs. */
class ExplanationTest {
  @TempDir Path directory;

  private Explanation explain(String log) throws IOException {
    Path file = RecordedLog.of(log).write(directory, LogCodec.NONE);
    Explanation.Options options =
        new Explanation.Options(new Configuration(), false, OptionalDouble.of(0.05));
    return Explanation.of(file.toString(), options).get(0);
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
  void tablesHaveAllThatStagesRead() throws IOException {
    Explanation explanation = explain("clean");
    assertThat(explanation.tables().stream().mapToLong(TableReads::readBytes).sum())
        .isEqualTo(explanation.application().s3e().bytesRead())
        .isPositive();
  }
}
