// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How a run of an engine went.
 *
 * @param exitCode of its process
 * @param wall from the start of the process to its end
 * @param exitTime from the engine's last word to the end of the process
 * @param output its lines, standard output and error
 * @param traffic what was asked of the server
 * @param given bytes that its streams gave to readers; empty where the stream does not count them
 * @param digest of its result; empty until the test has put it in
 * @param input the engine's own word for the bytes that were read; empty where it has none
 */
public record Outcome(
    int exitCode,
    Duration wall,
    Duration exitTime,
    List<String> output,
    Traffic traffic,
    OptionalLong given,
    String digest,
    OptionalLong input) {

  /** As the log4j configuration of the harness writes them. */
  private static final Pattern WARNING = Pattern.compile("(WARN|ERROR|FATAL) (\\S+): (.*)");

  private static final Pattern LOGGED =
      Pattern.compile("(TRACE|DEBUG|INFO|WARN|ERROR|FATAL) \\S+: .*");

  public Outcome withDigest(String ofResult) {
    return new Outcome(exitCode, wall, exitTime, output, traffic, given, ofResult, input);
  }

  public Outcome withInput(long bytes) {
    return new Outcome(
        exitCode, wall, exitTime, output, traffic, given, digest, OptionalLong.of(bytes));
  }

  public List<String> warnings() {
    return output.stream().filter(line -> WARNING.matcher(line).matches()).toList();
  }

  /** What it wrote apart from its log. */
  public List<String> said() {
    return output.stream().filter(line -> !LOGGED.matcher(line).matches()).toList();
  }

  /** A counter as MapReduce prints it at the end of a job: {@code Bytes Read=123}; the last one. */
  public long counter(String name) {
    Pattern pattern = Pattern.compile("\\s+" + Pattern.quote(name) + "=(\\d+)\\s*");
    OptionalLong last = OptionalLong.empty();
    for (String line : output) {
      Matcher matcher = pattern.matcher(line);
      if (matcher.matches()) {
        last = OptionalLong.of(Long.parseLong(matcher.group(1)));
      }
    }
    return last.orElseThrow(
        () -> new AssertionError("No counter '" + name + "' in " + String.join("\n", output)));
  }
}
