// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import com.fasterxml.jackson.databind.JsonNode;
import io.s3e.bench.process.ChildFailureException;
import io.s3e.bench.process.ChildJvm;
import io.s3e.bench.raw.RawCeiling;
import io.s3e.bench.workload.RunResult;
import io.s3e.bench.workload.RunSpec;
import io.s3e.bench.workload.WorkerProcess;
import io.s3e.bench.workload.WorkloadKind;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The JVMs in which one engine runs one workload: one, or as many as the workload has read at once.
 * One JVM may go on with other workloads that it {@link #canRun}. Each is started when it is first
 * needed and again after its death, and told the same. {@link #prepare} returns when all are ready,
 * so that {@link #run} finds them waiting for nothing but the word. One thread calls; {@link
 * #close} ends the JVMs, and what is asked next begins others.
 */
final class Crew implements AutoCloseable {

  /** A worker says something every 100 ms; this much more than a read's deadline is a dead JVM. */
  private static final Duration SILENCE_BEYOND_DEADLINE = Duration.ofSeconds(15);

  private static final Duration CONFIGURE_PATIENCE = Duration.ofSeconds(60);

  private final Engine engine;
  private final WorkloadKind workload;
  private final JobOptions options;
  private final Target target;
  private final Path logs;
  private final Path tmp;
  private final @Nullable ChildJvm[] workers;

  /** What the living JVMs have read, by {@link WorkloadKind#reads}. */
  private final Set<String> done = ConcurrentHashMap.newKeySet();

  Crew(
      Engine engine,
      WorkloadKind workload,
      JobOptions options,
      Target target,
      RunDirectory directory) {
    this.engine = engine;
    this.workload = workload;
    this.options = options;
    this.target = target;
    this.logs = directory.logs();
    this.tmp = directory.tmp();
    this.workers = new ChildJvm[workload.processes()];
  }

  /** Whether these JVMs are as that workload's are to be, whatever they have run. */
  boolean canRun(WorkloadKind other) {
    return workload.jvm() == WorkloadKind.Jvm.KEPT
        && other.jvm() == WorkloadKind.Jvm.KEPT
        && workload.processes() == other.processes()
        && engine.settings(workload).equals(engine.settings(other));
  }

  /** Whether these JVMs have read what this workload reads, from whatever store. */
  boolean hasRun(WorkloadKind other) {
    return done.contains(other.reads());
  }

  /** Remembers a workload that these JVMs have run. */
  void ran(WorkloadKind other) {
    done.add(other.reads());
  }

  /** Something that is asked of the JVM of one number, from 0. */
  @FunctionalInterface
  private interface Question {
    RunResult ask(int number, ChildJvm worker) throws IOException, InterruptedException;
  }

  /** Lets every JVM make its file system. */
  RunResult prepare(RunSpec spec) throws IOException, InterruptedException {
    return RunResult.together(
        askAll(
            Duration.ZERO,
            (number, worker) ->
                worker.call(WorkerProcess.PREPARE, spec, patience(), RunResult.class)));
  }

  /**
   * Lets every JVM run the pass that was prepared, all at the same time, or each as much later than
   * the one before as the user asked for.
   *
   * @param events told of the first JVM's
   * @return the result of each
   */
  List<RunResult> run(RunSpec spec, BiConsumer<String, JsonNode> events)
      throws IOException, InterruptedException {
    return askAll(
        options.stagger(),
        (number, worker) ->
            worker.call(
                WorkerProcess.RUN,
                spec,
                patience(),
                RunResult.class,
                number == 0 ? events : (event, body) -> {}));
  }

  /** Ids of the JVMs that have been started. */
  List<Long> processes() {
    return Arrays.stream(workers).filter(Objects::nonNull).map(ChildJvm::pid).toList();
  }

  private Duration patience() {
    return options.readDeadline().plus(SILENCE_BEYOND_DEADLINE);
  }

  private List<RunResult> askAll(Duration stagger, Question question)
      throws IOException, InterruptedException {
    if (workers.length == 1) {
      return List.of(ask(0, question));
    }
    ExecutorService threads = Executors.newFixedThreadPool(workers.length);
    try {
      List<Future<RunResult>> answers = new ArrayList<>();
      for (int i = 0; i < workers.length; i++) {
        int number = i;
        answers.add(
            threads.submit(
                () -> {
                  Thread.sleep(stagger.toMillis() * number);
                  return ask(number, question);
                }));
      }
      List<RunResult> results = new ArrayList<>();
      for (Future<RunResult> answer : answers) {
        results.add(get(answer));
      }
      return results;
    } finally {
      threads.shutdownNow();
    }
  }

  private static RunResult get(Future<RunResult> answer) throws IOException, InterruptedException {
    try {
      return answer.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getCause());
    }
  }

  private RunResult ask(int number, Question question) throws IOException, InterruptedException {
    try {
      return question.ask(number, worker(number));
    } catch (ChildFailureException e) {
      return RunResult.withoutFigures(RunResult.Status.FAILED, String.valueOf(e.getMessage()));
    }
  }

  private ChildJvm worker(int number) throws IOException, InterruptedException {
    ChildJvm worker = workers[number];
    if (worker == null || !worker.isAlive()) {
      worker = start(number);
      workers[number] = worker;
    }
    return worker;
  }

  private ChildJvm start(int number) throws IOException, InterruptedException {
    done.clear();
    List<String> jvmOptions = new ArrayList<>();
    jvmOptions.add("-Xmx" + options.heap());
    // The memory of the heap is resident then, and can be told from native memory.
    jvmOptions.add("-XX:+AlwaysPreTouch");
    jvmOptions.add("-Djava.io.tmpdir=" + tmp);
    jvmOptions.addAll(engine.jvmOptions());
    jvmOptions.addAll(target.jvmOptions());
    jvmOptions.addAll(options.jvmOptions());
    String which = workers.length == 1 ? "" : "-" + (number + 1);
    Path log = logs.resolve(engine.name() + "-" + workload.label() + which + ".log");
    ChildJvm worker =
        ChildJvm.start("the JVM of " + engine.name(), WorkerProcess.class, jvmOptions, log);
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

  @Override
  public void close() {
    for (ChildJvm worker : workers) {
      if (worker != null) {
        worker.close();
      }
    }
  }
}
