// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import com.fasterxml.jackson.databind.JsonNode;
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
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Runs every workload through every engine, in rounds: each round lets every engine run once, and
 * the next round begins with the next engine, so that a change of the machine's mood meets all
 * alike. A workload that repeats itself has a measurement for each of its passes.
 *
 * <p>Each engine has a JVM of its own for each workload, or several, started anew: its memory and
 * its processor time are the engine's alone. In the main job a JVM goes on with the engine's next
 * workload, as JVMs of a cluster do, and ends with its last. Some workloads have a fresh one for
 * each round, and no runs before the first that counts. A run that fails is a result like any
 * other; the engine gets a new JVM and the job goes on. One thread.
 */
final class Comparison {

  /** After so many failed runs of one workload the engine's remaining rounds are not tried. */
  private static final int ENOUGH_FAILURES = 2;

  /** So many rounds at least has an engine whose rounds agree. */
  private static final int ENOUGH_ROUNDS = 3;

  /** How long to wait for what an engine left on the way when its streams were closed. */
  private static final Duration QUIET_PATIENCE = Duration.ofSeconds(5);

  private static final long QUIET_POLL_MILLIS = 20;

  private final JobOptions options;
  private final Target target;
  private final RunDirectory directory;
  private final LocalDisk disk;
  private final Progress progress;

  /** JVMs that have run a workload, and will run another one. */
  private final Map<Engine, Crew> kept = new HashMap<>();

  Comparison(JobOptions options, Target target, RunDirectory directory, Progress progress) {
    this.options = options;
    this.target = target;
    this.directory = directory;
    this.disk = new LocalDisk(options, directory);
    this.progress = progress;
  }

  /** Runs everything; one summary for each engine and workload, workloads outermost. */
  List<Summary> run() throws IOException, InterruptedException {
    List<Summary> summaries = new ArrayList<>();
    List<WorkloadKind> workloads =
        options.workloads().stream().filter(w -> target.subject(w) != null).toList();
    long steps = workloads.stream().mapToLong(this::stepsOf).sum();
    long done = 0;
    try (disk;
        Progress.Bar bar = progress.count("compare", steps, "runs")) {
      for (int i = 0; i < workloads.size(); i++) {
        WorkloadKind workload = workloads.get(i);
        List<WorkloadKind> later = workloads.subList(i + 1, workloads.size());
        summaries.addAll(compare(workload, later, new Steps(bar, done)));
        done += stepsOf(workload);
      }
    } finally {
      kept.values().forEach(Crew::close);
    }
    return summaries;
  }

  /** The JVM that the engine has already, where it can go on with this workload; else new ones. */
  private Crew crew(Engine engine, WorkloadKind workload) throws IOException {
    Crew before = kept.remove(engine);
    if (before != null && before.canRun(workload)) {
      return before;
    }
    if (before != null) {
      end(engine, before);
    }
    return new Crew(engine, workload, options, target, directory);
  }

  /** Keeps the JVMs of engines for the workloads that are to come, or ends them. */
  private void leave(Map<Engine, Crew> crews, List<WorkloadKind> later) throws IOException {
    kept.putAll(crews);
    for (Map.Entry<Engine, Crew> each : crews.entrySet()) {
      Engine engine = each.getKey();
      Crew crew = each.getValue();
      boolean goesOn =
          options.keepsJvms()
              && later.stream()
                  .anyMatch(next -> enginesOf(next).contains(engine) && crew.canRun(next));
      if (!goesOn) {
        kept.remove(engine);
        end(engine, crew);
      }
    }
  }

  private void end(Engine engine, Crew crew) throws IOException {
    crew.close();
    disk.end(engine);
  }

  private long stepsOf(WorkloadKind workload) {
    return (long) enginesOf(workload).size()
        * (options.roundsOf(workload) + 1 - firstRound(workload));
  }

  /** 0 for a round of runs that warm up and do not count. */
  private static int firstRound(WorkloadKind workload) {
    return workload.jvm() == WorkloadKind.Jvm.KEPT ? 0 : 1;
  }

  /**
   * Raw clients have no way to run most workloads, and plain readers need a local copy of the
   * objects.
   */
  private List<Engine> enginesOf(WorkloadKind workload) {
    Target.Subject subject = target.subject(workload);
    boolean hasCopy = subject != null && subject.reference() != null;
    return options.enginesOf(workload).stream()
        .filter(engine -> hasCopy || !engine.isFile())
        .toList();
  }

  /** Counts runs on the bar, over all workloads. */
  private final class Steps {
    private final Progress.Bar bar;
    private long done;

    Steps(Progress.Bar bar, long done) {
      this.bar = bar;
      this.done = done;
    }

    void begin(WorkloadKind workload, Engine engine, int round) {
      bar.note(workload.label() + " " + engine.name() + " " + which(workload, round));
    }

    private String which(WorkloadKind workload, int round) {
      return round == 0 ? "warm-up" : "round " + round + " of " + options.roundsOf(workload);
    }

    BiConsumer<String, JsonNode> watch(WorkloadKind workload, Engine engine, int round) {
      return (event, body) -> {
        if (event.equals(WorkerProcess.PROGRESS)) {
          bar.note(
              "%s %s %s: %d MiB"
                  .formatted(
                      workload.label(),
                      engine.name(),
                      which(workload, round),
                      body.asLong() >> 20));
        }
      };
    }

    void end() {
      bar.at(++done);
    }
  }

  private List<Summary> compare(WorkloadKind workload, List<WorkloadKind> later, Steps steps)
      throws IOException, InterruptedException {
    Map<Engine, Crew> crews = new LinkedHashMap<>();
    Map<Engine, List<Measurement>> runs = new LinkedHashMap<>();
    List<Engine> engines = enginesOf(workload);
    for (Engine engine : engines) {
      crews.put(engine, crew(engine, workload));
      runs.put(engine, new ArrayList<>());
    }
    try {
      for (int round = firstRound(workload); round <= options.roundsOf(workload); round++) {
        List<Engine> order = new ArrayList<>(engines);
        Collections.rotate(order, -round);
        for (Engine engine : order) {
          steps.begin(workload, engine, round);
          List<Measurement> done = runs.getOrDefault(engine, new ArrayList<>());
          Crew crew = crews.get(engine);
          if (crew != null && isWorthTrying(done) && !isSteady(engine, workload, done)) {
            List<Measurement> passes = measure(crew, engine, workload, round, steps);
            if (round > 0 || !isOk(passes)) {
              done.addAll(passes);
            }
            crew.ran(workload);
            if (workload.jvm() != WorkloadKind.Jvm.KEPT) {
              crew.close();
            }
          }
          steps.end();
        }
      }
    } finally {
      leave(crews, later);
    }
    return engines.stream()
        .flatMap(e -> summaries(e, workload, runs.getOrDefault(e, List.of())))
        .toList();
  }

  private static Stream<Summary> summaries(
      Engine engine, WorkloadKind workload, List<Measurement> runs) {
    if (workload.passes() == 1) {
      return Stream.of(new Summary(engine, workload.label(), 0, runs));
    }
    return IntStream.rangeClosed(1, workload.passes())
        .mapToObj(
            pass ->
                new Summary(
                    engine,
                    workload.label(),
                    pass,
                    runs.stream().filter(run -> run.pass() == pass).toList()));
  }

  private static boolean isOk(List<Measurement> passes) {
    return passes.stream().allMatch(pass -> pass.result().isOk());
  }

  /** A hang has cost a whole deadline already; other failures may have been chance. */
  private static boolean isWorthTrying(List<Measurement> done) {
    return done.stream().noneMatch(m -> m.result().status() == RunResult.Status.HUNG)
        && done.stream().filter(m -> !m.result().isOk()).map(Measurement::round).distinct().count()
            < ENOUGH_FAILURES;
  }

  /** Whether the rounds of an engine agree, so that more of them would tell the same. */
  private boolean isSteady(Engine engine, WorkloadKind workload, List<Measurement> done) {
    double share = options.steadyShare();
    Summary summary = new Summary(engine, workload.label(), 0, done);
    return share > 0
        && workload.passes() == 1
        && done.size() >= ENOUGH_ROUNDS
        && summary.spread(Measurement::megabytesPerSecond) <= share;
  }

  private List<Measurement> measure(
      Crew crew, Engine engine, WorkloadKind workload, int round, Steps steps)
      throws IOException, InterruptedException {
    if (round > 0) {
      return run(crew, engine, workload, round, options.bytesOf(workload), steps);
    }
    WarmUpRuns warmUp =
        new WarmUpRuns(
            options.warmUp(),
            options.steadyShare(),
            crew.hasRun(workload),
            options.warmUpBytes(),
            options.firstRunBytesOf(workload),
            options.bytesOf(workload),
            Runtime.getRuntime().availableProcessors());
    for (; ; ) {
      List<Measurement> passes = run(crew, engine, workload, round, warmUp.bytes(), steps);
      warmUp.ran(
          sum(passes, RunResult::wallNanos),
          sum(passes, RunResult::bytesUsed),
          sum(passes, RunResult::compilerNanos));
      if (!isOk(passes) || warmUp.isOver()) {
        return passes;
      }
    }
  }

  private static long sum(List<Measurement> passes, ToLongFunction<RunResult> figure) {
    return passes.stream().mapToLong(pass -> figure.applyAsLong(pass.result())).sum();
  }

  /** One run: as many measurements as the workload has passes. */
  private List<Measurement> run(
      Crew crew, Engine engine, WorkloadKind workload, int round, long bytes, Steps steps)
      throws IOException, InterruptedException {
    Target.Subject read = target.subject(workload);
    if (read == null) {
      throw new IllegalStateException("Nothing to read for " + workload);
    }
    boolean keepsNames = engine.isFile() || disk.isKeptByUser(engine, workload);
    Target.Subject subject = keepsNames ? read : target.unread(read);
    boolean isUnread = !subject.equals(read);
    try {
      RunSpec spec =
          spec(
              engine,
              workload,
              subject,
              round,
              bytes,
              disk.begin(engine, workload, subject, isUnread));
      List<Measurement> passes = new ArrayList<>();
      RunResult state = crew.prepare(spec);
      for (int pass = 1; pass <= workload.passes(); pass++) {
        RunSpec of = pass < workload.passes() ? spec.notLast() : spec;
        Measurement done =
            state.isOk()
                ? runPass(crew, engine, workload, of, pass, steps)
                : new Measurement(
                    engine.name(), workload.label(), round, pass, state, List.of(), null);
        passes.add(done);
        state = done.result();
      }
      return passes;
    } finally {
      disk.end();
    }
  }

  private Measurement runPass(
      Crew crew, Engine engine, WorkloadKind workload, RunSpec spec, int pass, Steps steps)
      throws IOException, InterruptedException {
    if (options.pageCacheDropped()) {
      disk.dropPageCache(engine, workload, crew.processes());
    }
    int round = Math.toIntExact(spec.seed());
    ServerStats before = quietServerStats();
    List<RunResult> each = crew.run(spec, steps.watch(workload, engine, round));
    RunResult result = verifyChecksum(workload, RunResult.together(each));
    ServerStats after = quietServerStats();
    ServerStats used = before == null || after == null ? null : after.since(before);
    return new Measurement(
        engine.name(),
        workload.label(),
        round,
        pass,
        result,
        each.size() == 1 ? List.of() : each,
        used);
  }

  /** Each run must have decoded of a file what the target has found in it. */
  private RunResult verifyChecksum(WorkloadKind workload, RunResult result) {
    Target.Subject subject = target.subject(workload);
    if (!workload.decodes() || !result.isOk() || subject == null) {
      return result;
    }
    Long expected = subject.checksum();
    if (expected == null) {
      throw new IllegalStateException("Nobody knows what is to be decoded for " + workload);
    }
    return expected == result.checksum()
        ? result
        : RunResult.withoutFigures(
            RunResult.Status.WRONG_BYTES,
            "checksum of the columns' pages is %08x instead of %08x"
                .formatted(result.checksum(), expected));
  }

  /** The specification of the last pass of a run. */
  private RunSpec spec(
      Engine engine,
      WorkloadKind workload,
      Target.Subject subject,
      int round,
      long bytes,
      Map<String, String> hadoop) {
    boolean isCold = workload.jvm() == WorkloadKind.Jvm.COLD;
    return new RunSpec(
        workload.label(),
        subject.objects(),
        engine.isFile() || isCold ? null : subject.warmUpUri(),
        subject.reference(),
        bytes,
        subject.columns(),
        round,
        options.waitThreshold().toNanos(),
        options.readDeadline().toMillis(),
        workload.jvm() == WorkloadKind.Jvm.FRESH ? options.warmUp().toMillis() : 0,
        hadoop,
        true);
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
