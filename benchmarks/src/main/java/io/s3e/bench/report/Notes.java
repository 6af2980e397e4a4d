// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.report;

import io.s3e.bench.Summary;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The notes of tables below a line of figures. */
final class Notes {

  private static final String OF_BYTES = "_bytes";

  private Notes() {}

  /**
   * Times of the JVMs where there were several; S3E beside each of the others where time in reads
   * was measured; the engine's own counters.
   *
   * @param block the engines of the same section
   */
  static List<String> of(Summary summary, List<Summary> block) {
    List<String> notes = new ArrayList<>();
    List<Double> seconds = summary.processSeconds();
    if (!seconds.isEmpty()) {
      notes.add(
          seconds.stream()
              .map(Figure.SECONDS::text)
              .collect(Collectors.joining(" ", "seconds of each JVM: ", "")));
    }
    double first = summary.median(Figure.FIRST_BYTE.value());
    if (Double.isFinite(first)) {
      notes.add(
          summary.values(Figure.FIRST_BYTE.value()).stream()
              .map(Figure.FIRST_BYTE::text)
              .collect(Collectors.joining(" ", "ms to the first byte, each JVM: ", "")));
    }
    if (isS3e(summary) && isBlocked(summary)) {
      block.stream()
          .filter(other -> !other.engine().equals(summary.engine()) && isBlocked(other))
          .forEach(other -> notes.add(beside(summary, other)));
    }
    addCounters(notes, summary, "s3e_cache_", "disk");
    addCounters(notes, summary, "s3e_columnar_", "columns");
    return notes;
  }

  private static boolean isS3e(Summary summary) {
    return !summary.engine().isS3a() && !summary.engine().isCeiling();
  }

  private static boolean isBlocked(Summary summary) {
    return summary.median(Figure.BLOCKED.value()) > 0;
  }

  private static String beside(Summary one, Summary other) {
    return "to %s: %s, %s"
        .formatted(
            other.engine().name(),
            Figure.RATE.head() + ' ' + ratio(one, other, Figure.RATE),
            Figure.BLOCKED.head() + ' ' + ratio(one, other, Figure.BLOCKED));
  }

  /** Of the medians; in brackets the least and the most of a round. */
  private static String ratio(Summary one, Summary other, Figure figure) {
    double[] ofRounds = one.ratios(other, figure.value());
    String medians = Figure.number(one.median(figure.value()) / other.median(figure.value()), 2);
    return ofRounds.length == 0
        ? medians
        : "%s (%s to %s)"
            .formatted(
                medians,
                Figure.number(ofRounds[0], 2),
                Figure.number(ofRounds[ofRounds.length - 1], 2));
  }

  private static void addCounters(List<String> notes, Summary summary, String prefix, String name) {
    String counters =
        summary.counters().entrySet().stream()
            .filter(counter -> counter.getKey().startsWith(prefix))
            .map(
                counter -> counter(counter.getKey().substring(prefix.length()), counter.getValue()))
            .collect(Collectors.joining(", "));
    if (!counters.isEmpty()) {
      notes.add(name + ": " + counters);
    }
  }

  /** {@code hit_bytes} of 52428800 is "hit 52.4 MB". */
  private static String counter(String name, long value) {
    if (name.endsWith(OF_BYTES)) {
      String words = name.substring(0, name.length() - OF_BYTES.length()).replace('_', ' ');
      return words + " " + Figure.number(value / 1e6, 1) + " MB";
    }
    return name.replace('_', ' ') + " " + value;
  }
}
