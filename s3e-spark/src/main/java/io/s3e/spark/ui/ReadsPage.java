// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import io.s3e.hadoop.cost.Bill;
import io.s3e.spark.stages.ExecutorReads;
import io.s3e.spark.stages.ReadCounts;
import io.s3e.spark.stages.S3EReadsModel;
import io.s3e.spark.stages.StageAttempt;
import io.s3e.spark.ui.ReadsTable.Cell;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import scala.xml.Utility;

/**
 * The content of the tab as HTML: the whole application first, then a table of stages and one of
 * executors. It needs no script and nothing from elsewhere; colours of text and lines are those of
 * Spark's style sheet.
 */
final class ReadsPage {
  private static final String STYLE =
      """
      <style>
      .s3e-cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:.75rem;\
      margin:.75rem 0 1.5rem}
      .s3e-card{border:1px solid var(--bs-border-color,#dee2e6);border-radius:.4rem;\
      padding:.7rem .9rem}
      .s3e-card h4{font-size:.8rem;margin:0 0 .2rem;font-weight:600;\
      color:var(--bs-secondary-color,#5c636a)}
      .s3e-big{font-size:1.6rem;font-weight:600;line-height:1.2}
      .s3e-quiet{color:var(--bs-secondary-color,#5c636a)}
      .s3e-bar{display:flex;height:.8rem;min-width:6rem;border-radius:.2rem;overflow:hidden;\
      background:var(--bs-border-color,#e9ecef)}
      .s3e-bar.s3e-tall{height:1.6rem;margin:.5rem 0}
      .s3e-bar span{display:block;height:100%}
      .s3e-memory{background:#1b8a6b}
      .s3e-disk{background:#3f7fd1}
      .s3e-s3{background:#e08a1e}
      .s3e-legend{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.6rem}
      .s3e-swatch{display:inline-block;width:.8rem;height:.8rem;border-radius:.15rem;\
      margin-right:.4rem;vertical-align:-.08rem}
      .s3e-scroll{overflow-x:auto}
      .s3e-table td,.s3e-table th{vertical-align:middle}
      .s3e-number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
      .s3e-name{max-width:26rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
      </style>
      """;

  /** Sorting is by six decimals, and a stage may cost less than a millionth of a dollar. */
  private static final double CENTS_OF_A_CENT = 10_000;

  private static final Cell NO_FIGURE = Cell.number(Figures.NONE, 0);

  private final ReadsView view;
  private final String uiRoot;

  /**
   * @param uiRoot what stands before the path of a page of this application's UI
   */
  ReadsPage(ReadsView view, String uiRoot) {
    this.view = view;
    this.uiRoot = uiRoot;
  }

  String html() {
    StringBuilder html = new StringBuilder(STYLE).append("<div id=\"s3e\">");
    if (view.total().equals(ReadCounts.NONE) && view.stages().isEmpty()) {
      return html.append(nothingYet()).append("</div>").toString();
    }
    html.append(served()).append("<div class=\"s3e-cards\">").append(cards()).append("</div>");
    html.append("<h4>Stages (").append(view.stages().size()).append(")</h4>");
    html.append("<div class=\"s3e-scroll\">").append(stages().html(view.stages()));
    html.append("</div><h4>Executors (").append(view.executors().size()).append(")</h4>");
    html.append("<div class=\"s3e-scroll\">").append(executors().html(view.executors()));
    html.append("</div>")
        .append(new GetsTables(view.reads(), view.otherGets(), this::ofReported).html());
    return html.append("</div>").toString();
  }

  private static String nothingYet() {
    return """
    <div class="s3e-card" id="s3e-empty"><div class="s3e-big">No stage has read by S3E yet.\
    </div><p>A stage appears here when it has ended. If stages that read <code>s3a://</code>\
     by Hadoop's file systems have ended, another stream read: see that <code>fs.s3a.impl</code>\
     is <code>io.s3e.hadoop.S3EFileSystem</code> and that <code>fs.s3a.s3e.enabled</code> is not\
     <code>false</code>. What Iceberg reads by <code>S3EFileIO</code> is not counted\
     here.</p></div>
    """;
  }

  private String served() {
    SourceBar bar = SourceBar.of(view.total());
    return "<div class=\"s3e-card\" id=\"s3e-served\"><h4>Bytes read by "
        + Figures.count(view.total().tasks())
        + " tasks, and where bytes came from</h4><div class=\"s3e-big\">"
        + Figures.bytes(view.total().bytesRead())
        + "</div>"
        + bar.html(" s3e-tall")
        + bar.legend()
        + "</div>";
  }

  private String cards() {
    ReadCounts all = view.total();
    return card(
            "s3e-blocked",
            "Task time blocked in reads",
            Figures.percent(Figures.blockedShare(all)),
            Figures.duration(all.readWaitNanos())
                + " of "
                + Figures.duration(all.taskNanos())
                + ", "
                + Figures.count(all.readWaits())
                + " waits")
        + card(
            "s3e-requests",
            "GETs",
            Figures.count(all.gets()),
            Figures.count(all.prefetchGets())
                + " ahead of the reader; and "
                + Figures.count(all.heads())
                + " HEADs")
        + bill(all)
        + card(
            "s3e-memory",
            "Blocks found in memory",
            Figures.percent(Figures.memoryHitRate(all)),
            Figures.count(all.memoryHits())
                + " found, "
                + Figures.count(all.readWaits())
                + " waited for")
        + card(
            "s3e-disk",
            "Fetched from local disk",
            Figures.percent(Figures.diskHitRate(all)),
            Figures.bytes(all.bytesFromDisk()) + " in place of GETs")
        + card(
            "s3e-wasted",
            "Prefetched, never read",
            Figures.bytes(all.prefetchWastedBytes()),
            Figures.percent(Figures.wastedShare(all))
                + " of "
                + Figures.bytes(all.prefetchedBytes())
                + " prefetched")
        + card(
            "s3e-faults",
            "Retries, throttled, hedges",
            Figures.count(all.retries())
                + " / "
                + Figures.count(all.throttled())
                + " / "
                + Figures.count(all.hedges()),
            "GETs sent again, slowed down by the store, sent beside a late one");
  }

  private String bill(ReadCounts all) {
    Bill bill = all.bill(view.prices());
    return card(
        "s3e-bill",
        "Price, by estimate",
        Figures.dollars(bill.totalUsd()),
        (all.bytesRead() == 0
                ? ""
                : Figures.dollars(bill.usdPerTerabyte(all.bytesRead())) + " a TB read; ")
            + "requests "
            + Figures.dollars(bill.requestsUsd())
            + " at $"
            + Figures.plain(view.prices().thousandRequests())
            + " per 1,000, processors "
            + Figures.dollars(bill.vcpuUsd())
            + " and blocked slots "
            + Figures.dollars(bill.blockedUsd())
            + " at $"
            + Figures.plain(view.prices().vcpuHour())
            + " an hour");
  }

  private static String card(String id, String title, String figure, String detail) {
    return "<div class=\"s3e-card\" id=\""
        + id
        + "\"><h4>"
        + Utility.escape(title)
        + "</h4><div class=\"s3e-big\">"
        + Utility.escape(figure)
        + "</div><div class=\"s3e-quiet\">"
        + Utility.escape(detail)
        + "</div></div>";
  }

  private ReadsTable<StageRow> stages() {
    ReadsTable<StageRow> table =
        new ReadsTable<StageRow>("s3e-stages")
            .number("Stage", "Its id, and its attempt where it is not the first", this::stage)
            .text("Name", "The place in the program that it comes from", ReadsPage::name)
            .text("Status", "Spark's", ReadsPage::status);
    return withCounts(table, StageRow::counts)
        .number(
            "Throughput",
            "Bytes read by the time from the stage's submission to its completion",
            row ->
                row.counts()
                    .map(reads -> throughput(reads.bytesRead(), wallNanos(row)))
                    .orElse(NO_FIGURE));
  }

  private ReadsTable<ExecutorReads> executors() {
    ReadsTable<ExecutorReads> table =
        new ReadsTable<ExecutorReads>("s3e-executors")
            .text("Executor", "Its id", this::executor)
            .text("Host", "As Spark names it", executor -> Cell.text(executor.host()));
    return withCounts(table, (ExecutorReads executor) -> Optional.of(executor.counts()))
        .number(
            "Throughput of a task",
            "Bytes read by the time of the tasks, added up",
            row -> throughput(row.counts().bytesRead(), row.counts().taskNanos()));
  }

  /**
   * The columns that stages and executors have in common.
   *
   * @param counts empty where nothing is reported yet
   */
  private <T> ReadsTable<T> withCounts(
      ReadsTable<T> table, Function<T, Optional<ReadCounts>> counts) {
    return table
        .number("Tasks", "Tasks that reported, failed ones too", count(counts, ReadCounts::tasks))
        .number("Read", "Bytes given to the tasks", bytes(counts, ReadCounts::bytesRead))
        .number(
            "Memory, disk, S3",
            "Where bytes came from; sorted by the part of S3",
            cell(counts, ReadsPage::bar))
        .number("From S3", "Bytes received from S3", bytes(counts, ReadCounts::bytesFromS3))
        .number("GETs", "GETs sent, retries included", count(counts, ReadCounts::gets))
        .number(
            "Price",
            "By estimate: GETs and HEADs, processor time of the tasks, slots blocked in reads",
            cell(counts, this::price))
        .number(
            "Blocked",
            "The part of the tasks' time in which they waited for a block",
            cell(counts, reads -> share(Figures.blockedShare(reads))))
        .number(
            "In memory",
            "Of the blocks that readers came to, those that were in memory",
            cell(counts, reads -> share(Figures.memoryHitRate(reads))))
        .number(
            "Wasted",
            "Bytes prefetched that nobody has read, whether they are in memory still or not",
            bytes(counts, ReadCounts::prefetchWastedBytes))
        .number("Retries", "GETs sent again", count(counts, ReadCounts::retries))
        .number("Throttled", "GETs that the store refused", count(counts, ReadCounts::throttled))
        .number("Hedges", "GETs sent beside a late one", count(counts, ReadCounts::hedges));
  }

  private Cell stage(StageRow row) {
    return new Cell(stage(row.stage(), row.facts().isPresent()), row.stage().sortKey());
  }

  /** The number of a stage that has reported. */
  private String ofReported(StageAttempt stage) {
    return stage(
        stage,
        view.stages().stream()
            .anyMatch(row -> row.stage().equals(stage) && row.facts().isPresent()));
  }

  private String stage(StageAttempt stage, boolean isKnown) {
    String text =
        stage.attempt() == 0
            ? Integer.toString(stage.stageId())
            : stage.stageId() + " (attempt " + stage.attempt() + ")";
    String path = "/stages/stage/?id=" + stage.stageId() + "&attempt=" + stage.attempt();
    return isKnown ? link(path, text) : text;
  }

  private static Cell name(StageRow row) {
    return Cell.name(row.facts().map(StageFacts::name).orElse(Figures.NONE));
  }

  private static Cell status(StageRow row) {
    return Cell.text(
        row.facts()
            .map(
                facts ->
                    facts.wallMillis().isPresent()
                        ? facts.status()
                        : facts.status() + " " + facts.tasksDone() + "/" + facts.tasks())
            .orElse(Figures.NONE));
  }

  private Cell executor(ExecutorReads executor) {
    String id = executor.executorId();
    return id.equals(S3EReadsModel.OTHER_EXECUTORS)
        ? Cell.text(id)
        : new Cell(link("/executors/", id), id);
  }

  private String link(String path, String text) {
    return "<a href=\"" + Utility.escape(uiRoot + path) + "\">" + Utility.escape(text) + "</a>";
  }

  private static Cell bar(ReadCounts reads) {
    return new Cell(SourceBar.of(reads).html(""), Long.toString(reads.bytesFromS3()));
  }

  private Cell price(ReadCounts reads) {
    double dollars = reads.bill(view.prices()).totalUsd();
    return Cell.number(Figures.dollars(dollars), dollars * CENTS_OF_A_CENT);
  }

  private static <T> Function<T, Cell> count(
      Function<T, Optional<ReadCounts>> counts, ToLongFunction<ReadCounts> of) {
    return cell(
        counts, reads -> Cell.number(Figures.count(of.applyAsLong(reads)), of.applyAsLong(reads)));
  }

  private static <T> Function<T, Cell> bytes(
      Function<T, Optional<ReadCounts>> counts, ToLongFunction<ReadCounts> of) {
    return cell(
        counts, reads -> Cell.number(Figures.bytes(of.applyAsLong(reads)), of.applyAsLong(reads)));
  }

  private static <T> Function<T, Cell> cell(
      Function<T, Optional<ReadCounts>> counts, Function<ReadCounts, Cell> cell) {
    return row -> counts.apply(row).map(cell).orElse(NO_FIGURE);
  }

  private static Cell share(OptionalDouble share) {
    return Cell.number(Figures.percent(share), share.orElse(0));
  }

  private static Cell throughput(long bytes, long nanos) {
    OptionalDouble rate = Figures.bytesPerSecond(bytes, nanos);
    return Cell.number(Figures.perSecond(rate), rate.orElse(0));
  }

  /** 0 where it has none yet, which is no throughput. */
  private static long wallNanos(StageRow row) {
    return row.facts()
        .map(StageFacts::wallMillis)
        .map(wall -> TimeUnit.MILLISECONDS.toNanos(wall.orElse(0)))
        .orElse(0L);
  }
}
