// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stats;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.S3AReads;
import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.S3EFileSystem;
import io.s3e.hadoop.stats.ReadStatistic.Kind;
import io.s3e.hadoop.stats.ReadStatistic.Of;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.EngineMetrics;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsContext;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.apache.hadoop.fs.statistics.IOStatisticsSupport;
import org.junit.jupiter.api.Test;

class ReadStatisticTest {
  private static final Path FILE = new Path("/statistics/table");

  /** S3A's names that older versions of Hadoop do not have; they say nothing new. */
  private static final Set<String> NEW_NAMES =
      Set.of("stream_read_prefetched_bytes", "stream_read_cache_hit");

  @Test
  void everyCounterOfTheCoreHasOneName() {
    EngineMetrics metrics = new EngineMetrics();
    int at = 0;
    for (EngineMetrics.Counter counter : EngineMetrics.Counter.values()) {
      metrics.add(counter, ++at);
    }
    for (DiskMetrics.Counter counter : DiskMetrics.Counter.values()) {
      metrics.disk().add(counter, ++at);
    }
    int gauges = 2;
    assertThat(ReadStatistic.ofFileSystem(metrics).values())
        .doesNotHaveDuplicates()
        .hasSize(at - gauges);
    assertThat(Arrays.stream(ReadStatistic.values()).map(ReadStatistic::symbol))
        .doesNotHaveDuplicates();
  }

  @Test
  void streamsAndFileSystemsHaveAllNamesOfTheTable() throws Exception {
    try (FileSystem fs = S3AReads.open(S3AReads.small(S3AServer.s3e(S3AServer.endpoint())))) {
      write(fs, 1000);
      try (FSDataInputStream in = fs.open(FILE)) {
        assertNamed(IOStatisticsSupport.retrieveIOStatistics(in), Of.FILE_SYSTEM);
        assertNamed(((S3EFileSystem) fs).getIOStatistics(), Of.STREAM);
        in.readFully(new byte[1000]);
        assertNamed(((S3EFileSystem) fs).getIOStatistics(), Of.STREAM);
      }
    }
  }

  private static void assertNamed(IOStatistics statistics, Of others) {
    Set<String> counters = new TreeSet<>();
    Set<String> gauges = new TreeSet<>();
    for (ReadStatistic row : ReadStatistic.values()) {
      if (row.of != others && row.kind != Kind.QUANTILES && !NEW_NAMES.contains(row.symbol())) {
        (row.kind == Kind.GAUGE ? gauges : counters).add(row.symbol());
      }
    }
    assertThat(statistics.counters()).containsKeys(counters.toArray(String[]::new));
    assertThat(statistics.gauges()).containsKeys(gauges.toArray(String[]::new));
    List<String> table = Arrays.stream(ReadStatistic.values()).map(ReadStatistic::symbol).toList();
    assertThat(statistics.counters().keySet())
        .filteredOn(name -> name.startsWith("s3e_"))
        .isSubsetOf(table);
    assertThat(statistics.gauges().keySet())
        .filteredOn(name -> name.startsWith("s3e_"))
        .isSubsetOf(table);
  }

  @Test
  void joinedStatisticsAreLiveAndCanBeAddedUp() {
    EngineMetrics metrics = new EngineMetrics();
    IOStatisticsSnapshot base = new IOStatisticsSnapshot();
    base.setCounter("stream_read_bytes", 3);
    base.setGauge("open", 1);
    IOStatistics joined =
        new JoinedStatistics(
            base,
            () -> ReadStatistic.ofFileSystem(metrics),
            () -> Map.of("s3e_cache_breakers_open", 2L));
    metrics.disk().add(DiskMetrics.Counter.HIT_BYTES, 5);
    base.setCounter("stream_read_bytes", 4);
    assertThat(joined.counters())
        .containsEntry("stream_read_bytes", 4L)
        .containsEntry("s3e_cache_hit_bytes", 5L);
    IOStatisticsSnapshot sum = IOStatisticsSupport.snapshotIOStatistics(joined);
    sum.aggregate(joined);
    assertThat(sum.counters())
        .containsEntry("stream_read_bytes", 8L)
        .containsEntry("s3e_cache_hit_bytes", 10L);
    assertThat(sum.gauges()).containsEntry("open", 2L).containsEntry("s3e_cache_breakers_open", 4L);
    assertThat(joined).asString().contains("s3e_cache_hit_bytes=5");
  }

  @Test
  void theOpeningThreadsContextGetsThem() throws Exception {
    Configuration conf = S3AReads.small(S3AServer.s3e(S3AServer.endpoint()));
    IOStatisticsContext context = IOStatisticsContext.getCurrentIOStatisticsContext();
    try (FileSystem fs = S3AReads.open(conf)) {
      write(fs, 200_000);
      context.reset();
      try (FSDataInputStream in = fs.open(FILE)) {
        in.readFully(new byte[200_000]);
      }
    }
    assertThat(context.getIOStatistics().counters())
        .containsEntry("stream_read_bytes", 200_000L)
        .containsEntry("s3e_fetched_bytes", 200_000L);
  }

  @Test
  void aClientThatFellBackIsCounted() {
    FileSystemStatistics statistics = new FileSystemStatistics(() -> null);
    assertThat(statistics.counters()).containsEntry("s3e_client_fallback", 0L);
    statistics.onClientFallback().run();
    assertThat(statistics.beside(new IOStatisticsSnapshot()).counters())
        .containsEntry("s3e_client_fallback", 1L);
  }

  private static void write(FileSystem fs, int bytes) throws Exception {
    try (FSDataOutputStream out = fs.create(FILE, true)) {
      out.write(new byte[bytes]);
    }
  }
}
