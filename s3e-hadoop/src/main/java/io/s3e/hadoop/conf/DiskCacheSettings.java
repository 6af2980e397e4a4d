// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import io.s3e.disk.CacheKey;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.disk.DiskCacheConfig.Scope;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.jspecify.annotations.Nullable;

/**
 * One file system's settings of the cache on disk, checked. The part that depends on the machine,
 * the directories, is added by {@link #in} when the engine is made.
 *
 * @param mode which bytes may go to disk
 * @param scope which processes share the cache
 * @param directories as the user chose them; empty for the default
 * @param application names the application in scope app; empty otherwise
 * @param limits the sizes; no mode, directories or names
 * @param encrypted whether what is on disk is
 */
public record DiskCacheSettings(
    Mode mode,
    Scope scope,
    List<Path> directories,
    String application,
    DiskCacheConfig limits,
    boolean encrypted) {

  private static final Pattern CONTAINER =
      Pattern.compile("container_(?:e\\d+_)?(\\d+)_(\\d+)_\\d+_\\d+");

  /**
   * @param conf with per-bucket overrides applied
   * @param bucket named in errors; null if not known
   * @throws IllegalArgumentException naming the key, the value and what is accepted
   */
  static DiskCacheSettings read(
      Configuration conf, @Nullable String bucket, ProcessEnvironment environment) {
    Mode mode = DiskCacheKeys.MODE.get(conf, bucket);
    Scope scope = DiskCacheKeys.SCOPE.get(conf, bucket);
    boolean encrypted = DiskCacheKeys.ENCRYPTION.get(conf, bucket) && mode != Mode.MEMORY;
    String application = "";
    if (scope == Scope.APP) {
      String named = DiskCacheKeys.APP_ID.get(conf, bucket);
      application = named.isEmpty() ? applicationOf(conf, environment) : named;
      // The client that submits a job reads the job's configuration and belongs to no application.
      scope = application.isEmpty() ? Scope.PRIVATE : Scope.APP;
    }
    return new DiskCacheSettings(
        mode,
        scope,
        DiskCacheKeys.DIRECTORIES.get(conf, bucket),
        application,
        limits(conf, bucket),
        encrypted);
  }

  private static String applicationOf(Configuration conf, ProcessEnvironment environment) {
    Matcher container = CONTAINER.matcher(environment.variable("CONTAINER_ID"));
    if (container.matches()) {
      return "application_" + container.group(1) + "_" + container.group(2);
    }
    String spark = conf.getTrimmed("spark.app.id", "");
    return spark.isEmpty() ? environment.property("spark.app.id") : spark;
  }

  private static DiskCacheConfig limits(Configuration conf, @Nullable String bucket) {
    return DiskCacheConfig.DEFAULTS.toBuilder()
        .capacityBytes(DiskCacheKeys.CAPACITY.get(conf, bucket))
        .hybridBytes(DiskCacheKeys.HYBRID_SIZE.get(conf, bucket))
        .build();
  }

  /** Whether anything may go to disk. */
  public boolean usesDisk() {
    return mode != Mode.MEMORY;
  }

  /**
   * The whole configuration.
   *
   * @param usable directories, one at least
   * @param key secret of what is on disk; null if that is not encrypted
   */
  public DiskCacheConfig in(List<Path> usable, @Nullable CacheKey key) {
    return limits.toBuilder()
        .mode(mode)
        .scope(scope)
        .application(application)
        .directories(usable)
        .key(key)
        .build();
  }
}
