// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import io.s3e.bench.workload.RunResult;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * All counted runs of one engine and workload; where a workload repeats itself, the same pass of
 * all of them.
 *
 * @param engine the engine
 * @param workload label of the workload
 * @param pass which pass, from 1; 0 where there is only one
 * @param runs in the order of the rounds; never empty
 */
public record Summary(Engine engine, String workload, int pass, List<Measurement> runs) {

  public Summary {
    runs = List.copyOf(runs);
  }

  /** The runs that are compared with each other: the workload, and which pass of it. */
  public String section() {
    return pass == 0 ? workload : workload + ", pass " + pass;
  }

  /** Median time of each process in seconds, where there were several; else empty. */
  public List<Double> processSeconds() {
    int processes = good().stream().mapToInt(run -> run.processes().size()).max().orElse(0);
    return IntStream.range(0, processes)
        .mapToObj(i -> median(run -> run.processes().get(i).wallNanos() / 1e9))
        .toList();
  }

  private List<Measurement> good() {
    return runs.stream().filter(run -> run.result().isOk()).toList();
  }

  /** Whether every run ended well. */
  public boolean isOk() {
    return good().size() == runs.size();
  }

  /** Whether at least one run gave a figure. */
  public boolean hasFigures() {
    return !good().isEmpty();
  }

  /** Whether a run had wrong bytes. */
  public boolean hasWrongBytes() {
    return runs.stream().anyMatch(run -> run.result().status() == RunResult.Status.WRONG_BYTES);
  }

  /** Median over the runs that ended well; NaN when none did or nobody could measure. */
  public double median(ToDoubleFunction<Measurement> figure) {
    double[] values = sorted(figure);
    if (values.length == 0) {
      return Double.NaN;
    }
    int middle = values.length / 2;
    return values.length % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  }

  /** Largest distance between two runs that ended well, as a share of the median. */
  public double spread(ToDoubleFunction<Measurement> figure) {
    double[] values = sorted(figure);
    return values.length < 2
        ? Double.NaN
        : (values[values.length - 1] - values[0]) / median(figure);
  }

  /** The figure of each run that ended well and has it, the least first. */
  public List<Double> values(ToDoubleFunction<Measurement> figure) {
    return Arrays.stream(sorted(figure)).boxed().toList();
  }

  /** This figure to another engine's of the same round, of all rounds that both have, sorted. */
  public double[] ratios(Summary other, ToDoubleFunction<Measurement> figure) {
    return good().stream()
        .flatMapToDouble(
            run ->
                other.good().stream()
                    .filter(beside -> beside.round() == run.round())
                    .mapToDouble(
                        beside -> figure.applyAsDouble(run) / figure.applyAsDouble(beside)))
        .filter(Double::isFinite)
        .sorted()
        .toArray();
  }

  private double[] sorted(ToDoubleFunction<Measurement> figure) {
    return good().stream()
        .mapToDouble(figure)
        .filter(value -> !Double.isNaN(value))
        .sorted()
        .toArray();
  }

  /** The remark about it: "ok", or how many runs failed and how the first of them did. */
  public String verdict() {
    Optional<RunResult> failure =
        runs.stream().map(Measurement::result).filter(result -> !result.isOk()).findFirst();
    if (failure.isEmpty()) {
      return "ok, every byte right";
    }
    RunResult first = failure.get();
    String what =
        switch (first.status()) {
          case WRONG_BYTES -> "WRONG BYTES";
          case HUNG -> "HUNG";
          case FAILED -> "FAILED";
          case OK -> throw new IllegalStateException("A good run is no failure: " + first);
        };
    long failed = runs.stream().filter(run -> !run.result().isOk()).count();
    return "%s in %d of %d runs: %s".formatted(what, failed, runs.size(), first.failure());
  }

  /** Median growth of each of the engine's own counters, in the order of their names. */
  public Map<String, Long> counters() {
    Map<String, Long> medians = new TreeMap<>();
    good().stream()
        .flatMap(run -> run.result().counters().keySet().stream())
        .distinct()
        .forEach(
            name ->
                medians.put(
                    name,
                    Math.round(median(run -> run.result().counters().getOrDefault(name, 0L)))));
    return medians;
  }

  /** Best median rate of S3A's own streams in a section; NaN when none has a figure. */
  public static double bestS3a(List<Summary> summaries, String section) {
    return best(summaries, section, Engine::isS3a);
  }

  /** Best median rate of the raw clients in a section; NaN when none has a figure. */
  public static double bestRaw(List<Summary> summaries, String section) {
    return best(summaries, section, Engine::isRaw);
  }

  /** Best median rate of the readers of local files in a section; NaN when none has a figure. */
  public static double bestFile(List<Summary> summaries, String section) {
    return best(summaries, section, Engine::isFile);
  }

  private static double best(
      List<Summary> summaries, String section, Predicate<Engine> candidates) {
    return summaries.stream()
        .filter(s -> s.section().equals(section) && candidates.test(s.engine()))
        .filter(Summary::hasFigures)
        .mapToDouble(s -> s.median(Measurement::megabytesPerSecond))
        .max()
        .orElse(Double.NaN);
  }

  /** Median rate of S3A's classic stream in a section; NaN when it has none. */
  public static double classic(List<Summary> summaries, String section) {
    return best(summaries, section, engine -> engine.name().equals("classic"));
  }
}
