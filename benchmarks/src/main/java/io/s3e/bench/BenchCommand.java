// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import io.s3e.bench.plain.PageCache;
import io.s3e.bench.report.OneTable;
import io.s3e.bench.report.Report;
import io.s3e.bench.report.TextTable;
import io.s3e.bench.server.ServerCheck;
import io.s3e.bench.workload.WorkloadKind;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Stack;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.IParameterConsumer;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code bench}: reads its options, runs the comparison, prints the table. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    showDefaultValues = true,
    description =
        "Reads real data from S3 through S3E and through the streams of S3A, compares every byte,"
            + " and prints what each of them took.")
public final class BenchCommand implements Callable<Integer> {

  private static final long MEBIBYTE = 1L << 20;

  private static final Pattern OF_S3E = Pattern.compile("(iceberg-)?s3e(-.*)?");

  @Spec private @Nullable CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "s3a://BUCKET/KEY",
      description =
          "An object of your own to read; or, with a slash at its end, a prefix: the workloads take"
              + " the largest objects below it, and those of up to 1 MiB as the small ones. Without"
              + " it the job starts an S3 server of its own and writes TPC-H lineitem into it, as"
              + " text and as Parquet. With --preset aws the prefix is where it writes.")
  private @Nullable String uri;

  @Option(
      names = "--preset",
      defaultValue = "STANDARD",
      description = {
        "What is compared, and how much and how often it is read, where no option says otherwise:",
        "short (does everything work), standard (what S3E is for, beside what people use), aws (the"
            + " same at s3a://BUCKET/PREFIX: says what it costs, asks, writes its data there and"
            + " deletes it; an hour), columnar (readers"
            + " of Parquet and ORC, by S3E with and without its prediction of columns and by S3A's"
            + " streams), full (every engine in every workload; hours)."
      })
  private Preset preset = Preset.STANDARD;

  @Option(
      names = "--workloads",
      split = ",",
      showDefaultValue = Visibility.NEVER,
      description = "Of " + WorkloadKind.NAMES + ".")
  private List<String> workloads = List.of();

  @Mixin private EngineOptions engineOptions = new EngineOptions();

  @Option(
      names = {"-D", "--define"},
      paramLabel = "KEY=VALUE",
      mapFallbackValue = "",
      showDefaultValue = Visibility.NEVER,
      description = "A Hadoop configuration entry for every engine. Repeatable.")
  private Map<String, String> definitions = Map.of();

  @Option(
      names = "--conf",
      paramLabel = "FILE",
      showDefaultValue = Visibility.NEVER,
      description = "A core-site.xml; by default that of HADOOP_CONF_DIR, if there is one.")
  private List<Path> configurationFiles = List.of();

  @Option(
      names = "--rounds",
      showDefaultValue = Visibility.NEVER,
      description = "Counted runs of each engine.")
  private @Nullable Integer rounds;

  @Mixin private WarmUpOptions warmUpOptions = new WarmUpOptions();

  @Option(
      names = "--size",
      paramLabel = "MIB",
      showDefaultValue = Visibility.NEVER,
      description =
          "Size of the text object, of the Parquet files of vec, pq, scan-D and narrow, and of all"
              + " of seqN's objects together (but 8 MiB each at least).")
  private @Nullable Long sizeMebibytes;

  @Option(
      names = "--random-size",
      paramLabel = "MIB",
      defaultValue = "128",
      description = "How much rnd reads in a run; less with less than 1 MiB in flight.")
  private long randomMebibytes;

  @Option(
      names = "--seek-size",
      paramLabel = "MIB",
      defaultValue = "48",
      description = "How much back and jumps read in a run.")
  private long seekMebibytes;

  @Option(
      names = "--objects",
      showDefaultValue = Visibility.NEVER,
      description = "How many objects small reads, of 64 KiB to 1 MiB.")
  private @Nullable Integer smallObjects;

  @Option(
      names = "--files",
      defaultValue = "200",
      description = "How many Parquet files manyfiles reads, of 256 KiB to 4 MiB.")
  private int files;

  @Option(
      names = "--scale",
      showDefaultValue = Visibility.NEVER,
      description = "TPC-H scale of the Parquet and ORC files that are decoded.")
  private @Nullable Double scale;

  @Mixin private ConsentOption consent = new ConsentOption();

  @Mixin private StoreAddress storeAddress = new StoreAddress();

  @Mixin private ServerOptions serverOptions = new ServerOptions();

  @Mixin private CacheOptions cacheOptions = new CacheOptions();

  @Option(
      names = "--check-server",
      description =
          "Do nothing but check the embedded server against its own settings, plain and by TLS:"
              + " ends with 1 if it gives less than 95 %% of what they promise.")
  private boolean serverChecked;

  @Option(names = "--heap", defaultValue = "2g", description = "-Xmx of each engine's JVM.")
  private String heap = "";

  @Option(
      names = "--jvm-option",
      paramLabel = "OPTION",
      showDefaultValue = Visibility.NEVER,
      parameterConsumer = NextWord.class,
      description = "Another option of each engine's JVM. Repeatable.")
  private List<String> jvmOptions = List.of();

  @Option(
      names = "--read-deadline",
      paramLabel = "S",
      defaultValue = "30",
      description = "A single read that takes longer has failed.")
  private long readDeadlineSeconds;

  @Option(
      names = "--work-dir",
      paramLabel = "DIR",
      description =
          "Where data and temporary files go while the job runs: three times --size, and --size"
              + " more for each seqN, for plain-file, and for each run that fills a cache on disk.")
  private @Nullable Path workDirectory;

  @Option(
      names = "--report",
      paramLabel = "DIR",
      defaultValue = "s3e-report",
      description = "Where the report goes.")
  private Path reportDirectory = Path.of("s3e-report");

  @Option(
      names = "--progress",
      negatable = true,
      defaultValue = "true",
      fallbackValue = "true",
      description = "Progress bars on standard error.")
  private boolean progressShown;

  @Option(
      names = "--json",
      description =
          "The results as one JSON document on standard output, everything else on standard"
              + " error.")
  private boolean json;

  /** Read by the code that tells the failure. */
  @SuppressWarnings("UnusedVariable")
  @Option(names = "--verbose", description = "The stack trace if the job cannot run.")
  private boolean verbose;

  @Override
  public Integer call() throws IOException, InterruptedException {
    JobOptions options = options();
    CommandLine commandLine = commandSpec().commandLine();
    PrintWriter out = json ? commandLine.getErr() : commandLine.getOut();
    if (serverChecked) {
      return checkServer(options, out);
    }
    if (preset == Preset.AWS && !mayWrite(options, out)) {
      return 1;
    }
    Report.checkDirectory(options.reportDirectory());
    Progress progress = progress();
    try (RunDirectory directory = new RunDirectory(options.workDirectory());
        Target target = target(options, directory, progress)) {
      out.println(target.description());
      options.workloads().forEach(w -> out.println("  " + w.label() + ": " + w.description()));
      List<Summary> summaries = new Comparison(options, target, directory, progress).run();
      out.println();
      out.println(
          isWholePresetOfOneTable() ? OneTable.render(summaries) : TextTable.render(summaries));
      Report report =
          Report.write(
              options.reportDirectory(),
              summaries,
              ReportedSettings.ofJob(options, target),
              ReportedSettings.ofEngines(options));
      out.println("Report:  " + report.html().toAbsolutePath());
      out.println(
          "Chart:   "
              + (report.png() == null ? report.chartFailure() : report.png().toAbsolutePath()));
      out.println("Results: " + report.json().toAbsolutePath());
      if (json) {
        commandLine.getOut().println(Files.readString(report.json()));
      }
      return exitCode(summaries);
    }
  }

  Progress progress() {
    return new Progress(System.err, progressShown, Progress.isTerminal());
  }

  /**
   * What fails beside others is named in the table. Where nothing was measured the job failed, and
   * where S3E has read a wrong byte.
   */
  static int exitCode(List<Summary> summaries) {
    boolean isWrong =
        summaries.stream()
            .filter(Summary::hasWrongBytes)
            .anyMatch(summary -> OF_S3E.matcher(summary.engine().name()).matches());
    return !isWrong && summaries.stream().anyMatch(Summary::hasFigures) ? 0 : 1;
  }

  private static int checkServer(JobOptions options, PrintWriter out)
      throws IOException, InterruptedException {
    try (RunDirectory directory = new RunDirectory(options.workDirectory())) {
      out.println(ServerCheck.Line.heading());
      ServerCheck check =
          new ServerCheck(ServerCheck.Plan.of(options.server().shape()), directory.objects());
      List<ServerCheck.Line> lines = check.run(line -> out.println(line.text()));
      return lines.stream().allMatch(ServerCheck.Line::isEnough) ? 0 : 1;
    }
  }

  /** Below the user's prefix; null for the embedded server. */
  private @Nullable String root;

  private boolean mayWrite(JobOptions options, PrintWriter out) throws IOException {
    String prefix = options.uri();
    if (prefix == null) {
      throw wrong("--preset aws writes into a bucket of yours: name s3a://BUCKET/PREFIX");
    }
    String below = WrittenTarget.root(prefix);
    root = below;
    return consent.ask(Spend.of(options).text(below), out);
  }

  private Target target(JobOptions options, RunDirectory directory, Progress progress)
      throws IOException, InterruptedException {
    if (options.pageCacheDropped()) {
      PageCache.check(directory.cache());
    }
    String uri = options.uri();
    if (root != null) {
      return WrittenTarget.start(root, options, directory, progress);
    }
    return uri == null
        ? EmbeddedTarget.start(options, directory, progress)
        : UserTarget.open(uri, options, directory, progress);
  }

  private CommandSpec commandSpec() {
    if (spec == null) {
      throw new IllegalStateException("picocli has not filled the command in");
    }
    return spec;
  }

  /** Whether this is the main job, or the same at a store of the user's own. */
  private boolean isWholePresetOfOneTable() {
    return workloads.isEmpty() && engineOptions.isLeftOpen() && preset.hasOneTable();
  }

  private ParameterException wrong(String message) {
    return new ParameterException(commandSpec().commandLine(), message);
  }

  private static <T> T given(@Nullable T option, T byPreset) {
    return option == null ? byPreset : option;
  }

  private static List<String> given(List<String> option, List<String> byPreset) {
    return option.isEmpty() ? byPreset : option;
  }

  private void positive(String option, Number value) {
    if (!(value.doubleValue() > 0)) {
      throw wrong(option + " must be positive and is " + value);
    }
  }

  JobOptions options() {
    int rounds = given(this.rounds, preset.amount().rounds());
    long sizeMebibytes = given(this.sizeMebibytes, preset.amount().sizeMebibytes());
    int smallObjects = given(this.smallObjects, preset.amount().smallObjects());
    double scale = given(this.scale, preset.amount().scale());
    positive("--rounds", rounds);
    positive("--size", sizeMebibytes);
    positive("--random-size", randomMebibytes);
    positive("--seek-size", seekMebibytes);
    positive("--objects", smallObjects);
    positive("--files", files);
    positive("--scale", scale);
    positive("--read-deadline", readDeadlineSeconds);
    if (uri != null && !uri.startsWith("s3a://")) {
      throw wrong("Expected s3a://BUCKET/KEY instead of " + uri);
    }
    if (uri == null && storeAddress.isTold()) {
      throw wrong(
          "--endpoint, --region, --path-style, --profile and --anonymous are for objects of your"
              + " own: name s3a://BUCKET/KEY");
    }
    for (String option : uri == null ? List.<String>of() : ServerOptions.NAMES) {
      if (commandSpec().commandLine().getParseResult().hasMatchedOption(option)) {
        throw wrong(option + " is for the embedded server: leave out " + option + " or " + uri);
      }
    }
    try {
      List<WorkloadKind> kinds =
          given(workloads, preset.workloads()).stream()
              .flatMap(name -> WorkloadKind.named(name).stream())
              .toList();
      return new JobOptions(
          engineOptions.all(preset, kinds),
          kinds,
          rounds,
          engineOptions.byWorkload(preset, kinds),
          warmUpOptions.time(preset.warmUp()),
          warmUpOptions.steadyShare(preset.warmUp()),
          isWholePresetOfOneTable(),
          warmUpOptions.bytes(),
          warmUpOptions.coldJvms(),
          sizeMebibytes * MEBIBYTE,
          Math.min(randomMebibytes, sizeMebibytes * 4) * MEBIBYTE,
          Math.min(seekMebibytes, sizeMebibytes) * MEBIBYTE,
          smallObjects,
          files,
          scale,
          serverOptions.settings(),
          heap,
          jvmOptions,
          Duration.ofSeconds(readDeadlineSeconds),
          cacheOptions.stagger(),
          cacheOptions.pageCacheDropped(),
          hadoopEntries(),
          uri,
          workDirectory,
          reportDirectory);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(commandSpec().commandLine(), String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * The settings of the user's files and definitions, without Hadoop's own defaults. What files say
   * of stores is for objects of the user's own: the embedded server is reached by its own settings,
   * unless a definition says otherwise.
   */
  private Map<String, String> hadoopEntries() {
    Configuration configuration = new Configuration(false);
    List<Path> files = configurationFiles;
    String directory = System.getenv("HADOOP_CONF_DIR");
    if (files.isEmpty() && directory != null) {
      files = List.of(Path.of(directory, "core-site.xml"));
    }
    for (Path file : files) {
      if (file.toFile().isFile()) {
        configuration.addResource(new org.apache.hadoop.fs.Path(file.toUri()));
      } else if (!configurationFiles.isEmpty()) {
        throw new IllegalArgumentException("There is no file " + file);
      }
    }
    Map<String, String> entries = new HashMap<>(cacheOptions.hadoop());
    for (Map.Entry<String, String> entry : configuration) {
      if (uri != null || !EmbeddedTarget.isOfAStore(entry.getKey())) {
        entries.put(entry.getKey(), entry.getValue());
      }
    }
    entries.putAll(definitions);
    if (uri != null) {
      String bucket = new org.apache.hadoop.fs.Path(uri).toUri().getAuthority();
      entries.putAll(storeAddress.hadoop(bucket, entries));
      entries.putAll(definitions);
    }
    return entries;
  }

  /** Takes the next word as it is: picocli would take what begins with -D for the option -D. */
  static final class NextWord implements IParameterConsumer {
    @Override
    public void consumeParameters(Stack<String> words, ArgSpec option, CommandSpec command) {
      if (words.isEmpty()) {
        throw new ParameterException(
            command.commandLine(), "Missing required parameter for option '--jvm-option'");
      }
      List<String> taken = new ArrayList<>(option.<List<String>>getValue());
      taken.add(words.pop());
      option.setValue(taken);
    }
  }
}
