// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.conf;

import io.s3e.hadoop.S3EFileSystem;
import io.s3e.hadoop.cache.CacheSecret;
import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.hadoop.conf.ConfiguredBuckets;
import io.s3e.hadoop.conf.DiskCacheKeys;
import io.s3e.hadoop.conf.UnknownKeys;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkConf;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hadoop's configuration of an application, as the plugin completes it. A value is set where the
 * driver's tasks find it (the Hadoop configuration of the Spark context) and where executors do (as
 * {@code spark.hadoop.*}), and only where the user has not set another.
 */
public final class S3ASettings {
  private static final Logger LOG = LoggerFactory.getLogger(S3ASettings.class);

  private static final String PREFIX = "fs.s3a.s3e.";
  private static final String OF_HADOOP = "spark.hadoop.";
  private static final String FILE_SYSTEM = "fs.s3a.impl";
  private static final String SCOPE = PREFIX + "cache.scope";
  private static final String HISTORY = PREFIX + "history";
  private static final String SOURCE = "Spark's settings";
  private static final String HIDDEN_BY_DEFAULT = "(?i)secret|password|token|access[.]?key";
  private static final String ENCRYPTED_DISKS = "spark.io.encryption.enabled";
  private static final String APPLICATION = PREFIX + "cache.app.id";

  /**
   * Named by the value of {@link #SCOPE}, which Hadoop completes in each process: by a system
   * property of that name, else by the configuration.
   */
  private static final String SCOPE_OF_PROCESS = "s3e.spark.cache.scope";

  private final SparkConf spark;
  private final Configuration hadoop;
  private final WrittenValues written;

  /** Names behind the prefix that were taken from {@code spark.s3e.}. */
  private final Set<String> taken = new TreeSet<>();

  private final Set<String> unknown = new TreeSet<>();

  /**
   * @param spark of the application; executors are started with it
   * @param hadoop of the Spark context
   */
  public S3ASettings(SparkConf spark, Configuration hadoop) {
    this.spark = spark;
    this.hadoop = hadoop;
    written = new WrittenValues(spark);
  }

  /**
   * Maps {@code spark.s3e.*}, and sets S3E's file systems and the scope of its cache.
   *
   * @return the settings as they apply to buckets without settings of their own
   * @throws IllegalArgumentException if a value is not accepted; names the key as the user wrote
   *     it, the value and what is accepted
   */
  public AdapterConfig complete() {
    SparkKeys.ALL.forEach(key -> key.get(spark));
    written.takeBack(hadoop);
    take();
    List<String> shown = shownSecrets();
    if (!shown.isEmpty()) {
      LOG.warn(
          "The Environment tab and event logs show the secret of the cache, since Spark's settings"
              + " have it: {}. Put {} into a Hadoop credential provider in their place, with a new"
              + " secret, or have spark.redaction.regex match these names",
          String.join(", ", shown),
          DiskCacheKeys.SECRET);
    }
    if (userValue(FILE_SYSTEM) == null && fetchedBeforeJars() == null) {
      set(FILE_SYSTEM, "io.s3e.hadoop.S3EFileSystem");
    }
    if (isReadByS3E()) {
      setUnlessUser("fs.AbstractFileSystem.s3a.impl", "io.s3e.hadoop.S3EAbstractFileSystem");
      HiveClients.shareWith(spark);
    }
    if (userValue(SCOPE) == null) {
      // Directories that the user names do not go with the application, nor would what is shared.
      boolean isNamed = userValue(DiskCacheKeys.DIRECTORIES.name()) != null;
      set(SCOPE_OF_PROCESS, "private");
      set(SCOPE, isNamed ? "private" : "${" + SCOPE_OF_PROCESS + "}");
    }
    setUnlessUser(APPLICATION, "spark-" + UUID.randomUUID());
    if (spark.getBoolean(ENCRYPTED_DISKS, false)
        && userValue(DiskCacheKeys.ENCRYPTION.name()) == null) {
      encryptByDefault();
    }
    tellExecutors();
    if (!hadoop.getTrimmed(HISTORY, "off").equalsIgnoreCase("off")) {
      nameHistory();
    }
    try {
      return AdapterConfig.read(hadoop, null);
    } catch (IllegalArgumentException e) {
      throw asWritten(e);
    }
  }

  /**
   * What Spark writes to the same directories is encrypted. A host's cache has the host's key,
   * which nobody may have set: there only the user says so, be it the cache of all buckets or of
   * one.
   */
  private void encryptByDefault() {
    boolean isDefault = !isOfHost(hadoop);
    if (isDefault) {
      set(DiskCacheKeys.ENCRYPTION.name(), "true");
    }
    for (String bucket : ConfiguredBuckets.in(hadoop)) {
      boolean isEncrypted = !isOfHost(S3AUtils.propagateBucketOptions(hadoop, bucket));
      if (isEncrypted != isDefault) {
        String key = ofBucket(bucket, DiskCacheKeys.ENCRYPTION.name());
        setUnlessUser(key, Boolean.toString(isEncrypted));
      }
    }
  }

  private static boolean isOfHost(Configuration conf) {
    return conf.getTrimmed(SCOPE, "").equalsIgnoreCase("host");
  }

  private static String ofBucket(String bucket, String key) {
    return "fs.s3a.bucket." + bucket + key.substring("fs.s3a".length());
  }

  /** Executors know neither the name of the application nor the place of its event log. */
  private void nameHistory() {
    setUnlessUser(HISTORY + ".job", spark.get("spark.app.name", ""));
    if (spark.getBoolean("spark.eventLog.enabled", false)) {
      String logs = spark.get("spark.eventLog.dir", "file:/tmp/spark-events");
      setUnlessUser(HISTORY + ".dir", logs.replaceAll("/+$", "") + "/s3e-history-" + user());
    }
  }

  /** Event logs of many users may lie in one directory, where none may write what another made. */
  private static String user() {
    try {
      return UserGroupInformation.getCurrentUser().getShortUserName();
    } catch (IOException e) {
      throw new UncheckedIOException("Who starts the application is not known", e);
    }
  }

  /**
   * Executors make their engine, and ask for the secret of the cache, before they are sent the
   * driver's configuration, and may have no core-site.xml of their own, as on Kubernetes. The key
   * of encryption stays where it is: Spark shows its settings.
   */
  private void tellExecutors() {
    for (String name : hadoop.getPropsWithPrefix(PREFIX).keySet()) {
      tellExecutors(PREFIX + name);
    }
    // Known names alone: with dots in a bucket's name a secret of S3A's may look like one of these.
    for (String bucket : ConfiguredBuckets.in(hadoop)) {
      for (String name : UnknownKeys.KNOWN) {
        tellExecutors(ofBucket(bucket, PREFIX + name));
      }
    }
  }

  private void tellExecutors(String key) {
    String value = hadoop.getRaw(key);
    boolean isTold = value == null || spark.contains(OF_HADOOP + key);
    if (!isTold && !key.endsWith("." + CacheSecret.ALIAS)) {
      written.write(key, value);
    }
  }

  private void take() {
    for (var entry : spark.getAllWithPrefix(SparkKeys.PREFIX)) {
      String name = entry._1();
      if (SparkKeys.ALL.stream().anyMatch(key -> key.name().equals(SparkKeys.PREFIX + name))) {
        continue;
      }
      if (isUnknown(name)) {
        unknown.add(name);
      } else if (!spark.contains(OF_HADOOP + PREFIX + name)) {
        taken.add(name);
        set(PREFIX + name, entry._2());
      }
    }
    if (!unknown().isEmpty()) {
      LOG.warn(
          "S3E does not know, and ignores: {} (the plugin's own keys are {})",
          String.join("; ", unknown()),
          SparkKeys.ALL.stream().map(SparkKey::name).toList());
    }
  }

  /** Names of Spark's settings that are secrets of the cache, and that Spark does not hide. */
  List<String> shownSecrets() {
    Pattern hidden = Pattern.compile(spark.get("spark.redaction.regex", HIDDEN_BY_DEFAULT));
    return Stream.of(spark.getAll())
        .map(setting -> setting._1())
        .filter(name -> name.endsWith("." + CacheSecret.ALIAS) && !hidden.matcher(name).find())
        .sorted()
        .toList();
  }

  private static boolean isUnknown(String name) {
    Configuration alone = new Configuration(false);
    alone.set(PREFIX + name, "");
    return !UnknownKeys.in(alone, null).isEmpty();
  }

  /** One text for each unknown key under {@code spark.s3e.}, with the nearest known one. */
  List<String> unknown() {
    Configuration all = new Configuration(false);
    unknown.forEach(name -> all.set(PREFIX + name, "", SOURCE));
    return UnknownKeys.in(all, null).stream()
        .map(text -> text.replace(PREFIX, SparkKeys.PREFIX))
        .toList();
  }

  private void setUnlessUser(String key, String value) {
    if (userValue(key) == null) {
      set(key, value);
    }
  }

  private void set(String key, String value) {
    hadoop.set(key, value);
    written.write(key, value);
  }

  /** The value that does not come with Hadoop; null if there is none. */
  private @Nullable String userValue(String key) {
    String value = hadoop.getRaw(key);
    if (value == null) {
      return null;
    }
    String[] sources = hadoop.getPropertySources(key);
    boolean byDefault =
        sources != null
            && sources.length > 0
            && sources[sources.length - 1].endsWith("-default.xml");
    return byDefault ? null : value;
  }

  /** Whether {@code s3a://} is read by S3E's file system, and not by one that the user has set. */
  public boolean isReadByS3E() {
    return fileSystem().equals("io.s3e.hadoop.S3EFileSystem");
  }

  /** Why not, and what to do about it. */
  public String whyNotRead() {
    String early = userValue(FILE_SYSTEM) == null ? fetchedBeforeJars() : null;
    return early == null
        ? "fs.s3a.impl = \"" + fileSystem() + "\": leave that key out for S3E to set it"
        : "executors fetch "
            + early
            + " before they have the jars that Spark brings them: put S3E's into"
            + " $SPARK_HOME/jars or spark.executor.extraClassPath, or, if they are there, set"
            + " spark.hadoop.fs.s3a.impl = \"io.s3e.hadoop.S3EFileSystem\"";
  }

  private String fileSystem() {
    return hadoop.getTrimmed(FILE_SYSTEM, "");
  }

  /**
   * What executors fetch from {@code s3a://} by a class loader that has none of the jars that Spark
   * brings them, and without which they end; null if nothing, or if S3E is on the class path.
   */
  private @Nullable String fetchedBeforeJars() {
    ClassLoader own = S3EFileSystem.class.getClassLoader();
    return fetchedBeforeJars(spark, own == ClassLoader.getSystemClassLoader());
  }

  static @Nullable String fetchedBeforeJars(SparkConf spark, boolean isOnClassPath) {
    String master = spark.get("spark.master", "");
    boolean hasOwn =
        isOnClassPath || spark.get("spark.executor.extraClassPath", "").contains("s3e");
    if (hasOwn || master.startsWith("local")) {
      return null;
    }
    return Stream.of("jar", "file", "archive")
        .flatMap(kind -> Stream.of(spark.get("spark.app.initial." + kind + ".urls", "").split(",")))
        .filter(uri -> uri.startsWith("s3a://"))
        .findFirst()
        .orElse(null);
  }

  /** The same error about the key that the user has written. */
  private IllegalArgumentException asWritten(IllegalArgumentException error) {
    String message = String.valueOf(error.getMessage());
    return taken.stream()
        .filter(name -> message.startsWith(PREFIX + name + " "))
        .findFirst()
        .map(
            name ->
                new IllegalArgumentException(
                    SparkKeys.PREFIX + message.substring(PREFIX.length()), error))
        .orElse(error);
  }

  /**
   * In an executor: has the cache on disk shared by the executors of the application on this host
   * (scope {@code app}) where the cluster manager gives them directories that it deletes with the
   * application. Elsewhere, as in the driver, a JVM has a cache of its own, which goes with it.
   *
   * @param variables of the process's environment
   */
  public static void shareCacheOfExecutors(Map<String, String> variables) {
    boolean shared =
        Arrays.asList("LOCAL_DIRS", "SPARK_EXECUTOR_DIRS").stream()
            .anyMatch(name -> !variables.getOrDefault(name, "").isBlank());
    System.setProperty(SCOPE_OF_PROCESS, shared ? "app" : "private");
  }
}
