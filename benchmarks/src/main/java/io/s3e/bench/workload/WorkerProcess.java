// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.management.OperatingSystemMXBean;
import io.s3e.bench.data.ObjectSlice;
import io.s3e.bench.process.ControlLoop;
import io.s3e.bench.raw.RawCeiling;
import java.io.IOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.jspecify.annotations.Nullable;

/**
 * Runs workloads through one engine, as a process of its own, on the orders of a parent. Every run
 * has a new file system or client, so that nothing is left in memory from the one before; the
 * passes of one run share it. The JVM, and what its compiler has learnt, stays.
 */
public final class WorkerProcess {

  /** Name of the command that takes {@link Settings}. */
  public static final String CONFIGURE = "configure";

  /**
   * Name of the command that takes the {@link RunSpec} of the next run and makes its file system,
   * with clients and connections as a process has them that has been running. Answers with a {@link
   * RunResult} that has a status and no figures.
   */
  public static final String PREPARE = "prepare";

  /**
   * Name of the command that takes the {@link RunSpec} of the next pass of the run that was
   * prepared and answers with a {@link RunResult}. The run is over after its last pass and after a
   * failure.
   */
  public static final String RUN = "run";

  /** Name of the event that tells the bytes read so far, several times a second. */
  public static final String PROGRESS = "progress";

  /**
   * An engine: what Hadoop finds behind a URI, or a raw client.
   *
   * @param hadoop entries for its {@link Configuration}
   * @param raw the raw client that reads instead of Hadoop; null for Hadoop
   */
  public record Settings(Map<String, String> hadoop, @Nullable RawCeiling raw) {}

  private static final long WATCH_INTERVAL_MILLIS = 100;
  private static final int WARM_UP_READ_BYTES = 64 << 10;

  /** Ten reads: at random they take longer than a scan. */
  private static final long WARM_UP_READS_BYTES = 10L * WARM_UP_READ_BYTES;

  private final ControlLoop loop;
  private final Configuration configuration = new Configuration();
  private final Map<String, ReferenceFile> references = new HashMap<>();

  private @Nullable RawCeiling raw;

  /** Memory before the first reader; null before that. */
  private @Nullable MemoryUse idle;

  /** Made for the next run, whose end closes it. Used by the thread that serves commands. */
  private @Nullable Reader prepared;

  private WorkerProcess(ControlLoop loop) {
    this.loop = loop;
  }

  /** Serves the parent's commands until the parent is gone. */
  public static void main(String[] args) throws InterruptedException {
    ControlLoop loop = new ControlLoop();
    WorkerProcess worker = new WorkerProcess(loop);
    loop.serve(Map.of(CONFIGURE, worker::configure, PREPARE, worker::prepare, RUN, worker::run));
  }

  private @Nullable Object configure(JsonNode body) throws IOException {
    Settings settings = loop.parse(body, Settings.class);
    settings.hadoop().forEach(configuration::set);
    raw = settings.raw();
    return null;
  }

  private Object prepare(JsonNode body) throws Exception {
    RunSpec spec = loop.parse(body, RunSpec.class);
    ReadMonitor monitor = new ReadMonitor();
    return watched(
        spec,
        monitor,
        () -> {
          if (idle == null) {
            idle = readMemory();
          }
          monitor.begin("close of the reader before");
          closePrepared();
          monitor.end();
          if (kindOf(spec).jvm() == WorkloadKind.Jvm.COLD) {
            // Its reader is made in the moment before it is measured, as in a task's JVM.
            return RunResult.withoutFigures(RunResult.Status.OK, null);
          }
          warmUp(spec, monitor);
          Reader reader = open(spec, monitor);
          prepared = reader;
          monitor.begin("first read of " + spec.warmUpUri());
          if (spec.warmUpUri() != null) {
            reader.warmUp(spec.warmUpUri());
          }
          monitor.end();
          System.gc();
          return RunResult.withoutFigures(RunResult.Status.OK, null);
        });
  }

  private static WorkloadKind kindOf(RunSpec spec) {
    return WorkloadKind.of(spec.workload());
  }

  private Reader open(RunSpec spec, ReadMonitor monitor) throws IOException {
    URI uri = new org.apache.hadoop.fs.Path(spec.objects().get(0).uri()).toUri();
    Configuration ofRun = new Configuration(configuration);
    spec.hadoop().forEach(ofRun::set);
    monitor.begin("start of the reader");
    try {
      return Reader.open(uri, ofRun, raw);
    } finally {
      monitor.end();
    }
  }

  /** Scans and positioned reads, through one file system after the other. */
  private void warmUp(RunSpec spec, ReadMonitor monitor) throws Exception {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(spec.warmUpMillis());
    ObjectSlice object = WorkloadKind.warmUpObject(spec.objects());
    RunSpec of = spec.of(List.of(object), object.length());
    while (System.nanoTime() < end) {
      try (Reader reader = open(of, monitor)) {
        RunContext context = new RunContext(reader.fileSystem(), of, reference(of), monitor);
        new SequentialRead(1).run(context);
        new RandomReads(WARM_UP_READ_BYTES, 1).run(context.bytes(WARM_UP_READS_BYTES));
      }
    }
  }

  /** Also ends a run that another process of the same crew has failed. */
  private void closePrepared() throws IOException {
    Reader reader = prepared;
    prepared = null;
    if (reader != null) {
      reader.close();
    }
  }

  private static MemoryUse readMemory() {
    try (MemoryGauge gauge = new MemoryGauge()) {
      return gauge.read();
    }
  }

  private Object run(JsonNode body) throws Exception {
    RunSpec spec = loop.parse(body, RunSpec.class);
    ReadMonitor monitor = new ReadMonitor();
    return watched(
        spec,
        monitor,
        () -> {
          boolean continued = false;
          try {
            RunResult result = measure(spec, monitor);
            continued = !spec.last();
            return result;
          } finally {
            if (!continued) {
              monitor.begin("close of the reader");
              closePrepared();
              monitor.end();
            }
          }
        });
  }

  private RunResult watched(RunSpec spec, ReadMonitor monitor, Callable<RunResult> task)
      throws InterruptedException {
    Thread watchdog = new Thread(() -> watch(monitor, spec), ResourceWatch.WATCHDOG);
    watchdog.setDaemon(true);
    watchdog.start();
    try {
      return task.call();
    } catch (WrongBytesException e) {
      return RunResult.withoutFigures(RunResult.Status.WRONG_BYTES, ControlLoop.describe(e));
    } catch (Exception | LinkageError | OutOfMemoryError e) {
      e.printStackTrace(System.err);
      return RunResult.withoutFigures(RunResult.Status.FAILED, ControlLoop.describe(e));
    } finally {
      watchdog.interrupt();
      watchdog.join();
    }
  }

  private RunResult measure(RunSpec spec, ReadMonitor monitor) throws Exception {
    WorkloadKind kind = kindOf(spec);
    ReferenceFile reference = reference(spec);
    if (prepared == null && kind.jvm() == WorkloadKind.Jvm.COLD) {
      prepared = open(spec, monitor);
    }
    Reader reader = prepared;
    if (reader == null) {
      throw new IllegalStateException("No run was prepared");
    }
    Workload workload = reader.workload(kind);
    RunContext context = new RunContext(reader.fileSystem(), spec, reference, monitor);
    workload.prepare(context);
    Map<String, Long> before = reader.counters();
    long inCalls = monitor.nanosInCalls();
    ResourceWatch watch = new ResourceWatch();
    long checksum;
    long wall;
    long cpu = processCpuNanos();
    long compilers = compilerNanos();
    try (watch) {
      long start = System.nanoTime();
      checksum = workload.run(context);
      wall = System.nanoTime() - start;
    }
    Overhead overhead = context.overhead();
    long rigCpu = overhead.cpuNanos() + watch.cpuNanos();
    cpu = cpu < 0 ? -1 : processCpuNanos() - cpu - rigCpu;
    long allocated = watch.allocatedBytes();
    return new RunResult(
        RunResult.Status.OK,
        null,
        wall,
        context.bytesUsed(),
        monitor.reads(),
        monitor.latency(0.50),
        monitor.latency(0.99),
        context.clock().groups() > 0
            ? context.clock().blockedNanos()
            : monitor.nanosInCalls() - inCalls,
        context.clock().groups(),
        monitor.slowerThan(spec.waitNanos()),
        cpu,
        compilers < 0 ? -1 : compilerNanos() - compilers,
        allocated < 0 ? -1 : allocated - overhead.allocatedBytes(),
        idle == null ? MemoryUse.UNKNOWN : idle,
        watch.peak(),
        checksum,
        growth(before, reader.counters()),
        context.parts());
  }

  private static Map<String, Long> growth(Map<String, Long> before, Map<String, Long> after) {
    Map<String, Long> growth = new HashMap<>(after);
    before.forEach((name, value) -> growth.merge(name, -value, Long::sum));
    growth.values().removeIf(value -> value == 0);
    return growth;
  }

  private @Nullable ReferenceFile reference(RunSpec spec) throws IOException {
    String path = spec.reference();
    if (path == null) {
      return null;
    }
    ReferenceFile file = references.get(path);
    if (file == null) {
      file = new ReferenceFile(Path.of(path));
      references.put(path, file);
    }
    return file;
  }

  private static long processCpuNanos() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean os
        ? os.getProcessCpuTime()
        : -1;
  }

  private static long compilerNanos() {
    CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
    return compilers != null && compilers.isCompilationTimeMonitoringSupported()
        ? TimeUnit.MILLISECONDS.toNanos(compilers.getTotalCompilationTime())
        : -1;
  }

  /** Tells the progress, and ends this process when a read takes longer than its deadline. */
  private void watch(ReadMonitor monitor, RunSpec spec) {
    long limit = TimeUnit.MILLISECONDS.toNanos(spec.readDeadlineMillis());
    try {
      while (true) {
        Thread.sleep(WATCH_INTERVAL_MILLIS);
        loop.event(PROGRESS, monitor.bytesUsed());
        ReadMonitor.Pending overdue = monitor.overdue(limit);
        if (overdue != null) {
          loop.resultAndHalt(
              RunResult.withoutFigures(
                  RunResult.Status.HUNG, describe(overdue, spec.readDeadlineMillis())));
        }
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  private static String describe(ReadMonitor.Pending overdue, long limitMillis) {
    StackTraceElement[] stack = overdue.thread().getStackTrace();
    return overdue
        + " did not return within "
        + limitMillis
        + " ms"
        + (stack.length == 0 ? "" : "; it waits in " + stack[0]);
  }
}
