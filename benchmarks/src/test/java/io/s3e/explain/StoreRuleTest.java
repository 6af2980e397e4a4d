// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What no short run shows by itself. */
class StoreRuleTest {
  private static final long MIB = 1 << 20;

  private static List<Finding> find(long prefetched, long wasted) {
    Stage stage = new Stage(0, 0);
    stage.add(new S3eReads(100 * MIB, 0, 0, 100 * MIB, 50, 0, 0, 10, 0, prefetched, wasted));
    TableScan scan = new TableScan(0, "s3a://bucket/table", "parquet", "", "", "", Map.of(), -1);
    TableReads table =
        new TableReads(
            scan.table(), List.of(new TableReads.Run(stage, Optional.of(scan), 1, 1, 100 * MIB)));
    return new StoreRule().find(new Facts(new Application(), List.of(table), Map.of()));
  }

  @Test
  void aQuarterThatWasPrefetchedForNobody() {
    assertThat(find(90 * MIB, 25 * MIB))
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.kind()).isEqualTo(Finding.Kind.WASTED_PREFETCH);
              assertThat(finding.evidence()).contains("25.0 MiB of 100.0 MiB");
              assertThat(finding.saving().requests()).isEqualTo(13);
            });
  }

  private static TableReads.Run run(int stageId, String partitions) {
    Stage stage = new Stage(stageId, 0);
    stage.add(new S3eReads(100 * MIB, 0, 0, 100 * MIB, 50, 0, 0, 10, 0, 0, 0));
    TableScan scan =
        new TableScan(stageId, "s3a://bucket/table", "parquet", "a", "", partitions, Map.of(), -1);
    return new TableReads.Run(stage, Optional.of(scan), 1, 1, 100 * MIB);
  }

  @Test
  void whatIsReadAgainIsTheSamePartitions() {
    TableReads otherDay =
        new TableReads("table", List.of(run(1, "[(day#3 = 1)]"), run(2, "[(day#4 = 2)]")));
    Facts facts = new Facts(new Application(), List.of(otherDay), Map.of());
    assertThat(new StoreRule().find(facts)).isEmpty();

    TableReads sameDay =
        new TableReads(
            "table",
            List.of(run(1, "[(day#3 = 1)]"), run(2, "[(day#4 = 1)]"), run(3, "[(day#5L = 1)]")));
    assertThat(new StoreRule().find(new Facts(new Application(), List.of(sameDay), Map.of())))
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.kind()).isEqualTo(Finding.Kind.READ_AGAIN);
              assertThat(finding.evidence())
                  .contains("2 times: 200.0 MiB of 300.0 MiB; up to 100.0 MiB were read from");
              assertThat(finding.saving().requests()).isEqualTo(100);
            });
  }

  @Test
  void aLittleIsThePriceOfPrefetch() {
    assertThat(find(90 * MIB, 10 * MIB)).isEmpty();
  }
}
