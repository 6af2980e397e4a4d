// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import io.s3e.bench.data.ObjectLayout;
import io.s3e.bench.data.ObjectSlice;
import io.s3e.bench.workload.WorkloadKind;
import io.s3e.bench.workload.WorkloadSizes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Which of the user's objects each workload reads: the largest one, as many of the largest as there
 * are streams, the small ones. They need one slice from the front of an object; the slices follow
 * each other in the reference file.
 */
final class UserObjects {

  /**
   * An object of the user's.
   *
   * @param length in bytes
   */
  record Found(String uri, long length) {}

  private static final long MOST_SMALL_BYTES = 1L << 20;
  private static final String PARQUET_SUFFIX = ".parquet";

  private final List<Found> found;
  private final WorkloadSizes sizes;
  private final Map<String, Long> references = new HashMap<>();
  private final List<ObjectSlice> regions = new ArrayList<>();

  /**
   * Chooses.
   *
   * @param found what there is; at least one object, and none empty
   * @param workloads what is going to read
   */
  UserObjects(List<Found> found, List<WorkloadKind> workloads, WorkloadSizes sizes) {
    this.found =
        found.stream()
            .sorted(Comparator.comparingLong(Found::length).reversed().thenComparing(Found::uri))
            .toList();
    this.sizes = sizes;
    Map<String, Long> needed = new LinkedHashMap<>();
    for (WorkloadKind workload : workloads) {
      for (ObjectSlice slice : wanted(workload)) {
        needed.merge(slice.uri(), slice.position() + slice.length(), Math::max);
      }
    }
    long reference = 0;
    for (Map.Entry<String, Long> region : needed.entrySet()) {
      references.put(region.getKey(), reference);
      regions.add(new ObjectSlice(region.getKey(), 0, region.getValue(), reference));
      reference += region.getValue();
    }
  }

  /** The slices that the reference file must hold, in its order. */
  List<ObjectSlice> regions() {
    return regions;
  }

  /** The objects for one of the workloads; empty when there is nothing that it could read. */
  List<ObjectSlice> of(WorkloadKind workload) {
    return wanted(workload).stream()
        .map(
            slice ->
                new ObjectSlice(
                    slice.uri(),
                    slice.position(),
                    slice.length(),
                    references.getOrDefault(slice.uri(), 0L) + slice.position()))
        .toList();
  }

  /** The same, as if each object began the reference file. */
  private List<ObjectSlice> wanted(WorkloadKind workload) {
    return switch (workload.data()) {
      case TEXT -> List.of(largest());
      case STREAMS -> streams(workload.streams());
      case SMALL ->
          found.stream()
              .filter(object -> object.length() <= MOST_SMALL_BYTES)
              .limit(sizes.smallObjects())
              .map(object -> ObjectSlice.front(object.uri(), object.length()))
              .toList();
      // Its bytes are compared, all that may be read of it.
      case COLUMNS -> parquet().stream().filter(file -> file.length() <= sizes.bytes()).toList();
      // Checksums of columns are compared, not bytes; nothing else is ours to make.
      case PARQUET, WIDE, FILES, FILTERED, ORC, BUCKETS, NEIGHBOURS -> List.of();
    };
  }

  private ObjectSlice largest() {
    Found object = found.get(0);
    return ObjectSlice.front(object.uri(), Math.min(object.length(), sizes.bytes()));
  }

  /** The front of a large object each; where these are too few, ranges of the largest. */
  private List<ObjectSlice> streams(int streams) {
    long share = Math.max(sizes.bytes() / streams, ObjectLayout.LEAST_STREAM_BYTES);
    if (found.size() < streams || found.get(streams - 1).length() < share) {
      return ObjectLayout.ranges(largest().uri(), streams, largest().length());
    }
    return found.stream()
        .limit(streams)
        .map(object -> ObjectSlice.front(object.uri(), share))
        .toList();
  }

  /** The largest Parquet file; empty when there is none. */
  List<ObjectSlice> parquet() {
    return found.stream()
        .filter(object -> object.uri().endsWith(PARQUET_SUFFIX))
        .limit(1)
        .map(object -> ObjectSlice.front(object.uri(), object.length()))
        .toList();
  }
}
