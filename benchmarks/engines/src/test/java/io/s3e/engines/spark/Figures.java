// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import io.s3e.bench.server.Operation;
import io.s3e.bench.server.ServerStats;
import io.s3e.engines.spark.job.StepResult;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * What one step cost, or several together.
 *
 * @param wall seconds from its start to its last row
 * @param task seconds that its tasks ran
 * @param blocked seconds of them in calls that open or read a stream
 * @param cpu seconds of processor time of the application
 * @param gets GETs that the server saw
 * @param megabytes of 1e6 bytes that it sent to them
 * @param heads HEADs that it saw
 * @param given megabytes that streams gave to tasks
 * @param input megabytes by Spark's input metric
 * @param serverCpu seconds of processor time of the server's process, which is not the
 *     application's
 */
record Figures(
    double wall,
    double task,
    double blocked,
    double cpu,
    double gets,
    double megabytes,
    double heads,
    double given,
    double input,
    double serverCpu) {

  static Figures of(StepResult result, ServerStats server) {
    return new Figures(
        result.wallNanos() / 1e9,
        result.tasks().runMillis() / 1e3,
        (result.reads().nanos() + result.reads().openNanos()) / 1e9,
        result.cpuNanos() / 1e9,
        server.of(Operation.GET_OBJECT).requests(),
        server.of(Operation.GET_OBJECT).bytesSent() / 1e6,
        server.of(Operation.HEAD_OBJECT).requests(),
        result.reads().bytes() / 1e6,
        result.tasks().inputBytes() / 1e6,
        server.cpuNanos() / 1e9);
  }

  /** The sums over several steps. */
  static Figures sum(List<Figures> all) {
    return combine(all, values -> values.stream().mapToDouble(Double::doubleValue).sum());
  }

  /** The median of each figure by itself. */
  static Figures median(List<Figures> all) {
    return combine(all, Figures::medianOf);
  }

  private static Figures combine(List<Figures> all, ToDoubleFunction<List<Double>> how) {
    return new Figures(
        of(all, Figures::wall, how),
        of(all, Figures::task, how),
        of(all, Figures::blocked, how),
        of(all, Figures::cpu, how),
        of(all, Figures::gets, how),
        of(all, Figures::megabytes, how),
        of(all, Figures::heads, how),
        of(all, Figures::given, how),
        of(all, Figures::input, how),
        of(all, Figures::serverCpu, how));
  }

  private static double of(
      List<Figures> all, ToDoubleFunction<Figures> figure, ToDoubleFunction<List<Double>> how) {
    return how.applyAsDouble(all.stream().map(figure::applyAsDouble).toList());
  }

  /** Of the medians, and in brackets the lowest and highest of a round that both have. */
  static String ratio(List<Double> rounds, List<Double> toRounds) {
    List<Double> sorted =
        IntStream.range(0, Math.min(rounds.size(), toRounds.size()))
            .mapToObj(round -> rounds.get(round) / toRounds.get(round))
            .sorted()
            .toList();
    return String.format(
        Locale.ROOT,
        "%.2f (%.2f–%.2f)",
        medianOf(rounds) / medianOf(toRounds),
        sorted.get(0),
        sorted.get(sorted.size() - 1));
  }

  static double medianOf(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }
}
