// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The logs of YARN's containers, as MapReduce's own log4j configuration writes them. */
final class ContainerLogs {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss,SSS");

  /** The application master's word on an attempt at a task. */
  private static final Pattern TRANSITION =
      Pattern.compile(
          "(\\S+ \\S+) INFO .*TaskAttemptImpl: (\\S+) TaskAttempt Transitioned from (\\w+) to"
              + " (\\w+).*");

  private static final String FINISHING = "SUCCESS_FINISHING_CONTAINER";

  private final List<List<String>> logs;

  private ContainerLogs(List<List<String>> logs) {
    this.logs = logs;
  }

  /** Of all containers whose logs lie somewhere in {@code directory}. */
  static ContainerLogs below(Path directory) throws IOException {
    List<List<String>> logs = new ArrayList<>();
    try (var files = Files.walk(directory)) {
      for (Path file : files.filter(each -> each.endsWith("syslog")).toList()) {
        logs.add(Files.readAllLines(file));
      }
    }
    return new ContainerLogs(logs);
  }

  /** How many containers have a line that ends with such a text. */
  long count(String text) {
    Pattern pattern = Pattern.compile(".* " + text);
    return logs.stream()
        .filter(log -> log.stream().anyMatch(line -> pattern.matcher(line).matches()))
        .count();
  }

  /** The lines of all containers that end with such a text. */
  List<String> lines(String text) {
    Pattern pattern = Pattern.compile(".* " + text);
    return logs.stream()
        .flatMap(List::stream)
        .filter(line -> pattern.matcher(line).matches())
        .toList();
  }

  /** From the end of a task to the end of its container: the longest of all tasks. */
  Duration longestRelease() {
    Map<String, LocalDateTime> finished = new HashMap<>();
    Duration longest = Duration.ZERO;
    for (String line : logs.stream().flatMap(List::stream).toList()) {
      Matcher transition = TRANSITION.matcher(line);
      if (transition.matches()) {
        LocalDateTime time = LocalDateTime.parse(transition.group(1), TIME);
        if (transition.group(4).equals(FINISHING)) {
          finished.put(transition.group(2), time);
        } else if (transition.group(3).equals(FINISHING)) {
          Duration release = Duration.between(finished.get(transition.group(2)), time);
          longest = release.compareTo(longest) > 0 ? release : longest;
        }
      }
    }
    if (finished.isEmpty()) {
      throw new AssertionError("No task ended in any of " + logs.size() + " logs");
    }
    return longest;
  }
}
