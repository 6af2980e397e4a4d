package io.s3e.hadoop.stats;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.S3AReads;
import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.S3EFileSystem;
import io.s3e.metrics.DiskMetrics.Counter;
import java.util.Map;
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

class DiskCacheStatisticsTest {
  private static final Path FILE = new Path("/statistics/disk");

  @Test
  void everyCounterOfTheEngineHasANameBeforeThereIsOne() {
    assertThat(DiskCacheStatistics.counters(null))
        .hasSize(Counter.values().length - 1)
        .containsEntry("s3e_cache_hit_bytes", 0L)
        .containsEntry("s3e_cache_breaker_opened", 0L)
        .containsEntry("s3e_cache_dropped_full_bytes", 0L);
    assertThat(DiskCacheStatistics.gauges(null))
        .containsOnlyKeys(
            "s3e_cache_breakers_open",
            "s3e_cache_bytes",
            "s3e_cache_shadow_accessed_bytes",
            "s3e_cache_shadow_hit_bytes_1x",
            "s3e_cache_shadow_hit_bytes_2x",
            "s3e_cache_shadow_hit_bytes_4x",
            "s3e_cache_shadow_hit_bytes_8x");
  }

  @Test
  void aStreamCountsItsOwn() {
    DiskCacheStatistics.OfStream stream = new DiskCacheStatistics.OfStream();
    stream.hit(100);
    stream.hit(50);
    stream.miss(10);
    assertThat(stream.counters())
        .containsOnly(
            Map.entry("s3e_cache_hits", 2L),
            Map.entry("s3e_cache_hit_bytes", 150L),
            Map.entry("s3e_cache_misses", 1L),
            Map.entry("s3e_cache_miss_bytes", 10L));
  }

  @Test
  void joinedStatisticsAreLiveAndCanBeAddedUp() {
    DiskCacheStatistics.OfStream stream = new DiskCacheStatistics.OfStream();
    IOStatisticsSnapshot base = new IOStatisticsSnapshot();
    base.setCounter("stream_read_bytes", 3);
    base.setGauge("open", 1);
    IOStatistics joined =
        new JoinedStatistics(base, stream::counters, () -> Map.of("s3e_cache_breakers_open", 2L));
    stream.hit(5);
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
  void streamsFileSystemsAndThreadsHaveThem() throws Exception {
    Configuration conf = S3AReads.small(S3AServer.s3e(S3AServer.endpoint()));
    IOStatisticsContext context = IOStatisticsContext.getCurrentIOStatisticsContext();
    context.reset();
    try (FileSystem fs = S3AReads.open(conf)) {
      assertThat(((S3EFileSystem) fs).getIOStatistics().counters())
          .as("before the first read")
          .containsEntry("s3e_cache_hits", 0L);
      try (FSDataOutputStream out = fs.create(FILE, true)) {
        out.write(new byte[1000]);
      }
      try (FSDataInputStream in = fs.open(FILE)) {
        in.readFully(new byte[1000]);
        assertThat(in.getIOStatistics().counters())
            .containsEntry("s3e_cache_hits", 0L)
            .containsEntry("stream_read_bytes", 1000L);
      }
      IOStatistics ofFileSystem = ((S3EFileSystem) fs).getIOStatistics();
      assertThat(ofFileSystem.counters())
          .containsKey("s3e_cache_written_bytes")
          .containsEntry("stream_read_bytes", 1000L);
      assertThat(ofFileSystem.gauges()).containsEntry("s3e_cache_breakers_open", 0L);
    }
    assertThat(context.getIOStatistics().counters())
        .containsEntry("stream_read_bytes", 1000L)
        .containsKey("s3e_cache_hit_bytes");
  }
}
