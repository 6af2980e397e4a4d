// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A JVM that a test has started. It says on its standard output how far it is, a line at a time;
 * what it writes to standard error comes among these lines. Its standard input is open until {@link
 * #endInput}.
 *
 * <p>One thread of the test may call, and {@link #signal} any. Every wait is bounded. {@link
 * #close} kills it.
 */
public final class ForkedJvm implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String END = "<end of output>";

  /** Options of a JVM that lives for seconds, and is quick to start and small. */
  public static final List<String> SHORT_LIVED =
      List.of("-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

  /** Those by which class files are not verified: {@link Launch#unverified}. */
  public static final List<String> UNVERIFIED =
      List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote");

  /** How a JVM is to be started. */
  public static final class Launch {
    private final String main;
    private final List<String> options = new ArrayList<>();
    private final Map<String, String> environment = new LinkedHashMap<>();
    private final List<String> prefix = new ArrayList<>();
    private Path javaHome = Path.of(System.getProperty("java.home"));
    private Path directory = Path.of("").toAbsolutePath();
    private String classPath = System.getProperty("java.class.path");

    private Launch(String main) {
      this.main = main;
    }

    /** Options of the JVM, in front of the main class. */
    public Launch options(String... more) {
      options.addAll(List.of(more));
      return this;
    }

    /**
     * Class files are not verified, which is a seventh of what a JVM with Hadoop takes to start.
     * Not for tests of class paths.
     */
    public Launch unverified() {
      return options(UNVERIFIED.toArray(String[]::new));
    }

    /** Set in addition to this process's environment. */
    public Launch environment(String name, String value) {
      environment.put(name, value);
      return this;
    }

    /** A command that starts the JVM, for example {@code unshare -m}. */
    public Launch through(String... command) {
      prefix.addAll(List.of(command));
      return this;
    }

    /** In place of this JVM's class path. */
    public Launch classPath(List<String> entries) {
      classPath = String.join(File.pathSeparator, entries);
      return this;
    }

    /** In place of this JVM's home. */
    public Launch javaHome(Path home) {
      javaHome = home;
      return this;
    }

    /** The working directory. */
    public Launch in(Path working) {
      directory = working;
      return this;
    }

    public ForkedJvm start(String... arguments) throws IOException {
      List<String> command = new ArrayList<>(prefix);
      command.add(javaHome.resolve("bin").resolve("java").toString());
      // These JVMs share two cores with the test.
      command.addAll(SHORT_LIVED);
      command.addAll(options);
      command.addAll(List.of("-cp", classPath, main));
      command.addAll(List.of(arguments));
      ProcessBuilder builder =
          new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
      builder.environment().putAll(environment);
      return new ForkedJvm(builder.start());
    }
  }

  private final Process process;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private final Thread reader;

  /** When it ended, in {@link System#nanoTime}. */
  private final CompletableFuture<Long> ended;

  private ForkedJvm(Process process) {
    this.process = process;
    ended = process.onExit().thenApply(gone -> System.nanoTime());
    reader = new Thread(this::readLines, "output of " + process.pid());
    reader.setDaemon(true);
    reader.start();
  }

  public static Launch of(String mainClass) {
    return new Launch(mainClass);
  }

  /** Whether {@code prefix} may start a JVM here ({@link Launch#through}): it starts a program. */
  public static boolean isAllowed(List<String> prefix) throws InterruptedException {
    List<String> command = new ArrayList<>(prefix);
    command.add("true");
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      try {
        return process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
      } finally {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      return false;
    }
  }

  /** With this JVM's class path and a small heap. */
  public static ForkedJvm start(Class<?> main, String... arguments) throws IOException {
    return of(main.getName()).options("-Xmx64m").start(arguments);
  }

  private void readLines() {
    try (BufferedReader output =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        lines.add(line);
      }
    } catch (IOException e) {
      lines.add("its output cannot be read: " + e);
    } finally {
      lines.add(END);
    }
  }

  /** Waits for a line that starts with {@code start}; fails with all others if none comes. */
  public String await(String start) throws InterruptedException {
    List<String> others = new ArrayList<>();
    return await(start, others);
  }

  /** As above; the lines before it go to {@code others}. */
  public String await(String start, List<String> others) throws InterruptedException {
    return await(start, others, PATIENCE);
  }

  /** As above, for a JVM that may take longer than most. */
  public String await(String start, List<String> others, Duration patience)
      throws InterruptedException {
    long end = System.nanoTime() + patience.toNanos();
    while (true) {
      String line = lines.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (line == null || line.equals(END)) {
        throw new AssertionError(
            "process "
                + process.pid()
                + " never said '"
                + start
                + "', but: "
                + String.join(System.lineSeparator(), others));
      }
      if (line.startsWith(start)) {
        return line.substring(start.length()).trim();
      }
      others.add(line);
    }
  }

  /** The next line that it has said already; null if there is none. */
  public String poll() {
    return lines.poll();
  }

  /** All that it has said and nobody has asked for, once it has ended. */
  public List<String> rest() throws InterruptedException {
    reader.join(PATIENCE.toMillis());
    List<String> rest = new ArrayList<>();
    lines.drainTo(rest);
    rest.remove(END);
    return rest;
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Sends a signal, for example {@code TERM}; nothing happens if it has ended. */
  public void signal(String name) throws IOException, InterruptedException {
    run("kill", "-" + name, Long.toString(process.pid()));
  }

  /** Takes a thread dump from outside; nothing happens if it has ended. */
  public void jstack() throws IOException, InterruptedException {
    Path jstack = Path.of(System.getProperty("java.home"), "bin", "jstack");
    run(jstack.toString(), Long.toString(process.pid()));
  }

  private static void run(String... command) throws IOException, InterruptedException {
    Process run =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    if (!run.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      run.destroyForcibly();
      throw new AssertionError(String.join(" ", command) + " does not end");
    }
  }

  /**
   * Waits until it has ended.
   *
   * @return when it did, in {@link System#nanoTime}
   */
  public long awaitEnd() throws InterruptedException {
    try {
      return ended.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError("process " + process.pid() + " does not end", e);
    } catch (java.util.concurrent.ExecutionException e) {
      throw new AssertionError(e);
    }
  }

  /** The exit code; 128 and the signal's number if a signal ended it. */
  public int exitCode() {
    return process.exitValue();
  }

  /** Kills it as {@code kill -9} does, and waits until it is gone. */
  public void kill() throws InterruptedException {
    // Not Process.destroyForcibly, which closes the output before all of it is read.
    process.toHandle().destroyForcibly();
    awaitEnd();
  }

  /** Closes its standard input, and waits until it has ended by itself. */
  public void end() throws IOException, InterruptedException {
    process.getOutputStream().close();
    awaitEnd();
  }

  @Override
  public void close() throws InterruptedException {
    kill();
  }
}
