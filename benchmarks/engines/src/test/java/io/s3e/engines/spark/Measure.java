// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import io.s3e.bench.server.FirstByteTime;
import io.s3e.bench.server.SelfSignedCertificate;
import io.s3e.bench.server.ServerStats;
import io.s3e.bench.server.Shape;
import io.s3e.engines.Harness;
import io.s3e.engines.Store;
import io.s3e.engines.Stream;
import io.s3e.engines.spark.Measured.State;
import io.s3e.engines.spark.job.StepResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Spark by S3E beside S3A's streams, on the shaped server: {@code java @target/measure --help} in
 * the directory of this module.
 *
 * <p>One application a stream stays for the whole run, so that all have the same state of the JIT.
 * They take turns at every step, in another order each time, and rest while another works. The
 * server runs in this process, and its processor time counts for none of them.
 */
@Command(
    name = "measure",
    mixinStandardHelpOptions = true,
    description = "Measures Spark by S3E beside S3A's streams, on the shaped server.",
    subcommands = {
      Measure.Tpch.class,
      Measure.SmallFiles.class,
      Measure.Looks.class,
      Measure.Words.class,
      HistoryMeasure.class
    })
public final class Measure {

  /** Writes the data. */
  private static final String MAKER = "spark-4.1";

  private static final String MAKER_MASTER = "local[2]";

  private Measure() {}

  public static void main(String[] args) {
    System.exit(
        new CommandLine(new Measure()).setCaseInsensitiveEnumValuesAllowed(true).execute(args));
  }

  /**
   * What is measured.
   *
   * @param name names the report
   * @param title its first line
   * @param dataName names the data, which are made once and kept
   * @param data steps that write them below the directory that stands for {@code %s}
   * @param warmUp steps before the first round, below the same directory
   * @param setUp steps before the first measured one
   * @param steps the measured ones
   * @param groups those that are summed up, by the name of the sum
   */
  private record Workload(
      String name,
      String title,
      String dataName,
      List<String> data,
      List<String> warmUp,
      List<String> setUp,
      List<String> steps,
      Map<String, List<String>> groups) {}

  /** The options of all workloads. */
  static final class Common {
    @Option(
        names = "--streams",
        split = ",",
        defaultValue = "CLASSIC,ANALYTICS,S3E",
        description =
            "Streams to measure: ${COMPLETION-CANDIDATES}. PLUGIN is S3E as its Spark plugin sets"
                + " it, without the clock that tells blocked and given. S3E's engine outlives file"
                + " systems, so both read cold from a bucket of another name. Default:"
                + " ${DEFAULT-VALUE}.")
    private List<Stream> streams = List.of();

    @Option(
        names = "--states",
        split = ",",
        defaultValue = "COLD,WARM",
        description =
            "COLD: nothing of the step is cached; S3A's file system is closed before it. WARM: the"
                + " step once more. Default: both.")
    private List<State> states = List.of();

    @Option(names = "--rounds", defaultValue = "3", description = "Default: ${DEFAULT-VALUE}.")
    private int rounds;

    @Option(
        names = "--warm-up",
        defaultValue = "1",
        description = "Passes before the first round, on small data. Default: ${DEFAULT-VALUE}.")
    private int warmUp;

    @Option(
        names = "--spark",
        defaultValue = "spark-4.1",
        description = "A directory of homes/. Default: ${DEFAULT-VALUE}.")
    private String spark = "";

    @Option(
        names = "--master",
        defaultValue = "local[2]",
        description =
            "As Spark takes it, for example local[16], or local-cluster[2,8,2048] for two executors"
                + " that are told 8 cores each. Default: ${DEFAULT-VALUE}.")
    private String master = "";

    @Option(
        names = "--heap",
        defaultValue = "2g",
        description = "Heap of each application. Default: ${DEFAULT-VALUE}.")
    private String heap = "";

    @Option(
        names = "--conf",
        description = "A key of Spark's and its value, key=value; may be given several times.")
    private Map<String, String> conf = Map.of();

    @Option(
        names = "--first-byte-millis",
        defaultValue = "30",
        description = "Time to the first byte of an answer. Default: ${DEFAULT-VALUE}.")
    private int firstByteMillis;

    @Option(
        names = "--connection-megabytes",
        defaultValue = "60",
        description = "MB/s of one connection, 0 for no limit. Default: ${DEFAULT-VALUE}.")
    private int connectionMegabytes;

    @Option(
        names = "--directory",
        description =
            "Where data and reports lie; data are made once. Default: target/engines/measure.")
    private Path directory = Harness.OUTPUT.resolve("measure");

    @Option(names = "--plain", description = "Plain HTTP in place of TLS.")
    private boolean plain;

    int rounds() {
      return rounds;
    }

    SparkHome spark() throws IOException, InterruptedException {
      return SparkHome.of(spark);
    }

    /** The server over the data; close it. {@code directory} may go after it. */
    Store store(Path directoryOfCertificate) throws IOException, InterruptedException {
      Files.createDirectories(directoryOfCertificate);
      return Store.start(
          directory, shape(), plain ? null : SelfSignedCertificate.create(directoryOfCertificate));
    }

    private Shape shape() {
      return new Shape(
          FirstByteTime.constant(TimeUnit.MILLISECONDS.toNanos(firstByteMillis)),
          connectionMegabytes * 1_000_000L,
          0);
    }

    String describeServer() {
      return String.format(
          Locale.ROOT,
          "Server: %s, %d ms to the first byte, %d MB/s a connection",
          plain ? "plain HTTP" : "TLS",
          firstByteMillis,
          connectionMegabytes);
    }

    /** A new directory for one run. */
    Path temporary() throws IOException {
      directory = directory.toAbsolutePath();
      return Files.createTempDirectory(Files.createDirectories(directory), "run");
    }

    /** Makes the data if need be, runs all rounds, writes the report. */
    private int run(Workload workload) throws Exception {
      Path tmp = temporary();
      SparkHome home = SparkHome.of(spark);
      Driver.Settings settings = new Driver.Settings(home, master, heap, conf);
      makeData(workload.dataName(), workload.data(), tmp.resolve("data"));
      Measured measured = new Measured();
      List<Driver> drivers = new ArrayList<>();
      try (Store store = store(tmp.resolve("tls"))) {
        for (Stream stream : streams) {
          drivers.add(Driver.start(settings, stream, store, tmp.resolve(stream.name())));
        }
        warmUp(workload, drivers);
        measure(workload, drivers, store, measured);
      } finally {
        for (Driver driver : drivers) {
          driver.close();
        }
      }
      return report(workload, measured);
    }

    /** By one Spark for all: the rows of TPC-H need a newer Guava than 3.5 has. */
    void makeData(String name, List<String> steps, Path tmp) throws Exception {
      Path made = directory.resolve(name + ".made");
      if (Files.exists(made)) {
        return;
      }
      say("making the data " + name);
      Driver.Settings settings =
          new Driver.Settings(SparkHome.of(MAKER), MAKER_MASTER, heap, Map.of());
      try (Store store = Store.start(directory, Shape.UNSHAPED);
          Driver driver = Driver.start(settings, Stream.CLASSIC, store, tmp)) {
        for (String step : steps) {
          driver.run(step.replace("%s", Store.ROOT + name));
        }
      }
      Files.writeString(made, LocalDateTime.now() + System.lineSeparator());
    }

    private static String at(String step, Workload workload, String root) {
      return step.replace("%s", root + workload.dataName());
    }

    private void warmUp(Workload workload, List<Driver> drivers) throws IOException {
      say("warming up");
      for (int pass = 0; pass < warmUp; pass++) {
        for (Driver driver : drivers) {
          for (String step : workload.warmUp()) {
            driver.run(at(step, workload, Store.ROOT));
          }
        }
      }
      for (Driver driver : drivers) {
        for (String step : workload.setUp()) {
          driver.run(at(step, workload, Store.ROOT));
        }
      }
    }

    private void measure(Workload workload, List<Driver> drivers, Store store, Measured measured)
        throws IOException, InterruptedException {
      for (int round = 1; round <= rounds; round++) {
        // Not on from where the last round has stopped: of an even number of steps each would have
        // the same stream first in all rounds.
        int turn = round;
        for (String step : workload.steps()) {
          for (int each = 0; each < drivers.size(); each++) {
            Driver driver = drivers.get((turn + each) % drivers.size());
            String root = forget(driver, workload, store);
            for (State state : states) {
              Figures figures =
                  once(
                      at(step, workload, root),
                      step.replace(" %s", ""),
                      state,
                      driver,
                      store,
                      measured);
              say(
                  String.format(
                      Locale.ROOT,
                      "round %d, %s, %s, %s: %.2f s, blocked %.2f s, CPU %.2f s, %.0f GETs",
                      round,
                      step.replace(" %s", ""),
                      state,
                      driver.stream(),
                      figures.wall(),
                      figures.blocked(),
                      figures.cpu(),
                      figures.gets()));
            }
          }
          turn++;
        }
      }
    }

    /** Returns where nothing is cached that the driver reads next. */
    private static String forget(Driver driver, Workload workload, Store store) throws IOException {
      if (driver.stream() == Stream.CLASSIC || driver.stream() == Stream.ANALYTICS) {
        driver.run("forget " + Store.ROOT);
        return Store.ROOT;
      }
      String root = store.bucketOfSameObjects();
      for (String step : workload.setUp()) {
        driver.run(at(step, workload, root));
      }
      return root;
    }

    private static Figures once(
        String line, String step, State state, Driver driver, Store store, Measured measured)
        throws IOException, InterruptedException {
      ServerStats before = store.stats();
      StepResult result = driver.run(line);
      Figures figures = Figures.of(result, store.stats().since(before));
      measured.add(step, state, driver.stream(), result.digest(), figures);
      return figures;
    }

    private int report(Workload workload, Measured measured) throws IOException {
      List<String> how =
          List.of(
              describeServer(),
              spark + ", " + master + ", heap " + heap + ", conf " + conf,
              rounds + " rounds, streams in turn at every step; medians");
      MeasureReport report =
          new MeasureReport(workload.title(), how, streams, states, workload.groups());
      String name =
          workload.name()
              + LocalDateTime.now()
                  .format(DateTimeFormatter.ofPattern("-MMdd-HHmmss", Locale.ROOT));
      Path file = report.write(measured, directory.resolve("reports"), name);
      System.out.println(report.markdown(measured));
      System.out.println("Report: " + file + " and .json");
      return measured.steps().stream().allMatch(measured::isEqual) ? 0 : 1;
    }

    static void say(String line) {
      System.err.println(
          LocalDateTime.now().format(DateTimeFormatter.ISO_LOCAL_TIME).substring(0, 8)
              + ' '
              + line);
    }
  }

  /** The queries of TPC-H by Parquet. */
  @Command(
      name = "tpch",
      mixinStandardHelpOptions = true,
      description = "The 22 queries of TPC-H, or some of them.")
  static final class Tpch implements Callable<Integer> {
    /** The queries that are told apart: they read much and compute little. */
    private static final List<Integer> READERS = List.of(1, 6, 14, 19);

    private static final double WARM_UP_SCALE = 0.01;

    private static final int USUAL_GROUP_MEBIBYTES = 128;

    @Mixin private Common common = new Common();

    @Option(
        names = "--scale",
        defaultValue = "1",
        description = "1 for a gigabyte of text. Default: ${DEFAULT-VALUE}.")
    private double scale;

    @Option(
        names = "--files",
        defaultValue = "4",
        description = "Files of a large table. Default: ${DEFAULT-VALUE}.")
    private int files;

    @Option(
        names = "--format",
        defaultValue = "parquet",
        description = "parquet, orc, csv or json_gz. Default: ${DEFAULT-VALUE}.")
    private String format = "";

    @Option(
        names = "--group-mebibytes",
        defaultValue = "" + USUAL_GROUP_MEBIBYTES,
        description =
            "Row groups of Parquet, before compression; S3 gets about a third. Default:"
                + " ${DEFAULT-VALUE}.")
    private int groupMebibytes;

    @Option(names = "--queries", split = ",", description = "For example 1,6,14,19. Default: all.")
    private int[] queries = IntStream.rangeClosed(1, 22).toArray();

    @Override
    public Integer call() throws Exception {
      List<String> steps = Arrays.stream(queries).mapToObj(query -> "query " + query).toList();
      Map<String, List<String>> groups = new LinkedHashMap<>();
      groups.put("all", steps);
      List<String> readers =
          READERS.stream().map(query -> "query " + query).filter(steps::contains).toList();
      if (readers.size() == READERS.size()) {
        groups.put("1, 6, 14, 19", readers);
      }
      List<String> warmUp = new ArrayList<>(List.of("tables " + format + " %s-small"));
      warmUp.addAll(steps);
      return common.run(
          new Workload(
              "tpch",
              "TPC-H, scale " + scale + ", " + format,
              "tpch-" + scale + '-' + files + '-' + format + groups(),
              List.of(
                  "sql SET parquet.block.size=" + ((long) groupMebibytes << 20),
                  "generate " + scale + ' ' + files + ' ' + format + " %s",
                  "generate " + WARM_UP_SCALE + ' ' + files + ' ' + format + " %s-small"),
              warmUp,
              List.of("tables " + format + " %s"),
              steps,
              groups));
    }

    /** In the name of data whose row groups are not the usual ones. */
    private String groups() {
      return groupMebibytes == USUAL_GROUP_MEBIBYTES ? "" : "-groups-" + groupMebibytes;
    }
  }

  /** Many small files. */
  @Command(
      name = "small",
      mixinStandardHelpOptions = true,
      description = "All columns of many small files of Parquet.")
  static final class SmallFiles implements Callable<Integer> {
    /** 200 KB of rows of 64 bytes. */
    private static final int ROWS = 3_200;

    @Mixin private Common common = new Common();

    @Option(names = "--files", defaultValue = "2000", description = "Default: ${DEFAULT-VALUE}.")
    private int files;

    @Override
    public Integer call() throws Exception {
      String step = "sql select count(*), sum(hash(*)) from made";
      String view = "sql create or replace temporary view made using parquet options (path '%s')";
      return common.run(
          new Workload(
              "small",
              files + " files of 200 KB",
              "small-" + files,
              List.of("files " + files + ' ' + ROWS + " parquet %s"),
              List.of(view, step),
              List.of(view),
              List.of(step),
              Map.of()));
    }
  }

  /** Queries that stop early, and those that look at each file's end alone. */
  @Command(
      name = "looks",
      mixinStandardHelpOptions = true,
      description = "LIMIT 10 by one column and by all, and the schema of all files.")
  static final class Looks implements Callable<Integer> {
    /** 4 MB of rows of 64 bytes. */
    private static final int ROWS = 62_500;

    @Mixin private Common common = new Common();

    @Option(names = "--files", defaultValue = "200", description = "Default: ${DEFAULT-VALUE}.")
    private int files;

    @Override
    public Integer call() throws Exception {
      String made = "looks-" + files;
      List<String> steps =
          List.of(
              "infer parquet %s",
              "sql select * from made limit 10", "sql select a from made limit 10");
      String view = "sql create or replace temporary view made using parquet options (path '%s')";
      List<String> warmUp = new ArrayList<>(List.of(view));
      warmUp.addAll(steps);
      return common.run(
          new Workload(
              "looks",
              "LIMIT 10 and the schema of " + files + " files of 4 MB",
              made,
              List.of("files " + files + ' ' + ROWS + " parquet %s"),
              warmUp,
              List.of(view),
              steps,
              Map.of()));
    }
  }

  /** Word count of text. */
  @Command(
      name = "words",
      mixinStandardHelpOptions = true,
      description = "Counts the words of text files.")
  static final class Words implements Callable<Integer> {
    @Mixin private Common common = new Common();

    @Option(
        names = "--bytes",
        defaultValue = "1000000000",
        description = "Of text. Default: ${DEFAULT-VALUE}.")
    private long bytes;

    @Option(names = "--files", defaultValue = "4", description = "Default: ${DEFAULT-VALUE}.")
    private int files;

    @Override
    public Integer call() throws Exception {
      return common.run(
          new Workload(
              "words",
              "Words of " + bytes + " bytes in " + files + " files",
              "words-" + bytes + '-' + files,
              List.of(
                  "lines " + bytes + ' ' + files + " %s",
                  "lines " + bytes / 100 + ' ' + files + " %s-small"),
              List.of("words %s-small"),
              List.of(),
              List.of("words %s"),
              Map.of()));
    }
  }
}
