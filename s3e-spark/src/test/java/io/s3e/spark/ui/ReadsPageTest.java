// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.s3e.hadoop.cost.Prices;
import io.s3e.spark.stages.ExecutorReads;
import io.s3e.spark.stages.GetSummary;
import io.s3e.spark.stages.ReadCounts;
import io.s3e.spark.stages.S3EReadsModel;
import io.s3e.spark.stages.SlowGet;
import io.s3e.spark.stages.StageAttempt;
import io.s3e.spark.stages.StageReads;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;
import org.jsoup.select.Elements;
import org.junit.jupiter.api.Test;

class ReadsPageTest {
  private static final String ROOT = "/proxy/app-1";
  private static final long MIB = 1 << 20;

  private static final ReadCounts COUNTS =
      new ReadCounts(
          12,
          40_000_000_000L,
          900 * MIB,
          250 * MIB,
          250 * MIB,
          500 * MIB,
          1_500,
          1_200,
          3,
          2,
          1,
          750,
          40,
          250,
          4_000_000_000L,
          600 * MIB,
          60 * MIB,
          24,
          18_000_000_000L);

  private static Document page(ReadsView view) {
    return Jsoup.parse(new ReadsPage(view, ROOT).html());
  }

  private static ReadsView view(List<StageRow> stages, ExecutorReads... executors) {
    return new ReadsView(
        COUNTS, stages, List.of(executors), List.of(), GetSummary.NONE, new Prices(0.5, 0.4));
  }

  private static ReadsView view(StageReads... reads) {
    List<StageRow> rows = List.of(ended(3, "sum at A.scala:1"));
    return new ReadsView(COUNTS, rows, List.of(), List.of(reads), GetSummary.NONE, Prices.LIST);
  }

  private static StageReads fetched(int stage, int variant) {
    return SampleReads.event(new StageAttempt(stage, 0), variant).reads();
  }

  private static StageRow ended(int stage, String name) {
    return new StageRow(
        new StageAttempt(stage, 0),
        Optional.of(new StageFacts(name, "complete", 12, 12, OptionalLong.of(9_000))),
        Optional.of(COUNTS));
  }

  @Test
  void saysFirstWhatWasReadAndWhereItCameFrom() {
    Document page = page(view(List.of()));
    Element served = page.expectFirst("#s3e-served");
    assertThat(served.text()).contains("12 tasks", "900.0 MiB", "memory 250.0 MiB 25 %");
    assertThat(served.text()).contains("local disk 250.0 MiB 25 %", "S3 500.0 MiB 50 %");
    assertThat(widths(served)).containsExactly(25.0, 25.0, 50.0);
    assertThat(page.expectFirst("#s3e-blocked").text())
        .contains("10 %", "4 s of 40 s", "250 waits");
    assertThat(page.expectFirst("#s3e-requests").text())
        .contains("1,500", "1,200 ahead of the reader; and 24 HEADs");
    assertThat(page.expectFirst("#s3e-bill").text())
        .contains(
            "$0.6127 $649.19 a TB read; requests $0.6096 at $0.4 per 1,000", "processors $0.0025")
        .contains("blocked slots $0.0006 at $0.5 an hour");
    assertThat(page.expectFirst("#s3e-memory").text()).contains("75 %", "750 found");
    assertThat(page.expectFirst("#s3e-disk").text()).contains("33 %", "250.0 MiB");
    assertThat(page.expectFirst("#s3e-wasted").text()).contains("60.0 MiB", "10 % of 600.0 MiB");
    assertThat(page.expectFirst("#s3e-faults").text()).contains("3 / 2 / 1");
  }

  @Test
  void hasARowForEachStageThatLeadsToSparksPageOfIt() {
    StageRow again =
        new StageRow(new StageAttempt(7, 2), ended(7, "count").facts(), Optional.of(COUNTS));
    Document page = page(view(List.of(again, ended(3, "sum at A.scala:1"))));
    Elements rows = page.select("#s3e-stages tbody tr");
    assertThat(rows).hasSize(2);
    assertThat(rows.get(0).expectFirst("a").attr("href"))
        .isEqualTo(ROOT + "/stages/stage/?id=7&attempt=2");
    assertThat(rows.get(0).expectFirst("a").text()).isEqualTo("7 (attempt 2)");
    assertThat(rows.get(1).expectFirst("a").attr("href"))
        .isEqualTo(ROOT + "/stages/stage/?id=3&attempt=0");
    assertThat(cells(rows.get(1)))
        .containsSubsequence(
            "3",
            "sum at A.scala:1",
            "complete",
            "12",
            "900.0 MiB",
            "500.0 MiB",
            "1,500",
            "$0.6127",
            "10 %",
            "75 %",
            "60.0 MiB",
            "3",
            "2",
            "1",
            "100.0 MiB/s");
  }

  @Test
  void showsAStageThatRunsWithoutFiguresItHasNot() {
    StageRow running =
        new StageRow(
            new StageAttempt(4, 0),
            Optional.of(new StageFacts("count", "active", 3, 20, OptionalLong.empty())),
            Optional.empty());
    Document page = page(view(List.of(running)));
    List<String> cells = cells(page.expectFirst("#s3e-stages tbody tr"));
    assertThat(cells.subList(0, 3)).containsExactly("4", "count", "active 3/20");
    assertThat(cells.subList(3, cells.size())).containsOnly("–");
  }

  @Test
  void linksNoStageThatSparkHasForgotten() {
    StageRow forgotten =
        new StageRow(new StageAttempt(1, 0), Optional.empty(), Optional.of(COUNTS));
    Element row = page(view(List.of(forgotten))).expectFirst("#s3e-stages tbody tr");
    assertThat(row.select("a")).isEmpty();
    assertThat(row.child(0).text()).isEqualTo("1");
    assertThat(row.child(1).text()).isEqualTo("–");
  }

  @Test
  void hasARowForEachExecutor() {
    Document page =
        page(
            view(
                List.of(),
                new ExecutorReads("driver", "10.0.0.9", COUNTS),
                new ExecutorReads("2", "10.0.0.2", ReadCounts.NONE)));
    Elements rows = page.select("#s3e-executors tbody tr");
    assertThat(rows).hasSize(2);
    assertThat(cells(rows.get(0)))
        .containsSubsequence("driver", "10.0.0.9", "12", "900.0 MiB", "22.5 MiB/s");
    assertThat(cells(rows.get(1))).containsSubsequence("2", "10.0.0.2", "0", "0.0 B", "–");
    assertThat(rows.get(0).expectFirst("a").attr("href")).isEqualTo(ROOT + "/executors/");
    assertThat(rows.get(1).select(".s3e-bar span")).isEmpty();
  }

  @Test
  void escapesWhatOthersNamed() {
    String name = "<script>alert(\"1\")</script> & 'x' \" onmouseover=\"alert(2)";
    Document page =
        page(view(List.of(ended(1, name)), new ExecutorReads(name, name, ReadCounts.NONE)));
    assertThat(page.select("script")).isEmpty();
    assertThat(page.select("[onmouseover]")).isEmpty();
    Element row = page.expectFirst("#s3e-stages tbody tr");
    assertThat(row.child(1).text()).isEqualTo(name);
    assertThat(row.child(1).attr("sorttable_customkey")).isEqualTo(name);
    assertThat(page.expectFirst("#s3e-executors tbody tr").child(0).text()).isEqualTo(name);
  }

  @Test
  void takesNothingFromElsewhereAndNeedsNoScript() {
    Document page =
        page(view(List.of(ended(1, "a")), new ExecutorReads("1", "h", ReadCounts.NONE)));
    assertThat(page.select("[src], link, script, iframe, object")).isEmpty();
    assertThat(page.select("a")).isNotEmpty().allMatch(a -> a.attr("href").startsWith(ROOT + "/"));
    assertThat(page.select("style").html()).doesNotContain("url(", "@import");
  }

  /** Spark's script takes all but digits, points and signs out of a key. */
  @Test
  void sortsNumbersByPlainDecimals() {
    List<ExecutorReads> executors = List.of(new ExecutorReads("1", "h", COUNTS));
    List<StageReads> reads = List.of(fetched(1, 0));
    Document page =
        page(
            new ReadsView(
                COUNTS, List.of(ended(1, "a")), executors, reads, GetSummary.NONE, Prices.LIST));
    assertThat(page.select("table")).hasSize(5);
    for (Element table : page.select("table")) {
      assertThat(table.className()).contains("sortable");
      Elements headings = table.select("th");
      for (int column = 0; column < headings.size(); column++) {
        String key = table.expectFirst("tbody tr").child(column).attr("sorttable_customkey");
        if (headings.get(column).hasClass("sorttable_numeric")) {
          assertThat(key).as(headings.get(column).text()).matches("[0-9]+(\\.[0-9]+)?");
        } else {
          assertThat(key).isNotEmpty();
        }
      }
    }
  }

  @Test
  void saysWhatGetsWereForTogetherAndByStage() {
    Document page = page(view(fetched(3, 1), fetched(2, 0)));
    Elements sums = page.select("#s3e-reasons tbody tr");
    assertThat(cells(sums.get(0)))
        .containsExactly(
            "GROUP", "390", "1", "93.8 MiB", "84.4 MiB", "9.4 MiB", "32.8 ms", "190.0 ms");
    assertThat(cells(sums.get(1)))
        .containsExactly("DEMAND", "60", "0", "7.5 MiB", "7.5 MiB", "0.0 B", "32.7 ms", "90.0 ms");
    assertThat(sums.get(1).expectFirst("span").attr("title")).startsWith("A reader waited");
    Elements stages = page.select("#s3e-stage-reasons tbody tr");
    assertThat(stages).hasSize(4);
    assertThat(cells(stages.get(0))).startsWith("3", "GROUP", "130", "1", "31.3 MiB");
    assertThat(stages.get(0).select("a")).hasSize(1);
    assertThat(stages.get(2).select("a")).as("Spark has forgotten it").isEmpty();
  }

  @Test
  void tellsOfTheSlowestGetsTheSlowestFirst() {
    Document page = page(view(fetched(3, 1), fetched(2, 0), fetched(1, 2)));
    Elements slow = page.select("#s3e-slowest tbody tr");
    assertThat(slow).hasSize(3);
    assertThat(cells(slow.get(0)).subList(1, 4)).containsExactly("stage 1, task 42", "1", "GROUP");
    assertThat(cells(slow.get(1)))
        .containsExactly(
            "2026-11-25T15:02:11.731Z",
            "stage 3, task 41",
            "1",
            "GROUP",
            "s3://sales/lineitem/part-00001.parquet",
            "131,072",
            "1,048,576",
            "181.5 ms",
            "413.3 ms",
            "DONE, attempt 2",
            "7B4F2C0A91D3E5F1");
  }

  @Test
  void showsNoMoreStagesAndGetsThanSomebodyReads() {
    StageReads[] many = new StageReads[50];
    for (int i = 0; i < many.length; i++) {
      many[i] = fetched(i, i);
    }
    Document page = page(view(many));
    assertThat(page.select("#s3e-stage-reasons tbody tr")).hasSize(40);
    assertThat(page.select("#s3e-slowest tbody tr")).hasSize(20);
    assertThat(page(view(List.of())).select("#s3e-reasons")).isEmpty();
  }

  @Test
  void sumsUpTheGetsOfStagesThatAreGoneToo() {
    S3EReadsModel model = new S3EReadsModel(1);
    for (int stage = 0; stage < 3; stage++) {
      model.add(SampleReads.event(new StageAttempt(stage, 0), stage));
    }
    ReadsView view =
        new ReadsView(
            COUNTS,
            List.of(ended(2, "a")),
            List.of(),
            model.stages(),
            model.otherGets(),
            Prices.LIST);
    Document page = page(view);
    assertThat(page.select("#s3e-reasons tbody tr"))
        .extracting(row -> cells(row).subList(0, 2))
        .containsExactly(List.of("GROUP", "476"), List.of("DEMAND", "90"));
    assertThat(page.select("#s3e-stage-reasons tbody tr")).hasSize(2);
    assertThat(page.select("#s3e-slowest tbody tr")).hasSize(3);
  }

  @Test
  void escapesWhatObjectsAreCalled() {
    String name = "<script>alert(1)</script>\" onmouseover=\"alert(2)";
    SlowGet get =
        new SlowGet(
            null, null, "now", name, name, 0, 1, name, 1, "FAILED", null, null, 0, name, name);
    StageReads stage = fetched(3, 1);
    Document page =
        page(
            view(
                new StageReads(
                    stage.stage(),
                    stage.executors(),
                    new GetSummary(stage.gets().reasons(), List.of(get)))));
    assertThat(page.select("script, [onmouseover]")).isEmpty();
    assertThat(cells(page.expectFirst("#s3e-slowest tbody tr")))
        .containsSubsequence(
            "now", "–", "–", name, "s3://" + name + "/" + name, "0", "1", "–", "–");
  }

  @Test
  void saysWhatToLookAtWhereNothingWasRead() {
    Document page =
        page(
            new ReadsView(
                ReadCounts.NONE, List.of(), List.of(), List.of(), GetSummary.NONE, Prices.LIST));
    assertThat(page.expectFirst("#s3e-empty").text())
        .contains("No stage has read by S3E yet", "fs.s3a.impl", "io.s3e.hadoop.S3EFileSystem")
        .contains("What Iceberg reads by S3EFileIO is not counted");
    assertThat(page.select("table")).isEmpty();
  }

  @Test
  void aBarIsFullWhateverTheSizes() {
    for (int variant = 0; variant < 8; variant++) {
      Document bar = Jsoup.parse(SourceBar.of(SampleReads.counts(variant)).html(""));
      assertThat(widths(bar.body()).stream().mapToDouble(Double::doubleValue).sum())
          .isCloseTo(100, within(0.03));
    }
  }

  private static List<Double> widths(Element parent) {
    return parent.select(".s3e-bar span").stream()
        .map(part -> part.attr("style").replaceAll("[^0-9.]", ""))
        .map(Double::valueOf)
        .toList();
  }

  /** A row has as many cells as its table has headings; their text. */
  private static List<String> cells(Element row) {
    assertThat(row.childrenSize()).isEqualTo(row.closest("table").select("th").size());
    return row.children().stream().map(Element::text).toList();
  }
}
