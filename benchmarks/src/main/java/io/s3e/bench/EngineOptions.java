// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import io.s3e.bench.workload.WorkloadKind;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** Options of {@code bench} about what is compared. Filled in by picocli. */
final class EngineOptions {

  @Option(
      names = "--engines",
      split = ",",
      showDefaultValue = Visibility.NEVER,
      description = {
        "What to compare: " + Engine.NAMES + ".",
        "A name of your own needs --set; classic-mine is classic with what is set."
      })
  private List<String> engines = List.of();

  @Option(
      names = "--set",
      paramLabel = "ENGINE:KEY=VALUE",
      showDefaultValue = Visibility.NEVER,
      description = "A Hadoop configuration entry for one engine. Repeatable.")
  private List<String> engineSettings = List.of();

  /** Whether the user leaves the choice to the preset. */
  boolean isLeftOpen() {
    return engines.isEmpty();
  }

  /** Names of the engines of each workload, by its label; none where all of them run all. */
  Map<String, List<String>> byWorkload(Preset preset, List<WorkloadKind> workloads) {
    Map<String, List<String>> names = new LinkedHashMap<>();
    if (isLeftOpen()) {
      workloads.forEach(kind -> names.put(kind.label(), preset.engines(kind.label())));
    }
    return names;
  }

  /**
   * All that some workload is read by, in the order of the table.
   *
   * @throws IllegalArgumentException when there is none of such a name, or a setting has another
   *     form
   */
  List<Engine> all(Preset preset, List<WorkloadKind> workloads) {
    Map<String, Map<String, String>> settings = settings();
    List<String> names =
        isLeftOpen()
            ? byWorkload(preset, workloads).values().stream()
                .flatMap(List::stream)
                .distinct()
                .toList()
            : engines;
    return names.stream()
        .map(name -> Engine.of(name, settings.getOrDefault(name, Map.of())))
        .toList();
  }

  private Map<String, Map<String, String>> settings() {
    Map<String, Map<String, String>> settings = new HashMap<>();
    for (String entry : engineSettings) {
      int colon = entry.indexOf(':');
      int equals = entry.indexOf('=', colon + 1);
      if (colon <= 0 || equals < 0) {
        throw new IllegalArgumentException("Expected ENGINE:KEY=VALUE instead of " + entry);
      }
      settings
          .computeIfAbsent(entry.substring(0, colon), engine -> new HashMap<>())
          .put(entry.substring(colon + 1, equals), entry.substring(equals + 1));
    }
    return settings;
  }
}
