// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import io.s3e.bench.data.ObjectSlice;
import io.s3e.bench.server.ServerStats;
import io.s3e.bench.workload.WorkloadKind;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Where the objects are that a comparison reads, and what is known of them. */
interface Target extends AutoCloseable {

  /**
   * The objects that a workload reads.
   *
   * @param objects the objects, or ranges of one, with where their bytes lie in {@code reference}
   * @param warmUpUri a small object beside them, to start clients and connections with; null when
   *     there is none
   * @param reference local file that the objects are slices of; null when there is none
   * @param columns columns to read, when it is a Parquet file
   * @param checksum what reading these columns must give; null when bytes are compared with those
   *     of {@code reference}
   */
  record Subject(
      List<ObjectSlice> objects,
      @Nullable String warmUpUri,
      @Nullable String reference,
      List<String> columns,
      @Nullable Long checksum) {}

  /** A line for people: what is read. */
  String description();

  /** Hadoop configuration entries that every engine gets. */
  Map<String, String> hadoop();

  /** Options of every JVM that reads here, in front of the user's own. */
  default List<String> jvmOptions() {
    return List.of();
  }

  /** The objects for a workload here; null when there is nothing here that it could read. */
  @Nullable Subject subject(WorkloadKind workload);

  /**
   * The same objects by names that nobody has read them by, so that no cache has anything of them;
   * {@code subject} itself where the store has no second names.
   */
  Subject unread(Subject subject) throws IOException;

  /** Counts of the server; null when the server is somebody else's. */
  default @Nullable ServerStats serverStats() throws IOException, InterruptedException {
    return null;
  }

  @Override
  void close() throws IOException;
}
