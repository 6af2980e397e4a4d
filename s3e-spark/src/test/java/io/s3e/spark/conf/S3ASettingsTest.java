// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.conf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.hadoop.conf.AdapterConfig;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class S3ASettingsTest {
  private static final String SHARED = "spark.sql.hive.metastore.sharedPrefixes";

  private final SparkConf spark = new SparkConf(false);

  @AfterEach
  void forget() {
    System.clearProperty("s3e.spark.cache.scope");
  }

  /** What an executor makes of the settings that the driver has completed. */
  private Configuration executor() {
    return SparkHadoopUtil.get().newConfiguration(spark);
  }

  private Configuration complete() {
    Configuration driver = SparkHadoopUtil.get().newConfiguration(spark);
    new S3ASettings(spark, driver).complete();
    return driver;
  }

  @Test
  void bothFileSystemsAreSetForDriverAndExecutors() {
    for (Configuration each : new Configuration[] {complete(), executor()}) {
      assertThat(each.get("fs.s3a.impl")).isEqualTo("io.s3e.hadoop.S3EFileSystem");
      assertThat(each.get("fs.AbstractFileSystem.s3a.impl"))
          .isEqualTo("io.s3e.hadoop.S3EAbstractFileSystem");
    }
  }

  /** Spark's key replaces Spark's list where it is set. */
  @Test
  void aMetastoreClientOfOtherJarsIsSharedS3esClasses() {
    complete();
    assertThat(spark.get(SHARED))
        .isEqualTo(
            "com.mysql.jdbc,com.mysql.cj,org.postgresql,com.microsoft.sqlserver,oracle.jdbc,"
                + "io.s3e.");
    spark.set(SHARED, "org.example, com.example");
    for (int time = 0; time < 2; time++) {
      complete();
      assertThat(spark.get(SHARED)).isEqualTo("org.example, com.example,io.s3e.");
    }
    for (String covering : new String[] {"org.example, io.s3e", "io."}) {
      spark.set(SHARED, covering);
      complete();
      assertThat(spark.get(SHARED)).isEqualTo(covering);
    }
    spark.set(SHARED, "");
    complete();
    assertThat(spark.get(SHARED)).isEqualTo("io.s3e.");
  }

  /** In a notebook the settings of one context may begin the next one. */
  @Test
  void whatThePluginHasWrittenIsNotTakenForTheUsers() {
    spark.set("spark.s3e.memory.budget", "100M").set("spark.s3e.enabled", "true");
    spark.set("spark.s3e.history", "observe").set("spark.app.name", "first");
    String application = complete().get("fs.s3a.s3e.cache.app.id");
    spark.set("spark.s3e.memory.budget", "300M").set("spark.s3e.enabled", "false");
    spark.set("spark.app.name", "second");
    for (Configuration each : new Configuration[] {complete(), executor()}) {
      AdapterConfig config = AdapterConfig.read(each, null);
      assertThat(config.engine().memoryBytes()).isEqualTo(300L << 20);
      assertThat(config.enabled()).isFalse();
      assertThat(each.get("fs.s3a.s3e.history.job")).isEqualTo("second");
      assertThat(each.get("fs.s3a.s3e.cache.app.id")).isNotEqualTo(application);
      assertThat(each.get("fs.s3a.impl")).isEqualTo("io.s3e.hadoop.S3EFileSystem");
    }
    spark.remove("spark.s3e.memory.budget");
    for (Configuration each : new Configuration[] {complete(), executor()}) {
      assertThat(each.get("fs.s3a.s3e.memory.budget")).isNull();
    }
  }

  @Test
  void whatTheUserHasWrittenSinceStays() {
    spark.set("spark.s3e.memory.budget", "100M");
    complete();
    spark.set("spark.hadoop.fs.s3a.s3e.memory.budget", "200M");
    spark.set("spark.hadoop.fs.s3a.impl", "org.example.Own");
    for (int time = 0; time < 2; time++) {
      for (Configuration each : new Configuration[] {complete(), executor()}) {
        assertThat(each.get("fs.s3a.s3e.memory.budget")).isEqualTo("200M");
        assertThat(each.get("fs.s3a.impl")).isEqualTo("org.example.Own");
        assertThat(String.valueOf(each.get("fs.AbstractFileSystem.s3a.impl")))
            .doesNotContain("io.s3e");
      }
    }
  }

  /** They are told to executors, which is not to say that the user has set them for Spark. */
  @Test
  void whatExecutorsWereToldOfTheDriversFilesDoesNotWinLater() {
    Configuration driver = SparkHadoopUtil.get().newConfiguration(spark);
    driver.set("fs.s3a.s3e.memory.budget", "200M");
    new S3ASettings(spark, driver).complete();
    assertThat(executor().get("fs.s3a.s3e.memory.budget")).isEqualTo("200M");
    spark.set("spark.s3e.memory.budget", "300M");
    for (Configuration each : new Configuration[] {complete(), executor()}) {
      assertThat(each.get("fs.s3a.s3e.memory.budget")).isEqualTo("300M");
    }
  }

  @Test
  void theUsersOwnFileSystemStays() {
    spark.set("spark.hadoop.fs.s3a.impl", "org.example.Own");
    Configuration driver = complete();
    assertThat(driver.get("fs.s3a.impl")).isEqualTo("org.example.Own");
    assertThat(String.valueOf(driver.get("fs.AbstractFileSystem.s3a.impl")))
        .doesNotContain("io.s3e");
    assertThat(new S3ASettings(spark, driver).isReadByS3E()).isFalse();
    assertThat(spark.contains(SHARED)).isFalse();
  }

  /** Executors that fetch it by S3E's class, which they do not have yet, end. */
  @Test
  void whatExecutorsFetchBeforeTheirJarsIsLeftToS3a() {
    spark.set("spark.master", "k8s://https://host");
    assertThat(S3ASettings.fetchedBeforeJars(spark, false)).isNull();
    spark.set("spark.app.initial.jar.urls", "spark://driver/jars/a.jar,s3a://bucket/b.jar");
    assertThat(S3ASettings.fetchedBeforeJars(spark, false)).isEqualTo("s3a://bucket/b.jar");
    assertThat(S3ASettings.fetchedBeforeJars(spark, true)).isNull();
    spark.set("spark.executor.extraClassPath", "/opt/jars/s3e-hadoop-bundle.jar");
    assertThat(S3ASettings.fetchedBeforeJars(spark, false)).isNull();
    spark.remove("spark.executor.extraClassPath");
    spark.set("spark.master", "local[2]");
    assertThat(S3ASettings.fetchedBeforeJars(spark, false)).isNull();
  }

  @Test
  void sparksNamesAreHadoopsAndHadoopsWin() {
    spark
        .set("spark.s3e.block.size", "256K")
        .set("spark.s3e.memory.budget", "100M")
        .set("spark.hadoop.fs.s3a.s3e.memory.budget", "200M");
    complete();
    AdapterConfig config = AdapterConfig.read(executor(), null);
    assertThat(config.engine().blockBytes()).isEqualTo(256 << 10);
    assertThat(config.engine().memoryBytes()).isEqualTo(200L << 20);
  }

  /** As on Kubernetes, where core-site.xml is the driver's alone. */
  @Test
  void executorsAreToldWhatTheDriversOwnFilesSay() {
    spark.set("spark.hadoop.fs.s3a.s3e.block.size", "256K");
    Configuration driver = SparkHadoopUtil.get().newConfiguration(spark);
    driver.set("fs.s3a.s3e.memory.budget", "200M");
    driver.set("fs.s3a.s3e.cache.dirs", "${hadoop.tmp.dir}/own");
    driver.set("fs.s3a.s3e.cache.key", "secret");
    new S3ASettings(spark, driver).complete();

    Configuration executor = executor();
    assertThat(executor.get("fs.s3a.s3e.memory.budget")).isEqualTo("200M");
    assertThat(executor.get("fs.s3a.s3e.block.size")).isEqualTo("256K");
    executor.set("hadoop.tmp.dir", "/executors");
    assertThat(executor.get("fs.s3a.s3e.cache.dirs")).isEqualTo("/executors/own");
    assertThat(executor.get("fs.s3a.s3e.cache.key")).as("Spark shows its settings").isNull();
  }

  /** Else they would not ask for the secret of the cache, and tasks that read the bucket fail. */
  @Test
  void executorsAreToldWhatTheDriversOwnFilesSayOfABucket() {
    Configuration driver = SparkHadoopUtil.get().newConfiguration(spark);
    driver.set("fs.s3a.bucket.one.two.s3e.cache.encryption", "true");
    driver.set("fs.s3a.bucket.one.two.s3e.cache.scope", "app");
    driver.set("fs.s3a.bucket.one.two.s3e.cache.key", "hidden");
    driver.set("fs.s3a.bucket.one.two.secret.key", "hidden");
    driver.set("fs.s3a.bucket.three.s3e.four.secret.key", "hidden");
    new S3ASettings(spark, driver).complete();

    Configuration executor = executor();
    assertThat(isEncrypted(executor, "one.two")).isTrue();
    assertThat(AdapterConfig.read(executor, null).caches(executor))
        .as("what an executor asks for a secret for")
        .anyMatch(cache -> cache.encrypted() && cache.scope() == Scope.APP);
    assertThat(spark.getAll())
        .as("Spark shows its settings")
        .noneMatch(setting -> setting._2().equals("hidden"));
  }

  @Test
  void secretsThatSparkShowsAreFound() {
    spark
        .set("spark.s3e.cache.key", "secret")
        .set("spark.hadoop.fs.s3a.bucket.logs.s3e.cache.key", "secret");
    S3ASettings settings = new S3ASettings(spark, SparkHadoopUtil.get().newConfiguration(spark));
    settings.complete();
    assertThat(settings.shownSecrets())
        .containsExactly(
            "spark.hadoop.fs.s3a.bucket.logs.s3e.cache.key",
            "spark.hadoop.fs.s3a.s3e.cache.key",
            "spark.s3e.cache.key");
    spark.set("spark.redaction.regex", "(?i)secret|password|cache[.]key");
    assertThat(settings.shownSecrets()).isEmpty();
  }

  @Test
  void namesThatNobodyKnowsAreToldAndNotPassedOn() {
    spark
        .set("spark.s3e.memory.buget", "100M")
        .set("spark.s3e.max.connections", "8")
        .set("spark.s3e.ui.enabled", "false");
    Configuration driver = SparkHadoopUtil.get().newConfiguration(spark);
    S3ASettings settings = new S3ASettings(spark, driver);
    settings.complete();
    assertThat(settings.unknown())
        .hasSize(2)
        .first()
        .asString()
        .startsWith("spark.s3e.max.connections")
        .endsWith("and spark.s3e.throughput.target.gbps raises it");
    assertThat(settings.unknown())
        .last()
        .asString()
        .startsWith("spark.s3e.memory.buget")
        .endsWith("did you mean spark.s3e.memory.budget?");
    assertThat(driver.get("fs.s3a.s3e.memory.buget")).isNull();
    assertThat(driver.get("fs.s3a.s3e.ui.enabled")).isNull();
  }

  @Test
  void aBadValueIsNamedByTheKeyThatTheUserWrote() {
    spark.set("spark.s3e.block.size", "3M");
    assertThatThrownBy(this::complete)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("spark.s3e.block.size = \"3M\": expected a size from ");
    spark.remove("spark.s3e.block.size");
    spark.set("spark.hadoop.fs.s3a.s3e.block.size", "5M");
    assertThatThrownBy(this::complete)
        .hasMessageStartingWith("fs.s3a.s3e.block.size = \"5M\": expected a size from ");
    spark.remove("spark.hadoop.fs.s3a.s3e.block.size");
    spark.set("spark.s3e.events.enabled", "perhaps");
    assertThatThrownBy(this::complete)
        .hasMessage("spark.s3e.events.enabled = \"perhaps\": expected true or false");
  }

  @Test
  void executorsShareACacheWhereTheirDirectoriesGoWithTheApplication() {
    Configuration driver = complete();
    assertThat(AdapterConfig.read(driver, null).cache().scope()).isEqualTo(Scope.PRIVATE);

    S3ASettings.shareCacheOfExecutors(Map.of("LOCAL_DIRS", "/data/1,/data/2"));
    AdapterConfig onYarn = AdapterConfig.read(executor(), null);
    assertThat(onYarn.cache().scope()).isEqualTo(Scope.APP);
    assertThat(onYarn.cache().application()).isEqualTo(driver.get("fs.s3a.s3e.cache.app.id"));

    S3ASettings.shareCacheOfExecutors(Map.of("SPARK_EXECUTOR_DIRS", "/work/executor-1"));
    assertThat(AdapterConfig.read(executor(), null).cache().scope()).isEqualTo(Scope.APP);

    S3ASettings.shareCacheOfExecutors(Map.of("SPARK_LOCAL_DIRS", "/tmp"));
    assertThat(AdapterConfig.read(executor(), null).cache().scope()).isEqualTo(Scope.PRIVATE);
  }

  /** Where Spark encrypts what it writes to its local directories, so does the cache there. */
  @Test
  void theCacheIsEncryptedWhereSparksOwnFilesAre() {
    spark.set("spark.io.encryption.enabled", "true");
    for (Configuration each : new Configuration[] {complete(), executor()}) {
      assertThat(AdapterConfig.read(each, null).cache().encrypted()).isTrue();
    }
    SparkConf shared = new SparkConf(false);
    shared.set("spark.io.encryption.enabled", "true").set("spark.s3e.cache.scope", "host");
    Configuration ofHost = SparkHadoopUtil.get().newConfiguration(shared);
    assertThat(new S3ASettings(shared, ofHost).complete().cache().encrypted())
        .as("its key is the host's, which nobody has set")
        .isFalse();
    spark.set("spark.s3e.cache.encryption", "false");
    for (Configuration each : new Configuration[] {complete(), executor()}) {
      assertThat(AdapterConfig.read(each, null).cache().encrypted()).isFalse();
    }
  }

  /** Its file systems would find no key of the host's, and fail. */
  @Test
  void theCacheOfABucketIsEncryptedByDefaultUnlessItIsTheHosts() {
    spark
        .set("spark.io.encryption.enabled", "true")
        .set("spark.hadoop.fs.s3a.bucket.shared.s3e.cache.scope", "host")
        .set("spark.hadoop.fs.s3a.bucket.keyed.s3e.cache.scope", "host")
        .set("spark.hadoop.fs.s3a.bucket.keyed.s3e.cache.encryption", "true")
        .set("spark.hadoop.fs.s3a.bucket.other.s3e.cache.mode", "hybrid");
    for (Configuration each : new Configuration[] {complete(), executor()}) {
      assertThat(isEncrypted(each, "shared")).isFalse();
      assertThat(isEncrypted(each, "keyed")).as("as the user says").isTrue();
      assertThat(isEncrypted(each, "other")).isTrue();
      assertThat(isEncrypted(each, "any")).isTrue();
    }
    spark
        .set("spark.s3e.cache.scope", "host")
        .set("spark.hadoop.fs.s3a.bucket.other.s3e.cache.scope", "app");
    for (Configuration each : new Configuration[] {complete(), executor()}) {
      assertThat(isEncrypted(each, "any")).isFalse();
      assertThat(isEncrypted(each, "other")).as("in directories of Spark's").isTrue();
    }
    spark.set("spark.s3e.cache.encryption", "true");
    for (Configuration each : new Configuration[] {complete(), executor()}) {
      assertThat(isEncrypted(each, "shared")).as("the user says so of all").isTrue();
    }
  }

  private static boolean isEncrypted(Configuration conf, String bucket) {
    Configuration own = S3AUtils.propagateBucketOptions(conf, bucket);
    return AdapterConfig.read(own, bucket).cache().encrypted();
  }

  /** What is shared there would stay when the application has ended. */
  @Test
  void directoriesOfTheUsersHoldACacheOfTheExecutorAlone() {
    spark.set("spark.s3e.cache.dirs", "/mnt/nvme");
    complete();
    S3ASettings.shareCacheOfExecutors(Map.of("LOCAL_DIRS", "/data/1,/data/2"));
    assertThat(AdapterConfig.read(executor(), null).cache().scope()).isEqualTo(Scope.PRIVATE);
    spark.set("spark.s3e.cache.scope", "app");
    complete();
    assertThat(AdapterConfig.read(executor(), null).cache().scope()).isEqualTo(Scope.APP);
  }

  @Test
  void aScopeOfTheUsersStays() {
    spark.set("spark.s3e.cache.scope", "host");
    complete();
    S3ASettings.shareCacheOfExecutors(Map.of("LOCAL_DIRS", "/data/1"));
    assertThat(AdapterConfig.read(executor(), null).cache().scope()).isEqualTo(Scope.HOST);
  }
}
