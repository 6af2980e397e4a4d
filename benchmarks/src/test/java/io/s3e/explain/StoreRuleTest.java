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
    TableScan scan = new TableScan(0, "s3a://bucket/table", "parquet", "", "", Map.of(), -1);
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

  @Test
  void aLittleIsThePriceOfPrefetch() {
    assertThat(find(90 * MIB, 10 * MIB)).isEmpty();
  }
}
