package io.s3e.hadoop.conf;

import io.s3e.S3EConfig;
import io.s3e.jvm.HostSizing;
import java.time.Duration;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.apache.hadoop.conf.Configuration;
import org.jspecify.annotations.Nullable;

/**
 * The settings of one file system, checked.
 *
 * @param enabled false leaves reading to S3A
 * @param engine what the engine may use, but for the cache on disk
 * @param cache what the cache on disk may use
 * @param client which client fetches
 * @param connectTimeout longest wait for a connection of S3E's own client
 * @param targetGbps throughput that the CRT opens connections for, in Gbit/s
 * @param maxConnections upper limit of connections of S3E's own client; empty leaves it to the
 *     client
 * @param clientThreads GETs in flight of the clients that block
 * @param tlsCaFile PEM file of trusted certificates for the CRT; empty for the system's
 */
public record AdapterConfig(
    boolean enabled,
    S3EConfig engine,
    DiskCacheSettings cache,
    ClientChoice client,
    Duration connectTimeout,
    double targetGbps,
    OptionalInt maxConnections,
    int clientThreads,
    String tlsCaFile) {

  /**
   * Reads all settings, so that a bad one is found when the file system is made and not when the
   * first file is read.
   *
   * @param conf with per-bucket overrides applied
   * @param bucket named in errors; null if not known
   * @throws IllegalArgumentException naming the key, the value and what is accepted
   */
  public static AdapterConfig read(Configuration conf, @Nullable String bucket) {
    HostSizing host = HostSizing.ofThisJvm();
    OptionalDouble target = S3EKeys.THROUGHPUT_TARGET.get(conf, bucket);
    return new AdapterConfig(
        S3EKeys.ENABLED.get(conf, bucket),
        engine(conf, bucket, target.isPresent() ? host.memoryBytes(target.getAsDouble()) : 0),
        DiskCacheSettings.read(conf, bucket, ProcessEnvironment.own()),
        S3EKeys.CLIENT.get(conf, bucket),
        S3EKeys.CONNECT_TIMEOUT.get(conf, bucket),
        target.orElseGet(host::targetGbps),
        limit(S3EKeys.MAX_CONNECTIONS.get(conf, bucket)),
        S3EKeys.CLIENT_THREADS.get(conf, bucket),
        S3EKeys.TLS_CA_FILE.get(conf, bucket));
  }

  private static OptionalInt limit(int connections) {
    return connections == 0 ? OptionalInt.empty() : OptionalInt.of(connections);
  }

  /**
   * @param byTarget the budget for the throughput that a user has set, where no user has set a
   *     budget; 0 where neither is
   */
  private static S3EConfig engine(Configuration conf, @Nullable String bucket, long byTarget) {
    long block = S3EKeys.BLOCK_SIZE.get(conf, bucket);
    long request = S3EKeys.REQUEST_SIZE.get(conf, bucket);
    long memory = S3EKeys.MEMORY_BUDGET.get(conf, bucket);
    Duration pause = S3EKeys.RETRY_INTERVAL.get(conf, bucket);
    Duration longestPause = S3EKeys.RETRY_INTERVAL_MAX.get(conf, bucket);
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
    if (longestPause.compareTo(pause) < 0) {
      throw S3EKeys.RETRY_INTERVAL_MAX.contradicted(
          conf,
          bucket,
          "at least " + named(S3EKeys.RETRY_INTERVAL, ConfigValues.durationText(pause)));
    }
    return S3EConfig.DEFAULTS.toBuilder()
        .blockBytes(Math.toIntExact(block))
        .requestBytes(Math.toIntExact(request))
        .memoryBytes(memory == 0 && byTarget > 0 ? Math.max(2 * block, byTarget) : memory)
        .maxWindowBytes(S3EKeys.PREFETCH_WINDOW_MAX.get(conf, bucket))
        .prefetch(S3EKeys.PREFETCH.get(conf, bucket))
        .columnar(S3EKeys.COLUMNAR.get(conf, bucket))
        .coalesceGapBytes(Math.toIntExact(S3EKeys.VECTORED_GAP_MAX.get(conf, bucket)))
        .retryBase(pause)
        .retryCap(longestPause)
        .stallTimeout(S3EKeys.STALL_TIMEOUT.get(conf, bucket))
        .readTimeout(S3EKeys.READ_TIMEOUT.get(conf, bucket))
        .build();
  }

  private static String named(ConfigKey<?> key, String value) {
    return key.name() + " (" + value + ")";
  }
}
