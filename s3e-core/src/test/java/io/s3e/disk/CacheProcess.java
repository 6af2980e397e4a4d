package io.s3e.disk;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Another JVM that uses a cache directory, and can be killed. It says on its standard output how
 * far it is, a line at a time, and ends when its standard input does, or by {@link #kill}.
 */
final class CacheProcess implements AutoCloseable {
  private static final String END = "<end of output>";

  private final Process process;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private final Thread reader;

  private CacheProcess(Process process) {
    this.process = process;
    reader = new Thread(this::readLines, "output of " + process.pid());
    reader.setDaemon(true);
    reader.start();
  }

  static CacheProcess start(Class<?> main, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(List.of("-Xmx64m", "-cp", System.getProperty("java.class.path")));
    command.add(main.getName());
    command.addAll(List.of(arguments));
    return new CacheProcess(new ProcessBuilder(command).redirectErrorStream(true).start());
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
  String await(String start) throws InterruptedException {
    List<String> others = new ArrayList<>();
    long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    while (true) {
      String line = lines.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (line == null || line.equals(END)) {
        throw new AssertionError(
            "process " + process.pid() + " never said '" + start + "', but: " + others);
      }
      if (line.startsWith(start)) {
        return line.substring(start.length()).trim();
      }
      others.add(line);
    }
  }

  /** The next line that it has said already; null if there is none. */
  @Nullable String poll() {
    return lines.poll();
  }

  /** All that it has said and nobody has asked for, once it has ended. */
  List<String> rest() throws InterruptedException {
    reader.join(Duration.ofSeconds(30).toMillis());
    List<String> rest = new ArrayList<>();
    lines.drainTo(rest);
    rest.remove(END);
    return rest;
  }

  /** Kills it as {@code kill -9} does, and waits until it is gone. */
  void kill() throws InterruptedException {
    // Not Process.destroyForcibly, which closes the output before all of it is read.
    process.toHandle().destroyForcibly();
    if (!process.waitFor(30, TimeUnit.SECONDS)) {
      throw new AssertionError("process " + process.pid() + " does not die");
    }
  }

  /** Lets it end by itself, as {@code System.exit} does. */
  void end() throws IOException, InterruptedException {
    process.getOutputStream().close();
    if (!process.waitFor(30, TimeUnit.SECONDS)) {
      throw new AssertionError("process " + process.pid() + " does not end");
    }
  }

  @Override
  public void close() throws InterruptedException {
    kill();
  }
}
