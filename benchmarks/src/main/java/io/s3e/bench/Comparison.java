package io.s3e.bench;

import com.fasterxml.jackson.databind.JsonNode;
import io.s3e.bench.process.ChildFailureException;
import io.s3e.bench.process.ChildJvm;
import io.s3e.bench.raw.RawCeiling;
import io.s3e.bench.server.ServerStats;
import io.s3e.bench.workload.RunResult;
import io.s3e.bench.workload.RunSpec;
import io.s3e.bench.workload.WorkerProcess;
import io.s3e.bench.workload.WorkloadKind;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs every workload through every engine, in rounds: each round lets every engine run once, and
 * the next round begins with the next engine, so that a change of the machine's mood meets all
 * alike.
 *
 * <p>Each engine has a JVM of its own for each workload, started anew: its memory and its processor
 * time are the engine's alone. A run that fails is a result like any other; the engine gets a new
 * JVM and the job goes on. One thread.
 */
final class Comparison {

  /** After so many failed runs of one workload the engine's remaining rounds are not tried. */
  private static final int ENOUGH_FAILURES = 2;

  /** A worker says something every 100 ms; this much more than a read's deadline is a dead JVM. */
  private static final Duration SILENCE_BEYOND_DEADLINE = Duration.ofSeconds(15);

  private static final Duration CONFIGURE_PATIENCE = Duration.ofSeconds(60);

  /** How long to wait for what an engine left on the way when its streams were closed. */
  private static final Duration QUIET_PATIENCE = Duration.ofSeconds(5);

  private static final long QUIET_POLL_MILLIS = 20;

  private final JobOptions options;
  private final Target target;
  private final RunDirectory directory;
  private final Progress progress;
  private final Map<String, Long> checksums = new HashMap<>();

  Comparison(JobOptions options, Target target, RunDirectory directory, Progress progress) {
    this.options = options;
    this.target = target;
    this.directory = directory;
    this.progress = progress;
  }

  /** Runs everything; one summary for each engine and workload, workloads outermost. */
  List<Summary> run() throws IOException, InterruptedException {
    List<Summary> summaries = new ArrayList<>();
    List<WorkloadKind> workloads =
        options.workloads().stream().filter(w -> target.subject(w) != null).toList();
    long comparisons = workloads.stream().mapToLong(w -> enginesOf(w).size()).sum();
    long steps = comparisons * (options.rounds() + 1);
    try (Progress.Bar bar = progress.count("compare", steps, "runs")) {
      for (WorkloadKind workload : workloads) {
        summaries.addAll(compare(workload, new Steps(bar, summaries.size())));
      }
    }
    return summaries;
  }

  /** Raw clients have no way to run most workloads. */
  private List<Engine> enginesOf(WorkloadKind workload) {
    return options.engines().stream().filter(engine -> engine.runs(workload)).toList();
  }

  /** Counts runs on the bar, over all workloads. */
  private final class Steps {
    private final Progress.Bar bar;
    private long done;

    Steps(Progress.Bar bar, int summariesBefore) {
      this.bar = bar;
      this.done = summariesBefore * (options.rounds() + 1L);
    }

    void begin(WorkloadKind workload, Engine engine, int round) {
      String which = round == 0 ? "warm-up" : "round " + round + " of " + options.rounds();
      bar.note(workload.label() + " " + engine.name() + " " + which);
    }

    BiConsumer<String, JsonNode> watch(WorkloadKind workload, Engine engine, int round) {
      return (event, body) -> {
        if (event.equals(WorkerProcess.PROGRESS)) {
          String which = round == 0 ? "warm-up" : "round " + round + " of " + options.rounds();
          bar.note(
              "%s %s %s: %d MiB"
                  .formatted(workload.label(), engine.name(), which, body.asLong() >> 20));
        }
      };
    }

    void end() {
      bar.at(++done);
    }
  }

  private List<Summary> compare(WorkloadKind workload, Steps steps)
      throws IOException, InterruptedException {
    Map<Engine, ChildJvm> workers = new LinkedHashMap<>();
    Map<Engine, List<Measurement>> runs = new LinkedHashMap<>();
    List<Engine> engines = enginesOf(workload);
    engines.forEach(engine -> runs.put(engine, new ArrayList<>()));
    try {
      for (int round = 0; round <= options.rounds(); round++) {
        List<Engine> order = new ArrayList<>(engines);
        Collections.rotate(order, -round);
        for (Engine engine : order) {
          steps.begin(workload, engine, round);
          List<Measurement> done = runs.getOrDefault(engine, new ArrayList<>());
          if (isWorthTrying(done)) {
            Measurement measurement = measure(workers, engine, workload, round, steps);
            if (round > 0 || !measurement.result().isOk()) {
              done.add(measurement);
            }
          }
          steps.end();
        }
      }
    } finally {
      workers.values().forEach(ChildJvm::close);
    }
    return engines.stream()
        .map(e -> new Summary(e, workload.label(), runs.getOrDefault(e, List.of())))
        .toList();
  }

  /** A hang has cost a whole deadline already; other failures may have been chance. */
  private static boolean isWorthTrying(List<Measurement> done) {
    return done.stream().noneMatch(m -> m.result().status() == RunResult.Status.HUNG)
        && done.stream().filter(m -> !m.result().isOk()).count() < ENOUGH_FAILURES;
  }

  private Measurement measure(
      Map<Engine, ChildJvm> workers, Engine engine, WorkloadKind workload, int round, Steps steps)
      throws IOException, InterruptedException {
    if (round > 0) {
      return run(workers, engine, workload, round, options.bytesOf(workload), steps);
    }
    long bytes = options.firstRunBytesOf(workload);
    long left = options.warmUp().toNanos();
    for (; ; ) {
      Measurement measurement = run(workers, engine, workload, round, bytes, steps);
      RunResult result = measurement.result();
      if (!result.isOk() || result.wallNanos() >= left) {
        return measurement;
      }
      left -= result.wallNanos();
      double rate = (double) result.bytesUsed() / Math.max(1, result.wallNanos());
      bytes = Math.min(options.bytesOf(workload), Math.max(bytes, (long) (rate * left)));
    }
  }

  private Measurement run(
      Map<Engine, ChildJvm> workers,
      Engine engine,
      WorkloadKind workload,
      int round,
      long bytes,
      Steps steps)
      throws IOException, InterruptedException {
    ServerStats before = null;
    RunResult result;
    RunSpec spec = spec(workload, round, bytes);
    try {
      ChildJvm worker = workers.get(engine);
      if (worker == null || !worker.isAlive()) {
        worker = startWorker(engine, workload);
        workers.put(engine, worker);
      }
      result = worker.call(WorkerProcess.PREPARE, spec, patience(), RunResult.class);
      if (result.isOk()) {
        before = quietServerStats();
        result =
            worker.call(
                WorkerProcess.RUN,
                spec,
                patience(),
                RunResult.class,
                steps.watch(workload, engine, round));
      }
    } catch (ChildFailureException e) {
      result = RunResult.withoutFigures(RunResult.Status.FAILED, String.valueOf(e.getMessage()));
    }
    result = verifyChecksum(workload, result);
    ServerStats after = quietServerStats();
    ServerStats used = before == null || after == null ? null : after.since(before);
    return new Measurement(engine.name(), workload.label(), round, result, used);
  }

  private Duration patience() {
    return options.readDeadline().plus(SILENCE_BEYOND_DEADLINE);
  }

  /** What a run read of a Parquet file must be what the reference, or the first engine, read. */
  private RunResult verifyChecksum(WorkloadKind workload, RunResult result) {
    Target.Subject subject = target.subject(workload);
    if (!workload.readsParquet() || !result.isOk() || subject == null) {
      return result;
    }
    Long given = subject.checksum();
    Long expected =
        given != null ? given : checksums.putIfAbsent(workload.label(), result.checksum());
    return expected == null || expected == result.checksum()
        ? result
        : RunResult.withoutFigures(
            RunResult.Status.WRONG_BYTES,
            "checksum of the columns' pages is %08x instead of %08x"
                .formatted(result.checksum(), expected));
  }

  private RunSpec spec(WorkloadKind workload, int round, long bytes) {
    Target.Subject subject = target.subject(workload);
    if (subject == null) {
      throw new IllegalStateException("Nothing to read for " + workload);
    }
    return new RunSpec(
        workload.label(),
        subject.objects(),
        subject.warmUpUri(),
        subject.reference(),
        bytes,
        subject.columns(),
        round,
        options.waitThreshold().toNanos(),
        options.readDeadline().toMillis());
  }

  private ChildJvm startWorker(Engine engine, WorkloadKind workload)
      throws IOException, InterruptedException {
    List<String> jvmOptions = new ArrayList<>();
    jvmOptions.add("-Xmx" + options.heap());
    // What the heap has taken is resident then, and can be told from native memory.
    jvmOptions.add("-XX:+AlwaysPreTouch");
    jvmOptions.add("-Djava.io.tmpdir=" + directory.tmp());
    jvmOptions.addAll(engine.jvmOptions());
    jvmOptions.addAll(target.jvmOptions());
    jvmOptions.addAll(options.jvmOptions());
    String name = engine.name() + "-" + workload.label();
    ChildJvm worker =
        ChildJvm.start(
            "the JVM of " + engine.name(),
            WorkerProcess.class,
            jvmOptions,
            directory.logs().resolve(name + ".log"));
    boolean ready = false;
    try {
      Map<String, String> hadoop = new HashMap<>(target.hadoop());
      hadoop.putAll(options.hadoop());
      hadoop.putAll(engine.settings(workload));
      RawCeiling raw = engine instanceof Engine.RawEngine e ? e.ceiling() : null;
      WorkerProcess.Settings settings = new WorkerProcess.Settings(hadoop, raw);
      worker.call(WorkerProcess.CONFIGURE, settings, CONFIGURE_PATIENCE, JsonNode.class);
      ready = true;
      return worker;
    } finally {
      if (!ready) {
        worker.close();
      }
    }
  }

  /** Waits until the server answers nobody any more, so that runs neither meet nor mix. */
  private @Nullable ServerStats quietServerStats() throws IOException, InterruptedException {
    long deadline = System.nanoTime() + QUIET_PATIENCE.toNanos();
    ServerStats stats = target.serverStats();
    while (stats != null && stats.activeRequests() > 0 && System.nanoTime() < deadline) {
      Thread.sleep(QUIET_POLL_MILLIS);
      stats = target.serverStats();
    }
    return stats;
  }
}
