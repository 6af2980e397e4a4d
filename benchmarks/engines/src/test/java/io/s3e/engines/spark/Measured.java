// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import io.s3e.engines.Stream;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** The figures of all steps, rounds and streams of a measurement. One thread. */
final class Measured {

  /** Where the blocks are that a step reads. */
  enum State {
    /** Only in S3: what the application has cached of other steps is not found. */
    COLD,
    /** Where the same step has left them, run just before. */
    WARM
  }

  private record Cell(String step, State state, Stream stream) {}

  private final Map<Cell, List<Figures>> rounds = new LinkedHashMap<>();
  private final Map<String, Map<Stream, TreeSet<String>>> digests = new LinkedHashMap<>();

  void add(String step, State state, Stream stream, String digest, Figures figures) {
    rounds.computeIfAbsent(new Cell(step, state, stream), cell -> new ArrayList<>()).add(figures);
    digests
        .computeIfAbsent(step, each -> new EnumMap<>(Stream.class))
        .computeIfAbsent(stream, each -> new TreeSet<>())
        .add(digest);
  }

  List<String> steps() {
    return List.copyOf(digests.keySet());
  }

  /** Whether all runs of the step have had one result. */
  boolean isEqual(String step) {
    return digests.getOrDefault(step, Map.of()).values().stream()
            .flatMap(TreeSet::stream)
            .distinct()
            .count()
        == 1;
  }

  /** The rounds of one step. */
  List<Figures> rounds(String step, State state, Stream stream) {
    return rounds.getOrDefault(new Cell(step, state, stream), List.of());
  }

  /** The sums over steps, a round. */
  List<Figures> rounds(List<String> steps, State state, Stream stream) {
    int number =
        steps.stream().mapToInt(step -> rounds(step, state, stream).size()).min().orElse(0);
    List<Figures> sums = new ArrayList<>();
    for (int round = 0; round < number; round++) {
      int each = round;
      sums.add(
          Figures.sum(steps.stream().map(step -> rounds(step, state, stream).get(each)).toList()));
    }
    return sums;
  }
}
