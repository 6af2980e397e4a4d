// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The warnings that are no fault. A warning of S3E's own never is one of them; one of the engine's
 * is, if the control has it too, whatever numbers stand in it, or if it is listed here.
 */
final class ExpectedWarnings {

  /**
   * @param warning what the line looks like
   * @param reason why it is no fault of S3E's
   */
  private record Expected(Pattern warning, String reason) {}

  private static final List<Expected> LISTED =
      List.of(
          expected(
              "WARN org\\.apache\\.hadoop\\.fs\\.resource\\.leaks: .*/tera/in/.*",
              "TeraSort's sampler closes none of its readers; S3A says so too if the collector"
                  + " runs"),
          expected(
              "WARN \\S+\\.DefaultContainerExecutor: delete returned false for path.*",
              "two threads of the node manager delete a container's directory, and one is late"),
          expected(
              "(WARN|ERROR) org\\.apache\\.hadoop\\.(yarn|security\\.token)\\..*[iI]nterrupted.*",
              "a daemon of YARN is stopped while one of its threads sleeps"),
          expected(
              "WARN org\\.apache\\.flink\\..*CollectSinkOperatorCoordinator:"
                  + " .*(EOF|Socket)Exception.*",
              "the job has ended, and its client asks for more results"));

  private static final Pattern OWN = Pattern.compile("[A-Z]+ io\\.s3e\\..*");

  /** Numbers, and the hexadecimal ids of instances and requests. */
  private static final Pattern NUMBER = Pattern.compile("[0-9a-f]*[0-9][0-9a-f]*");

  private ExpectedWarnings() {}

  private static Expected expected(String warning, String reason) {
    return new Expected(Pattern.compile(warning), reason);
  }

  static List<String> unexpected(List<String> warnings, List<String> ofControl) {
    Set<String> known = ofControl.stream().map(ExpectedWarnings::shape).collect(Collectors.toSet());
    return warnings.stream()
        .filter(line -> OWN.matcher(line).matches() || !known.contains(shape(line)))
        .filter(line -> LISTED.stream().noneMatch(each -> each.warning().matcher(line).matches()))
        .toList();
  }

  private static String shape(String line) {
    return NUMBER.matcher(line).replaceAll("#");
  }
}
