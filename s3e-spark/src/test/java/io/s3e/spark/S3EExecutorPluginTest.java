// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.s3e.hadoop.cache.CacheSecret;
import io.s3e.hadoop.client.OpenEngines;
import io.s3e.spark.conf.S3ASettings;
import io.s3e.spark.stages.GetSummary;
import io.s3e.spark.stages.TaskOfGets;
import io.s3e.testserver.S3TestServer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkConf;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.resource.ResourceInformation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The part of an executor that has a JVM of its own, as Spark would call it. */
@Tag("spark")
class S3EExecutorPluginTest {
  private static final byte[] SECRET = new byte[32];

  private final SparkConf spark = new SparkConf(false);
  private final MetricRegistry metrics = new MetricRegistry();

  /** Says of itself what an executor's does, and answers for the driver. */
  private class Executor implements PluginContext {
    @Override
    public MetricRegistry metricRegistry() {
      return metrics;
    }

    @Override
    public SparkConf conf() {
      return spark;
    }

    @Override
    public String executorID() {
      return "1";
    }

    @Override
    public String hostname() {
      throw new IllegalStateException("an executor has no address, and Spark throws too");
    }

    @Override
    public Map<String, ResourceInformation> resources() {
      return Map.of();
    }

    @Override
    public void send(Object message) {
      throw new IllegalStateException("no task has run");
    }

    @Override
    public Object ask(Object message) {
      assertThat(message).isEqualTo(DriverRequest.CACHE_SECRET);
      return SECRET;
    }
  }

  @AfterEach
  void forget() {
    System.clearProperty("s3e.spark.cache.scope");
  }

  private Configuration settled() {
    new S3ASettings(spark, SparkHadoopUtil.get().newConfiguration(spark)).complete();
    return SparkHadoopUtil.get().newConfiguration(spark);
  }

  private Configuration settledOn(S3TestServer server) {
    spark
        .set("spark.s3e.memory.budget", "96M")
        .set("spark.s3e.cache.mode", "memory")
        .set("spark.hadoop.fs.s3a.endpoint", server.endpoint().toString())
        .set("spark.hadoop.fs.s3a.endpoint.region", "us-east-1")
        .set("spark.hadoop.fs.s3a.access.key", S3TestServer.ACCESS_KEY)
        .set("spark.hadoop.fs.s3a.secret.key", S3TestServer.SECRET_KEY)
        .set("spark.hadoop.fs.s3a.path.style.access", "true");
    return settled();
  }

  /** The engine that is held belongs to the application, and so do the lines of its GETs. */
  @Test
  void theEngineThatIsHeldWritesTheLinesThatAreAskedFor(@TempDir java.nio.file.Path lines)
      throws Exception {
    spark.set("spark.s3e.explain", lines.toString());
    try (S3TestServer server = S3TestServer.inMemory().withBucket(LocalSpark.BUCKET)) {
      Configuration conf = settledOn(server);
      S3EExecutorPlugin plugin = new S3EExecutorPlugin();
      plugin.init(new Executor(), Map.of());
      Path file = new Path(LocalSpark.path("told"));
      try (FileSystem store = FileSystem.newInstance(URI.create(LocalSpark.path("")), conf)) {
        try (var out = store.create(file)) {
          out.write(new byte[100_000]);
        }
        try (var in = store.open(file)) {
          assertThat(in.readAllBytes()).hasSize(100_000);
        }
        plugin.shutdown();
      }
    }
    try (var files = Files.list(lines)) {
      assertThat(files.toList())
          .singleElement()
          .satisfies(each -> assertThat(Files.readString(each)).contains("\"key\":\"told\""));
    }
  }

  @Test
  void theEngineIsThereBeforeTheFirstFileSystemAndGoneAfterTheEnd() throws Exception {
    try (S3TestServer server = S3TestServer.inMemory().withBucket(LocalSpark.BUCKET)) {
      Configuration conf = settledOn(server);
      S3EExecutorPlugin plugin = new S3EExecutorPlugin();
      plugin.init(new Executor(), Map.of());

      Path file = new Path(LocalSpark.path("held"));
      try (FileSystem store = FileSystem.newInstance(URI.create(LocalSpark.path("")), conf)) {
        try (var out = store.create(file)) {
          out.write(new byte[100_000]);
        }
        try (var in = store.open(file)) {
          assertThat(in.readAllBytes()).hasSize(100_000);
        }
        assertThat(OpenEngines.work().memoryLimit()).isEqualTo(96L << 20);
        assertThat(metrics.getCounters().get("bytesRead").getCount()).isEqualTo(100_000);
        Gauge<?> budget = metrics.getGauges().get("memoryBudgetBytes");
        assertThat(budget.getValue()).isEqualTo(96L << 20);

        plugin.shutdown();
        assertThat(OpenEngines.work().memoryLimit()).isZero();
        try (var in = store.open(file)) {
          assertThatThrownBy(in::readAllBytes)
              .isInstanceOf(IOException.class)
              .hasMessageContaining("closed");
        }
      }
    }
  }

  @Test
  void whatGetsWereForIsLeftOutOfAReportWhereItCannotBeTold() {
    TaskOfGets task = new TaskOfGets("stage 3, task 17", 0);
    assertThat(S3EExecutorPlugin.summary(List::of, task, "1")).isEqualTo(GetSummary.NONE);
    assertThat(
            S3EExecutorPlugin.summary(
                () -> {
                  throw new IllegalArgumentException("as a sort whose keys change");
                },
                task,
                "1"))
        .isEqualTo(GetSummary.NONE);
  }

  /** Its driver has no secret. */
  private final class LoneExecutor extends Executor {
    @Override
    public Object ask(Object message) {
      throw new IllegalStateException("the driver has none");
    }
  }

  @Test
  void onlyACacheThatIsSharedNeedsTheSecretOfTheDriver() {
    spark.set("spark.s3e.cache.encryption", "true").set("spark.s3e.cache.scope", "private");
    settled();
    S3EExecutorPlugin plugin = new S3EExecutorPlugin();
    plugin.init(new LoneExecutor(), Map.of());
    plugin.shutdown();

    spark.set("spark.s3e.cache.scope", "app");
    settled();
    assertThatThrownBy(() -> new S3EExecutorPlugin().init(new LoneExecutor(), Map.of()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("fs.s3a.s3e.cache.encryption = \"true\"")
        .hasMessageContaining("spark.s3e.cache.scope = \"private\"")
        .hasRootCauseMessage("the driver has none");
  }

  /** Nobody may ever read the bucket: its file systems fail by themselves. */
  @Test
  void anExecutorBeginsWithoutTheSecretOfOneBucket() {
    spark.set("spark.s3e.cache.encryption", "true").set("spark.s3e.cache.scope", "private");
    spark.set("spark.hadoop.fs.s3a.bucket.shared.s3e.cache.scope", "app");
    settled();
    S3EExecutorPlugin plugin = new S3EExecutorPlugin();
    plugin.init(new LoneExecutor(), Map.of());
    plugin.shutdown();
  }

  @Test
  void theSecretOfASharedCacheComesFromTheDriver() throws Exception {
    spark.set("spark.s3e.cache.encryption", "true").set("spark.s3e.cache.scope", "app");
    settled();
    S3EExecutorPlugin plugin = new S3EExecutorPlugin();
    plugin.init(new Executor(), Map.of());
    plugin.shutdown();
    assertThat(
            UserGroupInformation.getCurrentUser()
                .getCredentials()
                .getSecretKey(new Text(CacheSecret.ALIAS)))
        .isEqualTo(SECRET);
  }
}
