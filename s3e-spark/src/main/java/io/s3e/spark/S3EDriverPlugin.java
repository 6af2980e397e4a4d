// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import io.s3e.hadoop.cache.CacheSecret;
import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.hadoop.conf.DiskCacheSettings;
import io.s3e.hadoop.history.JobHistory;
import io.s3e.spark.conf.S3ASettings;
import io.s3e.spark.conf.SparkKeys;
import io.s3e.spark.metrics.ProcessMetrics;
import io.s3e.spark.sql.S3EExtensions;
import io.s3e.spark.stages.StageReports;
import io.s3e.spark.stages.TaskAccounts;
import io.s3e.spark.stages.TaskReads;
import io.s3e.spark.ui.S3ETab;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's part. Spark calls {@link #init} before there is a scheduler or an executor, so that
 * what is set there is the setting of all; {@link #receive} on threads of its RPC.
 *
 * <p>In local mode the driver is an executor too, whose part does what is the process's: the start
 * line, the counts and the metrics.
 */
final class S3EDriverPlugin implements DriverPlugin {
  private static final Logger LOG = LoggerFactory.getLogger(S3EDriverPlugin.class);

  private @Nullable StageReports reports;
  private @Nullable EndLine endLine;
  private @Nullable TaskAccounts accounts;
  private @Nullable JobHistory history;

  /** Of the user who began the application; threads of RPC may be another's, or nobody's. */
  private byte @Nullable [] cacheSecret;

  @Override
  public Map<String, String> init(SparkContext spark, PluginContext plugin) {
    UnfitClassPathException.check();
    Configuration hadoop = spark.hadoopConfiguration();
    S3ASettings settings = new S3ASettings(plugin.conf(), hadoop);
    AdapterConfig config = settings.complete();
    if (!settings.isReadByS3E()) {
      LOG.warn("S3E does not read s3a://, since {}", settings.whyNotRead());
      return Map.of();
    }
    EarlyBuckets.tell(plugin.conf(), hadoop);
    if (!spark.isLocal()) {
      // Where executors are JVMs of their own.
      new MemoryChecks(plugin.conf(), config).findings().forEach(LOG::warn);
    }
    // Which scope executors have is known there alone.
    if (config.caches(hadoop).stream().anyMatch(DiskCacheSettings::encrypted)) {
      addSecret();
    }
    if (SparkKeys.ANNOUNCE.get(spark.conf()) || SparkKeys.SQL_METRICS.get(spark.conf())) {
      S3EExtensions.addTo(spark.conf());
    }
    if (SparkKeys.EVENTS.get(plugin.conf())) {
      EndLine line = new EndLine(plugin.conf(), config.budgetBytes());
      StageReports begun =
          new StageReports(
              SparkKeys.prices(plugin.conf()),
              event -> {
                line.add(event);
                spark.listenerBus().post(event);
              });
      spark.listenerBus().addToQueue(line, StageReports.QUEUE);
      spark.listenerBus().addToQueue(begun, StageReports.QUEUE);
      endLine = line;
      reports = begun;
      if (SparkKeys.UI.get(spark.conf())) {
        S3ETab.attachTo(spark);
      }
    }
    history = JobHistory.join(config.history(), hadoop);
    if (!spark.isLocal()) {
      StartLine.tell(config, hadoop);
      accounts = TaskAccounts.open((stage, counts, task) -> {});
    }
    return Map.of();
  }

  /** Executors do not learn of credentials that are added after their start: they ask for it. */
  private void addSecret() {
    try {
      UserGroupInformation user = UserGroupInformation.getCurrentUser();
      Credentials credentials = user.getCredentials();
      CacheSecret.addTo(credentials);
      user.addCredentials(credentials);
      cacheSecret = credentials.getSecretKey(new Text(CacheSecret.ALIAS));
    } catch (IOException e) {
      throw new IllegalStateException(
          "fs.s3a.s3e.cache.encryption = \"true\", but the user's credentials cannot be read", e);
    }
  }

  @Override
  public void registerMetrics(String applicationId, PluginContext plugin) {
    TaskAccounts counted = accounts;
    if (counted != null) {
      ProcessMetrics.register(plugin.metricRegistry(), counted::ofJvm);
    }
  }

  @Override
  public @Nullable Object receive(Object message) throws IOException {
    if (message instanceof TaskReads reads) {
      StageReports collecting = reports;
      if (collecting != null) {
        collecting.add(reads);
      }
      return null;
    }
    if (message instanceof HistoryReport report) {
      JobHistory collecting = history;
      if (collecting != null) {
        collecting.take(report.executorId(), report.facts());
      }
      return null;
    }
    if (message == DriverRequest.CACHE_SECRET) {
      return Objects.requireNonNull(cacheSecret, "the driver has no secret of the cache");
    }
    if (message == DriverRequest.HISTORY) {
      return Objects.requireNonNull(history, "the driver has no history").known();
    }
    throw new IllegalArgumentException("S3E's part of the driver does not know " + message);
  }

  @Override
  public void shutdown() {
    EndLine line = endLine;
    StageReports collecting = reports;
    // Whatever comes of one, the others end too.
    try (TaskAccounts counted = accounts;
        JobHistory ofJob = history) {
      if (collecting != null) {
        collecting.close();
        long dropped = collecting.droppedReports();
        if (dropped > 0) {
          LOG.info("Reports of tasks that came after the end, and are in no event: {}", dropped);
        }
      }
      if (ofJob != null) {
        ofJob.write();
      }
    } finally {
      if (line != null) {
        line.tell();
      }
    }
  }
}
