// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import io.s3e.fetch.GetRecord;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * What the GETs of some tasks were for, and which were the slowest.
 *
 * @param reasons one each, those that brought most bytes first
 * @param slowest the slowest first; at most {@value #MOST_SLOW}
 */
public record GetSummary(List<GetsOfReason> reasons, List<SlowGet> slowest)
    implements Serializable {
  private static final long serialVersionUID = 1;

  /** Enough to see an object, a time or an executor that they have in common; 1.5 KB of a log. */
  static final int MOST_SLOW = 5;

  public static final GetSummary NONE = new GetSummary(List.of(), List.of());

  private static final Comparator<SlowGet> SLOWEST =
      Comparator.comparingDouble(SlowGet::millis).reversed();

  private static final Comparator<GetsOfReason> DEAREST =
      Comparator.comparingLong(GetsOfReason::received)
          .reversed()
          .thenComparing(GetsOfReason::reason);

  /** A log that lacks a part of it has none of that. */
  public GetSummary(@Nullable List<GetsOfReason> reasons, @Nullable List<SlowGet> slowest) {
    this.reasons = reasons == null ? List.of() : List.copyOf(reasons);
    this.slowest = slowest == null ? List.of() : List.copyOf(slowest);
  }

  /**
   * Of a task's GETs.
   *
   * @param gets those of all tasks, in any order
   * @param executorId whose they are
   */
  public static GetSummary of(List<GetRecord> gets, TaskOfGets task, String executorId) {
    List<GetRecord> ofTask = new ArrayList<>();
    Map<String, GetsOfReason> reasons = new TreeMap<>();
    for (GetRecord get : gets) {
      if (task.has(get)) {
        ofTask.add(get);
        GetsOfReason one = GetsOfReason.of(get);
        reasons.merge(one.reason(), one, GetsOfReason::plus);
      }
    }
    return new GetSummary(
        reasons.values().stream().sorted(DEAREST).toList(),
        slowest(ofTask, get -> Math.max(get.tookNanos(), get.answerNanos())).stream()
            .map(get -> SlowGet.of(get, executorId))
            .sorted(SLOWEST)
            .toList());
  }

  /** A GET, and how long it had taken when it was looked at. */
  private record Timed<T>(long nanos, T get) {}

  /**
   * Those that took longest, the slowest first.
   *
   * @param nanos asked once for each: GETs go on meanwhile, and no sort holds with keys that change
   */
  static <T> List<T> slowest(List<T> gets, ToLongFunction<T> nanos) {
    return gets.stream()
        .map(get -> new Timed<>(nanos.applyAsLong(get), get))
        .sorted(Comparator.comparingLong((Timed<T> each) -> each.nanos).reversed())
        .limit(MOST_SLOW)
        .map(Timed::get)
        .toList();
  }

  /** The sum of both. */
  public GetSummary plus(GetSummary other) {
    if (equals(NONE) || other.equals(NONE)) {
      return equals(NONE) ? other : this;
    }
    Map<String, GetsOfReason> sums = new TreeMap<>();
    reasons.forEach(each -> sums.put(each.reason(), each));
    other.reasons.forEach(each -> sums.merge(each.reason(), each, GetsOfReason::plus));
    List<SlowGet> all = new ArrayList<>(slowest);
    all.addAll(other.slowest);
    all.sort(SLOWEST);
    return new GetSummary(
        sums.values().stream().sorted(DEAREST).toList(),
        all.subList(0, Math.min(MOST_SLOW, all.size())));
  }
}
