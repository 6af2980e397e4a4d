// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stats;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.S3AReads;
import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.S3EFileSystem;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.commons.configuration2.SubsetConfiguration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsSupport;
import org.apache.hadoop.metrics2.MetricsRecord;
import org.apache.hadoop.metrics2.MetricsSink;
import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** S3E among Hadoop's metrics, as a task of MapReduce has them: two file systems at once. */
class HadoopMetricsTest {
  private static final MBeanServer BEANS = ManagementFactory.getPlatformMBeanServer();
  private static final Path FILE = new Path("/metrics/file");

  /** The latest record of each file system, by its number. */
  private static final class Records implements MetricsSink {
    private final Map<String, Map<String, Long>> latest = new ConcurrentSkipListMap<>();

    @Override
    public void init(SubsetConfiguration conf) {}

    @Override
    public void putMetrics(MetricsRecord told) {
      Map<String, String> tags = new TreeMap<>();
      told.tags().forEach(each -> tags.put(each.name(), each.value()));
      if (told.name().equals("S3E") && S3AServer.BUCKET.equals(tags.get("Bucket"))) {
        Map<String, Long> metrics = new TreeMap<>();
        told.metrics().forEach(each -> metrics.put(each.name(), each.value().longValue()));
        latest.put(tags.get("Number"), metrics);
      }
    }

    @Override
    public void flush() {}
  }

  private final Records records = new Records();
  private MetricsSystem system;

  @BeforeEach
  void start() throws Exception {
    try (FileSystem fs = S3AReads.open(S3AServer.s3a(S3AServer.endpoint()));
        FSDataOutputStream out = fs.create(FILE, true)) {
      out.write(new byte[3 << 20]);
    }
    system = DefaultMetricsSystem.initialize("S3ETest");
    system.register("records", "what sinks get", records);
  }

  @AfterEach
  void stop() {
    DefaultMetricsSystem.shutdown();
  }

  private static Set<ObjectName> beans() throws Exception {
    return BEANS.queryNames(new ObjectName("Hadoop:service=S3ETest,name=S3E-*"), null);
  }

  private static FileSystem open() throws Exception {
    return S3AReads.open(S3AReads.small(S3AServer.s3e(S3AServer.endpoint())));
  }

  private static void read(FileSystem fs, int times) throws Exception {
    for (int i = 0; i < times; i++) {
      try (FSDataInputStream in = fs.open(FILE)) {
        assertThat(in.readAllBytes()).hasSize(3 << 20);
      }
    }
  }

  @Test
  void eachFileSystemIsASourceUntilItIsClosed() throws Exception {
    assertThat(beans()).isEmpty();
    try (FileSystem one = open();
        FileSystem other = open()) {
      read(one, 3);
      read(other, 1);
      system.publishMetricsNow();
      assertThat(records.latest.values())
          .as("every counter and gauge of S3E's, as IOStatistics have it")
          .containsExactlyInAnyOrder(ofIoStatistics(one), ofIoStatistics(other))
          .extracting(metrics -> metrics.get(ReadStatistic.S3E_USED_BYTES.symbol()))
          .allMatch(used -> used > 0);
      assertThat(beans()).hasSize(2);
    }
    assertThat(beans()).as("after the end").isEmpty();
  }

  private Map<String, Long> ofIoStatistics(FileSystem fs) {
    var all = IOStatisticsSupport.retrieveIOStatistics(fs);
    Map<String, Long> metrics = new TreeMap<>();
    for (String name : records.latest.values().iterator().next().keySet()) {
      metrics.put(name, all.counters().getOrDefault(name, all.gauges().get(name)));
    }
    assertThat(metrics).containsKeys(ReadStatistic.S3E_GETS.symbol());
    assertThat(metrics).doesNotContainValue(null);
    return metrics;
  }

  /** In no cache of Hadoop's, and closed by nobody. */
  @Test
  void aForgottenFileSystemIsNoSource() throws Exception {
    forget();
    awaitTrue(
        "it is no source any more",
        () -> {
          System.gc();
          return beans().isEmpty();
        });
  }

  private static void forget() throws Exception {
    S3EFileSystem fs = new S3EFileSystem();
    fs.initialize(
        URI.create("s3a://" + S3AServer.BUCKET),
        S3AReads.small(S3AServer.s3e(S3AServer.endpoint())));
    assertThat(beans()).hasSize(1);
  }
}
