package io.s3e.bench.report;

import io.s3e.bench.Summary;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The notes of tables below a line of figures. */
final class Notes {

  private static final String OF_CACHE = "s3e_cache_";
  private static final String OF_BYTES = "_bytes";

  private Notes() {}

  /** Times of the JVMs where there were several, and what the disk cache did if there was one. */
  static List<String> of(Summary summary) {
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
    Map<String, Long> counters = summary.counters();
    if (!counters.isEmpty()) {
      notes.add(
          counters.entrySet().stream()
              .map(counter -> counter(counter.getKey(), counter.getValue()))
              .collect(Collectors.joining(", ", "disk: ", "")));
    }
    return notes;
  }

  /** {@code s3e_cache_hit_bytes} of 52428800 is "hit 52.4 MB". */
  private static String counter(String name, long value) {
    String words = name.startsWith(OF_CACHE) ? name.substring(OF_CACHE.length()) : name;
    if (words.endsWith(OF_BYTES)) {
      words = words.substring(0, words.length() - OF_BYTES.length());
      return words.replace('_', ' ') + " " + Figure.number(value / 1e6, 1) + " MB";
    }
    return words.replace('_', ' ') + " " + value;
  }
}
