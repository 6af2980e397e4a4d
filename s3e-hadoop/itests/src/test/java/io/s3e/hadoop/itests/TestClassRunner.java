// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.itests;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * The program of a forked JVM: runs test classes one after another and appends a line for each test
 * to a file, so that what was seen before a JVM died is known. A class that exceeds its time ends
 * the JVM, after a dump of its threads; the lines {@code begin} and {@code end} tell which it was.
 */
public final class TestClassRunner implements TestExecutionListener {
  static final String BEGIN = "begin";
  static final String TEST = "test";
  static final String END = "end";

  private final BufferedWriter lines;

  private TestClassRunner(BufferedWriter lines) {
    this.lines = lines;
  }

  /** Arguments: the file of outcomes, the milliseconds that a class may take, the classes. */
  public static void main(String[] args) throws IOException {
    Duration limit = Duration.ofMillis(Long.parseLong(args[1]));
    ScheduledExecutorService watchdog =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "watchdog");
              thread.setDaemon(true);
              return thread;
            });
    try (BufferedWriter lines =
        Files.newBufferedWriter(
            Path.of(args[0]), UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      TestClassRunner runner = new TestClassRunner(lines);
      Launcher launcher = LauncherFactory.create();
      for (String testClass : List.of(args).subList(2, args.length)) {
        runner.write(BEGIN, testClass);
        long start = System.nanoTime();
        Future<?> end =
            watchdog.schedule(TestClassRunner::endOverdue, limit.toMillis(), MILLISECONDS);
        launcher.execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(testClass))
                .build(),
            runner);
        end.cancel(false);
        runner.write(END, testClass);
        long millis = NANOSECONDS.toMillis(System.nanoTime() - start);
        System.out.println("ENDED " + testClass + " after " + millis + " ms");
      }
    }
    // Tests leave threads behind.
    System.exit(0);
  }

  private static void endOverdue() {
    Thread.getAllStackTraces()
        .forEach(
            (thread, frames) -> {
              System.err.println(thread);
              for (StackTraceElement frame : frames) {
                System.err.println("    at " + frame);
              }
            });
    Runtime.getRuntime().halt(1);
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    write(test, Outcome.skipped(reason));
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    Throwable thrown = result.getThrowable().orElse(null);
    switch (result.getStatus()) {
      case SUCCESSFUL -> {
        if (test.isTest()) {
          write(test, Outcome.PASSED);
        }
      }
      case ABORTED -> write(test, Outcome.skipped(String.valueOf(thrown)));
      case FAILED ->
          write(test, Outcome.failed(thrown == null ? new AssertionError("unknown") : thrown));
    }
    if (thrown != null && result.getStatus() == TestExecutionResult.Status.FAILED) {
      System.err.println("FAILED " + name(test.getUniqueIdObject()));
      thrown.printStackTrace();
    }
  }

  private void write(TestIdentifier test, Outcome outcome) {
    write(TEST, name(test.getUniqueIdObject()), outcome.result(), outcome.message());
  }

  private synchronized void write(String... fields) {
    try {
      lines.write(String.join("\t", fields));
      lines.newLine();
      lines.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * {@code ITestName[2].testMethod[1]}: the class, the method, and the number of each set of
   * parameters; of JUnit 4 its name in place of the number.
   */
  static String name(UniqueId id) {
    StringBuilder name = new StringBuilder();
    for (UniqueId.Segment segment : id.getSegments()) {
      String value = segment.getValue();
      switch (segment.getType()) {
        case "engine" -> {}
        case "class", "class-template", "runner" ->
            name.append(value.substring(value.lastIndexOf('.') + 1));
        case "method", "test-template", "test" ->
            name.append('.').append(value.replaceAll("\\(.*", ""));
        default -> name.append('[').append(value.replace("#", "")).append(']');
      }
    }
    return name.toString();
  }
}
