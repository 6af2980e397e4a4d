// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import io.s3e.engines.EngineHome;
import io.s3e.engines.EngineProcess;
import io.s3e.engines.Outcome;
import io.s3e.engines.Store;
import io.s3e.engines.Stream;
import io.s3e.engines.Traffic;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What a history saves jobs whose JVMs know nothing: each run is an application of its own, without
 * the history and with it by turns, after some that have written it. Histories lie in the measured
 * store.
 */
@Command(
    name = "history",
    mixinStandardHelpOptions = true,
    description = "Jobs with fs.s3a.s3e.history and without.")
final class HistoryMeasure implements Callable<Integer> {
  private static final String HISTORIES = "histories-";

  /** A job, and the part that its data make in the store. */
  enum Job {
    /** A query of TPC-H a run, on executors that read a file of the large table each. */
    TPCH("tpch-1.0-4-parquet", "generate 1.0 4 parquet %s"),
    /** All columns of files of 200 KB, on two executors. */
    SMALL("small-2000", "files 2000 3200 parquet %s"),
    /** Two columns of files with one row group of 4 MB, in a container each. */
    MAPREDUCE("groups-40", "files 40 62500 parquet %s");

    private final String data;
    private final String step;

    Job(String data, String step) {
      this.data = data;
      this.step = step;
    }
  }

  /** Whether jobs have a history. */
  private enum Mode {
    OFF,
    ON
  }

  /**
   * What one run cost.
   *
   * @param blocked seconds that its tasks waited in reads, by S3E's count
   * @param wall seconds from the start of its process to the end
   * @param gets GETs of its data
   * @param megabytes of 1e6 bytes that they brought
   * @param more requests of any kind for its history
   * @param result what it has computed
   */
  private record Run(
      double blocked, double wall, double gets, double megabytes, double more, String result) {}

  /** What a job tells of itself. */
  private record Done(double blocked, double wall, String result) {}

  @Mixin private Measure.Common common = new Measure.Common();

  @Option(
      names = "--jobs",
      split = ",",
      defaultValue = "TPCH,SMALL,MAPREDUCE",
      description = "Of ${COMPLETION-CANDIDATES}. Default: all.")
  private List<Job> jobs = List.of();

  @Option(
      names = "--queries",
      split = ",",
      defaultValue = "1,6,14,19",
      description = "Of TPC-H. Default: ${DEFAULT-VALUE}.")
  private List<Integer> queries = List.of();

  @Option(
      names = "--earlier",
      defaultValue = "2",
      description =
          "Runs from which the history is, before those that are counted. Default:"
              + " ${DEFAULT-VALUE}.")
  private int earlier;

  private final List<String> report = new ArrayList<>();

  @Override
  public Integer call() throws Exception {
    Path tmp = common.temporary();
    for (Job job : jobs) {
      common.makeData(job.data, List.of(job.step), tmp.resolve("data"));
    }
    report.add("Jobs with a history and without; " + common.describeServer());
    report.add("");
    report.add("| job | blocked s, off | on | ratio | wall | GETs | MB | requests for history |");
    report.add("|---|---|---|---|---|---|---|---|");
    boolean isEqual = true;
    try (Store store = common.store(tmp.resolve("tls"))) {
      for (Job job : jobs) {
        if (job == Job.TPCH) {
          for (int query : queries) {
            isEqual &= compare("TPC-H query " + query, job, store, query);
          }
        } else {
          isEqual &= compare(job.name().toLowerCase(Locale.ROOT), job, store, 0);
        }
      }
    }
    report.forEach(System.out::println);
    return isEqual ? 0 : 1;
  }

  /** Adds a line to the report; whether all runs had the same result. */
  private boolean compare(String name, Job job, Store store, int query) throws Exception {
    String histories = Store.ROOT + HISTORIES + UUID.randomUUID();
    List<Run> all = new ArrayList<>();
    for (int run = 0; run < earlier; run++) {
      all.add(run(name, job, Mode.ON, store, query, histories));
    }
    Map<Mode, List<Run>> runs = new EnumMap<>(Mode.class);
    for (int round = 0; round < common.rounds(); round++) {
      List<Mode> turn = round % 2 == 0 ? List.of(Mode.OFF, Mode.ON) : List.of(Mode.ON, Mode.OFF);
      for (Mode mode : turn) {
        Run run = run(name, job, mode, store, query, histories);
        runs.computeIfAbsent(mode, each -> new ArrayList<>()).add(run);
        all.add(run);
      }
    }
    List<Run> off = runs.getOrDefault(Mode.OFF, List.of());
    List<Run> on = runs.getOrDefault(Mode.ON, List.of());
    report.add(
        String.format(
            Locale.ROOT,
            "| %s | %.2f | %.2f | %s | %s | %s | %s | %.0f |",
            name,
            median(off, Run::blocked),
            median(on, Run::blocked),
            ratio(off, on, Run::blocked),
            ratio(off, on, Run::wall),
            ratio(off, on, Run::gets),
            ratio(off, on, Run::megabytes),
            median(on, Run::more)));
    return all.stream().map(Run::result).distinct().count() == 1;
  }

  private static double median(List<Run> runs, ToDoubleFunction<Run> figure) {
    return Figures.medianOf(values(runs, figure));
  }

  private static String ratio(List<Run> off, List<Run> on, ToDoubleFunction<Run> figure) {
    return Figures.ratio(values(on, figure), values(off, figure));
  }

  private static List<Double> values(List<Run> runs, ToDoubleFunction<Run> figure) {
    return runs.stream().mapToDouble(figure).boxed().toList();
  }

  private Run run(String name, Job job, Mode mode, Store store, int query, String histories)
      throws Exception {
    int mark = store.mark();
    Done done =
        job == Job.MAPREDUCE
            ? onYarn(mode, store, histories)
            : onSpark(name, job, mode, store, query, histories);
    Traffic traffic = store.since(mark);
    List<Traffic.Request> data =
        traffic.requests().stream()
            .filter(each -> each.isGet() && each.path().contains(job.data))
            .toList();
    long more = traffic.requests().stream().filter(each -> each.path().contains(HISTORIES)).count();
    Run counted =
        new Run(
            done.blocked,
            done.wall,
            data.size(),
            data.stream().mapToLong(Traffic.Request::sent).sum() / 1e6,
            more,
            done.result);
    Measure.Common.say(name + ", " + mode + ": " + counted);
    return counted;
  }

  private Done onSpark(String name, Job job, Mode mode, Store store, int query, String histories)
      throws IOException, InterruptedException {
    Path logs = Files.createDirectories(common.temporary().resolve("events"));
    String data = Store.ROOT + job.data;
    List<String> steps =
        job == Job.TPCH
            ? List.of("tables parquet " + data, "query " + query)
            : List.of("sql select count(*), sum(hash(*)) from parquet.`" + data + "`");
    SparkRun run =
        SparkRun.of(common.spark(), Stream.PLUGIN, store, "history")
            .master(job == Job.TPCH ? "local-cluster[4,1,1024]" : "local-cluster[2,1,1024]")
            .jars(List.of(SparkHome.line()))
            .conf("spark.app.name", name)
            .conf("spark.plugins", "io.s3e.spark.S3EPlugin")
            .conf("spark.s3e.history", mode.name().toLowerCase(Locale.ROOT))
            .conf("spark.s3e.history.dir", histories)
            // All executors are there before the first task is.
            .conf("spark.scheduler.minRegisteredResourcesRatio", "1.0")
            .conf("spark.scheduler.maxRegisteredResourcesWaitingTime", "60s")
            .eventLog(logs);
    SparkRun.Done done = run.run(steps);
    check(done.outcome());
    return new Done(
        SqlNodes.of(logs).inAllStages("readWaitNanos") / 1e9,
        done.outcome().wall().toMillis() / 1e3,
        done.results().stream().map(each -> each.digest()).collect(Collectors.joining(" ")));
  }

  private static void check(Outcome outcome) throws IOException {
    if (outcome.exitCode() != 0) {
      throw new IOException(String.join("\n", outcome.output()));
    }
  }

  private Done onYarn(Mode mode, Store store, String histories)
      throws IOException, InterruptedException {
    EngineHome yarn = EngineHome.of("yarn");
    EngineProcess job =
        EngineProcess.of(yarn, "io.s3e.jobs.ParquetOnYarn", Stream.S3E, store, "history")
            .jar(yarn.job("yarn"))
            .options("--add-opens=java.base/java.lang=ALL-UNNAMED")
            .options(store.jvmOptions().toArray(String[]::new))
            .deadline(Duration.ofMinutes(30))
            .set("fs.s3a.s3e.history", mode.name().toLowerCase(Locale.ROOT))
            .set("fs.s3a.s3e.history.dir", histories)
            .set("mapreduce.map.memory.mb", "512")
            .set("yarn.app.mapreduce.am.resource.mb", "512")
            .set("mapreduce.job.running.map.limit", "4")
            // Containers of seconds follow each other at once.
            .set("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", "100")
            .set("yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", "100")
            .set("yarn.nodemanager.process-kill-wait.ms", "500")
            .set("mapred.child.java.opts", childOptions(store))
            .set("yarn.app.mapreduce.am.command-opts", childOptions(store))
            .set("mapreduce.map.maxattempts", "1")
            .set("mapreduce.map.speculative", "false");
    Outcome outcome =
        job.run(Store.ROOT + Job.MAPREDUCE.data, job.directory().resolve("yarn").toString());
    check(outcome);
    return new Done(
        outcome.counter("s3e_read_wait_nanos") / 1e9,
        outcome.wall().toMillis() / 1e3,
        outcome.counter("rows") + " " + outcome.counter("sum"));
  }

  private static String childOptions(Store store) {
    return EngineProcess.SHORT_LIVED + " " + String.join(" ", store.jvmOptions());
  }
}
