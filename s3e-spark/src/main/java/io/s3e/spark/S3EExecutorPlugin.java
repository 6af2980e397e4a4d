// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import io.s3e.EngineHold;
import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.fetch.GetRecord;
import io.s3e.hadoop.cache.CacheSecret;
import io.s3e.hadoop.cache.EngineFactory;
import io.s3e.hadoop.client.EarlyStart;
import io.s3e.hadoop.client.OpenEngines;
import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.hadoop.conf.DiskCacheSettings;
import io.s3e.hadoop.history.JobHistory;
import io.s3e.spark.conf.S3ASettings;
import io.s3e.spark.conf.SparkKeys;
import io.s3e.spark.metrics.ProcessMetrics;
import io.s3e.spark.stages.GetSummary;
import io.s3e.spark.stages.ReadCounts;
import io.s3e.spark.stages.StageAttempt;
import io.s3e.spark.stages.TaskAccounts;
import io.s3e.spark.stages.TaskOfGets;
import io.s3e.spark.stages.TaskReads;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An executor's part: holds the engine of the JVM, and reports what each task reads.
 *
 * <p><b>The engine.</b> {@link #init} makes it with the settings of the application and holds it,
 * so that memory and the cache on disk are those of the application whichever bucket is read first,
 * and outlive file systems that come and go. {@link #shutdown} closes the engines of all file
 * systems, which cancels what is in flight and ends the network threads, and then lets go; Spark
 * calls it when the executor stops, before the shutdown hooks by which Hadoop closes file systems
 * one after the other. In local mode the JVM is the application's and goes on after Spark: there
 * the file systems stay open, and only the hold is given up.
 *
 * <p>Spark calls {@link #init} and {@link #shutdown} once each, and the others on the threads of
 * tasks in between.
 */
final class S3EExecutorPlugin implements ExecutorPlugin {
  private static final Logger LOG = LoggerFactory.getLogger(S3EExecutorPlugin.class);

  /** Spark's id of the executor in a driver, in local mode. */
  private static final String DRIVER = "driver";

  private boolean isOwnProcess;
  private @Nullable EngineHold engine;
  private volatile @Nullable TaskAccounts accounts;
  private volatile @Nullable ExecutorHistory history;

  @Override
  public void init(PluginContext plugin, Map<String, String> extra) {
    UnfitClassPathException.check();
    isOwnProcess = !plugin.executorID().equals(DRIVER);
    if (isOwnProcess) {
      S3ASettings.shareCacheOfExecutors(System.getenv());
    }
    Configuration hadoop = SparkHadoopUtil.get().newConfiguration(plugin.conf());
    if (!new S3ASettings(plugin.conf(), hadoop).isReadByS3E()) {
      return;
    }
    AdapterConfig config = AdapterConfig.read(hadoop, null);
    if (isOwnProcess && config.caches(hadoop).stream().anyMatch(S3EExecutorPlugin::needsSecret)) {
      fetchSecret(plugin, config.enabled() && needsSecret(config.cache()));
    }
    if (config.enabled()) {
      // First, for it says where the engine enters its hook.
      EarlyStart.begin(config, hadoop);
      engine = EngineHold.of(EngineFactory.held(config));
    }
    StartLine.tell(config, hadoop);
    if (isOwnProcess) {
      history = ExecutorHistory.begin(config.history(), hadoop, plugin);
    }
    boolean reports = SparkKeys.EVENTS.get(plugin.conf());
    TaskAccounts begun =
        TaskAccounts.open(
            reports
                ? (stage, counts, task) -> send(plugin, stage, counts, task)
                : (stage, counts, task) -> {});
    accounts = begun;
    ProcessMetrics.register(plugin.metricRegistry(), begun::ofJvm);
  }

  /** In other scopes the secret is the JVM's, or the host's. */
  private static boolean needsSecret(DiskCacheSettings cache) {
    return cache.encrypted() && cache.scope() == Scope.APP;
  }

  /**
   * Before the first file system looks for it.
   *
   * @param isForAll whether every bucket needs it; else those that do fail by themselves
   */
  private static void fetchSecret(PluginContext plugin, boolean isForAll) {
    try {
      byte[] secret = (byte[]) plugin.ask(DriverRequest.CACHE_SECRET);
      Credentials credentials = new Credentials();
      credentials.addSecretKey(new Text(CacheSecret.ALIAS), secret);
      UserGroupInformation.getCurrentUser().addCredentials(credentials);
    } catch (Exception e) {
      String why =
          "fs.s3a.s3e.cache.encryption = \"true\" in fs.s3a.s3e.cache.scope = \"app\", but the"
              + " driver has not told the secret: set both in the driver too, or"
              + " spark.s3e.cache.scope = \"private\", where each executor has a secret of its own";
      if (isForAll) {
        throw new IllegalStateException(why, e);
      }
      LOG.warn("Of some buckets {}", why, e);
    }
  }

  /**
   * As the executor is named in Spark's own tabs. PluginContext.hostname() asks for the address of
   * the RPC server, which an executor of its own process does not have, and throws.
   */
  private static String host() {
    return SparkEnv.get().blockManager().blockManagerId().host();
  }

  private static void send(
      PluginContext plugin, StageAttempt stage, ReadCounts counts, @Nullable TaskOfGets task) {
    try {
      String executor = plugin.executorID();
      GetSummary gets =
          task == null || counts.gets() == 0
              ? GetSummary.NONE
              : summary(OpenEngines::gets, task, executor);
      plugin.send(new TaskReads(stage, executor, host(), counts, gets));
    } catch (Exception e) {
      // The executor is about to end or has, or the driver is gone: no reason for a task to fail.
      LOG.debug("What a task of {} read is not reported", stage, e);
    }
  }

  /** None where it fails: the counts of the task, and its part of the bill, go without it. */
  static GetSummary summary(Supplier<List<GetRecord>> gets, TaskOfGets task, String executor) {
    try {
      return GetSummary.of(gets.get(), task, executor);
    } catch (RuntimeException e) {
      LOG.debug("What the GETs of {} were for is not reported", task, e);
      return GetSummary.NONE;
    }
  }

  @Override
  public void onTaskStart() {
    TaskAccounts counting = accounts;
    if (counting != null) {
      counting.taskStarted();
    }
  }

  @Override
  public void onTaskSucceeded() {
    taskEnded();
  }

  @Override
  public void onTaskFailed(TaskFailedReason reason) {
    taskEnded();
  }

  private void taskEnded() {
    TaskAccounts counting = accounts;
    Long task = counting == null ? null : counting.taskEnded();
    if (task != null) {
      JobHistory.taskEnded(task);
      ExecutorHistory reporting = history;
      if (reporting != null) {
        reporting.taskEnded();
      }
    }
  }

  @Override
  public void shutdown() {
    // Whatever comes of one, the others end too: the history while the engines are there, which
    // have learnt.
    try (EngineHold held = engine;
        TaskAccounts counting = accounts) {
      try (ExecutorHistory reporting = history) {
        LOG.debug("Ending {}", reporting);
      } finally {
        if (isOwnProcess) {
          OpenEngines.closeAll();
        }
      }
    }
  }
}
