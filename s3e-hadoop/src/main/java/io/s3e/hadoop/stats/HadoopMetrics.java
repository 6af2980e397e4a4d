// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stats;

import io.s3e.jvm.OwnLoader;
import java.io.Closeable;
import java.lang.ref.Cleaner;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.metrics2.MetricsCollector;
import org.apache.hadoop.metrics2.MetricsRecordBuilder;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.metrics2.lib.Interns;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The counters and gauges of one file system's engine as a source of Hadoop's own metrics: where
 * the process runs Hadoop's metrics system (tasks of MapReduce, daemons), its sinks get them, and
 * JMX has them as {@code Hadoop:service=PROCESS,name=S3E-BUCKET-NUMBER}. Elsewhere nobody asks. The
 * records of all are named S3E, with bucket and number as tags, so that sinks can add them up.
 *
 * <p>Registered from {@link #register} to {@link #close}, or until the file system is forgotten,
 * which is not kept for that. Any thread may ask.
 */
public final class HadoopMetrics implements MetricsSource, Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(HadoopMetrics.class);
  private static final String DESCRIPTION = "Reads of S3 by S3E";

  private static final Cleaner FORGOTTEN = Cleaner.create();

  /** Names of sources are used once in a process. */
  private static final AtomicInteger NUMBERS = new AtomicInteger();

  private final String bucket;
  private final int number = NUMBERS.incrementAndGet();
  private final WeakReference<FileSystemStatistics> statistics;

  /** Guarded by this. */
  private boolean isRegistered;

  private HadoopMetrics(String bucket, FileSystemStatistics statistics) {
    this.bucket = bucket;
    this.statistics = new WeakReference<>(statistics);
  }

  /**
   * The source of a file system. Hadoop, which outlives a class loader that is not the
   * application's, is not told of it there.
   */
  public static HadoopMetrics register(URI fileSystem, FileSystemStatistics statistics) {
    HadoopMetrics source = new HadoopMetrics(fileSystem.getAuthority(), statistics);
    if (OwnLoader.isApplications()) {
      try {
        source.register();
        FORGOTTEN.register(statistics, source::close);
      } catch (RuntimeException e) {
        LOG.debug("Hadoop's metrics do not take {}", source.name(), e);
      }
    }
    return source;
  }

  private synchronized void register() {
    DefaultMetricsSystem.instance().register(name(), DESCRIPTION, this);
    isRegistered = true;
  }

  private String name() {
    return "S3E-" + bucket + "-" + number;
  }

  @Override
  public void getMetrics(MetricsCollector collector, boolean all) {
    FileSystemStatistics now = statistics.get();
    if (now != null) {
      MetricsRecordBuilder record =
          collector
              .addRecord("S3E")
              .setContext("s3e")
              .tag(Interns.info("Bucket", "bucket that is read"), bucket)
              .tag(Interns.info("Number", "of the file system"), Integer.toString(number));
      now.counters().forEach((each, count) -> record.addCounter(Interns.info(each, each), count));
      now.gauges().forEach((each, amount) -> record.addGauge(Interns.info(each, each), amount));
    }
  }

  /** Idempotent. */
  @Override
  public synchronized void close() {
    if (isRegistered) {
      isRegistered = false;
      DefaultMetricsSystem.instance().unregisterSource(name());
    }
  }
}
