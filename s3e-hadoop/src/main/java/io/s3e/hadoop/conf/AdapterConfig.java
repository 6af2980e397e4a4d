// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import io.s3e.S3EConfig;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.jvm.HostSizing;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The settings of one file system, checked.
 *
 * @param enabled false leaves reading to S3A
 * @param engine what the engine may use, but for the cache on disk and what is kept of GETs
 * @param budgetBytes the memory budget as it is set, for other JVMs; 0 if it is left to its
 *     default, also where {@code engine} has what follows from this JVM's heap and a target of
 *     throughput
 * @param cache what the cache on disk may use
 * @param client which client fetches
 * @param connectTimeout longest wait for a connection of S3E's own client
 * @param targetGbps throughput that the CRT opens connections for, in Gbit/s
 * @param maxConnections upper limit of connections of S3E's own client; empty leaves it to the
 *     client
 * @param tlsCaFile PEM file of trusted certificates for the CRT; empty for the system's
 * @param explain what is kept of GETs
 * @param history what is made of what jobs have learnt
 */
public record AdapterConfig(
    boolean enabled,
    S3EConfig engine,
    long budgetBytes,
    DiskCacheSettings cache,
    ClientChoice client,
    Duration connectTimeout,
    double targetGbps,
    OptionalInt maxConnections,
    String tlsCaFile,
    ExplainSetting explain,
    HistorySetting history) {

  private static final Logger LOG = LoggerFactory.getLogger(AdapterConfig.class);

  /** GETs that a client that blocks has in flight: a thread each, of a pool of S3E's own. */
  public static final int CLIENT_THREADS = 32;

  /**
   * Reads all settings, so that a bad one is found when the file system is made and not when the
   * first file is read. Where S3E is off a bad one has all others at their defaults: the way out of
   * it must not depend on it.
   *
   * @param conf with per-bucket overrides applied
   * @param bucket named in errors; null if not known
   * @throws IllegalArgumentException naming the key, the value and what is accepted
   */
  public static AdapterConfig read(Configuration conf, @Nullable String bucket) {
    boolean isEnabled = S3EKeys.ENABLED.get(conf, bucket);
    try {
      return read(conf, bucket, isEnabled);
    } catch (RuntimeException e) {
      if (isEnabled) {
        throw e;
      }
      return read(new Configuration(false), bucket, false);
    }
  }

  /**
   * What file systems of S3E may put on local disk: those of buckets with settings of their own in
   * {@code conf}, and all others, whose settings these are. Left out are buckets whose settings are
   * not accepted, since their file systems are not made.
   */
  public List<DiskCacheSettings> caches(Configuration conf) {
    List<AdapterConfig> all = new ArrayList<>(List.of(this));
    for (String bucket : ConfiguredBuckets.in(conf)) {
      try {
        all.add(read(S3AUtils.propagateBucketOptions(conf, bucket), bucket));
      } catch (IllegalArgumentException e) {
        LOG.debug("What {} may put on local disk is not known", bucket, e);
      }
    }
    return all.stream().filter(AdapterConfig::enabled).map(AdapterConfig::cache).toList();
  }

  private static AdapterConfig read(
      Configuration conf, @Nullable String bucket, boolean isEnabled) {
    HostSizing host = HostSizing.ofThisJvm();
    OptionalDouble target = S3EKeys.THROUGHPUT_TARGET.get(conf, bucket);
    return new AdapterConfig(
        isEnabled,
        engine(conf, bucket, target.isPresent() ? host.memoryBytes(target.getAsDouble()) : 0),
        S3EKeys.MEMORY_BUDGET.get(conf, bucket),
        DiskCacheSettings.read(conf, bucket, ProcessEnvironment.own()),
        S3EKeys.CLIENT.get(conf, bucket),
        S3ADefault.connect(conf),
        target.orElseGet(host::targetGbps),
        S3ADefault.connections(conf),
        S3EKeys.TLS_CA_FILE.get(conf, bucket),
        S3EKeys.EXPLAIN.get(conf, bucket),
        HistorySetting.read(conf, bucket));
  }

  /**
   * @param byTarget the budget for the throughput that a user has set, where no user has set a
   *     budget; 0 where neither is
   */
  private static S3EConfig engine(Configuration conf, @Nullable String bucket, long byTarget) {
    long block = S3EKeys.BLOCK_SIZE.get(conf, bucket);
    long request = S3EKeys.REQUEST_SIZE.get(conf, bucket);
    long memory = S3EKeys.MEMORY_BUDGET.get(conf, bucket);
    long window = S3EKeys.PREFETCH_WINDOW_MAX.get(conf, bucket);
    if (request < block) {
      throw S3EKeys.REQUEST_SIZE.contradicted(
          conf, bucket, "at least " + named(S3EKeys.BLOCK_SIZE, ConfigValues.sizeText(block)));
    }
    if (memory != 0 && memory < 2 * block) {
      throw S3EKeys.MEMORY_BUDGET.contradicted(
          conf,
          bucket,
          "0 or at least twice " + named(S3EKeys.BLOCK_SIZE, ConfigValues.sizeText(block)));
    }
    if (window != 0 && window < block) {
      throw S3EKeys.PREFETCH_WINDOW_MAX.contradicted(
          conf, bucket, "0 or at least " + named(S3EKeys.BLOCK_SIZE, ConfigValues.sizeText(block)));
    }
    return S3EConfig.DEFAULTS.toBuilder()
        .blockBytes(Math.toIntExact(block))
        .requestBytes(Math.toIntExact(request))
        .memoryBytes(memory == 0 && byTarget > 0 ? Math.max(2 * block, byTarget) : memory)
        .maxWindowBytes(window)
        .prefetch(S3EKeys.PREFETCH.get(conf, bucket))
        .columnar(S3EKeys.COLUMNAR.get(conf, bucket))
        .stallTimeout(S3ADefault.stall(conf))
        .readTimeout(S3EKeys.READ_TIMEOUT.get(conf, bucket))
        .accessMaxAge(S3EKeys.ACCESS_AGE_MAX.get(conf, bucket))
        .build();
  }

  /**
   * Settings of S3E's own client, without those that are S3A's: where the store is, and who asks.
   */
  public AwsClientSettings.Builder reach() {
    AwsClientSettings.Builder reach =
        AwsClientSettings.builder()
            .targetGbps(targetGbps)
            .connectTimeout(connectTimeout)
            .stallTimeout(S3ADefault.longestStall(engine.stallTimeout()));
    maxConnections.ifPresent(reach::maxConnections);
    return tlsCaFile.isEmpty() ? reach : reach.caFile(Path.of(tlsCaFile));
  }

  private static String named(ConfigKey<?> key, String value) {
    return key.name() + " (" + value + ")";
  }
}
