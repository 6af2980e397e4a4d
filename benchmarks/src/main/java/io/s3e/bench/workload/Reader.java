// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import io.s3e.bench.raw.RawCeiling;
import io.s3e.bench.raw.RawClient;
import io.s3e.bench.raw.RawClients;
import io.s3e.bench.raw.StoreSettings;
import java.io.IOException;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSupport;
import org.jspecify.annotations.Nullable;

/** The file system or the client that reads in one run. Owned by the run, which closes it. */
sealed interface Reader extends AutoCloseable {

  /**
   * Makes the reader of an engine.
   *
   * @param raw the raw client; null for what Hadoop finds behind the URI
   */
  static Reader open(URI uri, Configuration configuration, @Nullable RawCeiling raw)
      throws IOException {
    // Workloads find this very file system in Hadoop's cache; closing it takes it out.
    return raw == null
        ? new OfHadoop(FileSystem.get(uri, configuration))
        : new Raw(RawClients.open(raw, StoreSettings.of(uri, configuration)), raw.inFlight());
  }

  /** Reads a small object, so that there are connections and loaded classes. */
  void warmUp(String uri) throws Exception;

  /** How this reader runs the workload. */
  Workload workload(WorkloadKind kind);

  /**
   * The reader's own counters since it was made, by name: the work of S3E's disk cache and of its
   * prediction of columns.
   */
  Map<String, Long> counters();

  /** The file system that the workloads of Hadoop read through; null for a raw client. */
  @Nullable FileSystem fileSystem();

  @Override
  void close() throws IOException;

  /** A file system, read as applications do. */
  record OfHadoop(FileSystem fileSystem) implements Reader {
    private static final int BUFFER_BYTES = 64 << 10;
    private static final List<String> COUNTED = List.of("s3e_cache_", "s3e_columnar_");

    @Override
    public void warmUp(String uri) throws IOException {
      byte[] buffer = new byte[BUFFER_BYTES];
      try (FSDataInputStream in = fileSystem.open(new Path(uri))) {
        int got;
        do {
          got = in.read(buffer);
        } while (got >= 0);
      }
    }

    @Override
    public Workload workload(WorkloadKind kind) {
      return kind.workload();
    }

    @Override
    public Map<String, Long> counters() {
      IOStatistics statistics = IOStatisticsSupport.retrieveIOStatistics(fileSystem);
      Map<String, Long> counters = new HashMap<>();
      if (statistics != null) {
        counters.putAll(statistics.counters());
        counters.keySet().removeIf(name -> COUNTED.stream().noneMatch(name::startsWith));
      }
      return counters;
    }

    @Override
    public void close() throws IOException {
      fileSystem.close();
    }
  }

  /** A raw client. */
  record Raw(RawClient client, int inFlight) implements Reader {
    private static final long WARM_UP_BYTES = 64 << 10;

    @Override
    public void warmUp(String uri) throws Exception {
      RawSequentialRead.warmUp(client, uri, WARM_UP_BYTES);
    }

    @Override
    public Workload workload(WorkloadKind kind) {
      if (!kind.hasRawCeiling()) {
        throw new IllegalArgumentException("A raw client cannot run " + kind.label());
      }
      return new RawSequentialRead(client, inFlight);
    }

    @Override
    public Map<String, Long> counters() {
      return Map.of();
    }

    @Override
    public @Nullable FileSystem fileSystem() {
      return null;
    }

    @Override
    public void close() {
      client.close();
    }
  }
}
