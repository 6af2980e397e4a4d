// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.itests;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.s3e.testing.ForkedJvm;
import io.s3e.testserver.S3TestServer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Runs test classes of Hadoop's with one side, in a JVM of its own against a server of its own. A
 * class that ends the JVM, by its time limit or otherwise, is told as one failure; the classes
 * after it run in the next JVM.
 */
final class ForkedTests {
  static final String BUCKET = "itests";

  /** The slowest class of hadoop-aws that runs here takes a third of it. */
  private static final Duration CLASS_LIMIT = Duration.ofMinutes(5);

  /** To start a JVM and to end it. */
  private static final Duration JVM_LIMIT = Duration.ofMinutes(1);

  private final Side side;
  private final Path directory;
  private final SortedMap<String, Outcome> outcomes = new TreeMap<>();

  private ForkedTests(Side side, Path directory) {
    this.side = side;
    this.directory = directory;
  }

  /** The outcome of each test; logs and what the tests write lie in {@code directory}. */
  static SortedMap<String, Outcome> run(Side side, List<String> classes, Path directory)
      throws Exception {
    Files.createDirectories(directory);
    ForkedTests tests = new ForkedTests(side, directory);
    try (S3TestServer server = S3TestServer.inMemory().withBucket(BUCKET)) {
      List<String> left = new ArrayList<>(classes);
      for (int jvm = 1; !left.isEmpty(); jvm++) {
        tests.runJvm(jvm, left, server.endpoint());
      }
    }
    return tests.outcomes;
  }

  /** Starts a JVM for the classes and takes those that it began off the list. */
  private void runJvm(int number, List<String> left, URI endpoint)
      throws IOException, InterruptedException {
    Path lines = directory.resolve("outcomes-" + number + ".tsv");
    Files.deleteIfExists(lines);
    Process process =
        new ProcessBuilder(command(lines, left, endpoint))
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("tests-" + number + ".log").toFile())
            .start();
    try {
      Duration limit = CLASS_LIMIT.multipliedBy(left.size()).plus(JVM_LIMIT);
      process.waitFor(limit.toMillis(), MILLISECONDS);
    } finally {
      process.destroyForcibly();
    }
    int before = left.size();
    if (Files.exists(lines)) {
      read(lines, left);
    }
    if (left.size() == before) {
      throw new IOException("The JVM of the tests does not start; see " + directory);
    }
  }

  private List<String> command(Path lines, List<String> classes, URI endpoint) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of("-Xmx1g", "-Xss4m", "-XX:MaxDirectMemorySize=1g"));
    // They live for a minute.
    command.addAll(ForkedJvm.SHORT_LIVED);
    // As hadoop-aws's own build runs them.
    for (String opened : List.of("lang", "lang.reflect", "io", "net", "util", "util.concurrent")) {
      command.add("--add-opens=java.base/java." + opened + "=ALL-UNNAMED");
    }
    command.addAll(
        Arrays.asList(System.getProperty("itests.jvm.properties").strip().split("\\s+")));
    command.addAll(side.properties());
    command.add("-Ditests.endpoint=" + endpoint);
    command.add("-Djava.io.tmpdir=" + directory);
    command.add("-Dtest.build.data=" + directory);
    command.add("-Dproject.build.directory=" + directory);
    command.add(TestClassRunner.class.getName());
    command.add(lines.toString());
    command.add(Long.toString(CLASS_LIMIT.toMillis()));
    command.addAll(classes);
    return command;
  }

  private void read(Path lines, List<String> left) throws IOException {
    String running = null;
    for (String line : Files.readAllLines(lines)) {
      String[] fields = line.split("\t", -1);
      switch (fields[0]) {
        case TestClassRunner.BEGIN -> {
          running = fields[1];
          left.remove(running);
        }
        case TestClassRunner.END -> running = null;
        default -> outcomes.put(fields[1], new Outcome(fields[2], fields[3]));
      }
    }
    if (running != null) {
      outcomes.put(running.substring(running.lastIndexOf('.') + 1), Outcome.CUT_OFF);
    }
  }
}
