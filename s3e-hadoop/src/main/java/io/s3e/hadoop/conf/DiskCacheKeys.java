// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.disk.DiskCacheConfig.Scope;
import java.nio.file.Path;
import java.util.List;

/** The settings of the cache on local disk; part of {@link S3EKeys#ALL}. */
public final class DiskCacheKeys {
  /** Name of the secret in scope host: never a {@link ConfigKey}, whose errors show values. */
  public static final String SECRET = S3EKeys.PREFIX + "cache.key";

  private static final DiskCacheConfig CORE = DiskCacheConfig.DEFAULTS;
  private static final long TIB = 1L << 40;

  public static final ConfigKey<Mode> MODE =
      ConfigKey.choice(
          "cache.mode",
          Mode.DISK,
          Mode.class,
          "Where bytes are kept that were fetched: `memory` in memory alone; `disk` on local disk"
              + " too, if they may be wanted again; `hybrid` on local disk those of the first"
              + " `fs.s3a.s3e.cache.hybrid.size` bytes of an object. Objects read with SSE-C or"
              + " encrypted in the client are never written to disk.");

  static final ConfigKey<Scope> SCOPE =
      ConfigKey.choice(
          "cache.scope",
          Scope.PRIVATE,
          Scope.class,
          "Who shares what is on disk: `private` this JVM alone, in files without a name, whose"
              + " space is free again when it ends, however it ends; `app` the processes of one"
              + " application on a host; `host` all processes of this user on a host, now and"
              + " later.");

  public static final ConfigKey<List<Path>> DIRECTORIES =
      new ConfigKey<>(
          S3EKeys.PREFIX + "cache.dirs",
          "paths",
          "",
          "absolute paths, separated by commas",
          "Directories on local disks; objects are spread over them. They must exist. Empty takes"
              + " the first that is set: YARN's `LOCAL_DIRS`, `SPARK_EXECUTOR_DIRS`,"
              + " `SPARK_LOCAL_DIRS`, `spark.local.dir`, `fs.s3a.buffer.dir`, `java.io.tmpdir`; in"
              + " scope `host`, whose files outlive applications, the environment variable"
              + " `XDG_CACHE_HOME`, else `.cache` in the user's home directory. Scopes `app` and"
              + " `host` make a directory of S3E's own in each, and share it where no other user"
              + " could exchange it, or it is encrypted: each directory on the way belongs to root"
              + " or to the user, and others may write it only where it has the sticky bit. A"
              + " directory that cannot be used is left out with a WARN line; without any the"
              + " cache is in memory only.",
          text -> {
            List<Path> paths = ConfigValues.paths(text);
            return ConfigKey.accepted(paths, paths.stream().allMatch(Path::isAbsolute));
          });

  public static final ConfigKey<Long> CAPACITY =
      bytes(
          "cache.capacity",
          CORE.capacityBytes(),
          0,
          1024 * TIB,
          "The most that the cache takes in each directory; all processes that share it together. 0"
              + " is automatic: 10 GiB, and at most 5 % of what is free when the cache is opened."
              + " Less than 16 MiB is no cache on disk. Whatever is set, the cache does not grow"
              + " while less than 15 % of the file system is free, and holds no more than a"
              + " sixteenth of the heap has room to index: 300 GiB for 4 GiB.");

  static final ConfigKey<Long> HYBRID_SIZE =
      bytes(
          "cache.hybrid.size",
          CORE.hybridBytes(),
          0,
          1024 * TIB,
          "In mode `hybrid`, the number of bytes from the front of an object that may go to disk.");

  static final ConfigKey<String> APP_ID =
      ConfigKey.text(
          "cache.app.id",
          "text",
          "a name",
          "The application whose processes share a cache in scope `app`. Empty takes it from YARN's"
              + " `CONTAINER_ID`, else from `spark.app.id`; a process that has neither, as the"
              + " client that submits a job, has a cache of its own.");

  public static final ConfigKey<Boolean> ENCRYPTION =
      ConfigKey.flag(
          "cache.encryption",
          false,
          "`true` encrypts what is on disk with AES-256-GCM. The secret of 32 bytes is in scope"
              + " `private` random and never leaves the JVM; in scope `app` it is the secret"
              + " `s3e.cache.key` of the application's Hadoop credentials, which"
              + " `io.s3e.hadoop.cache.CacheSecret.addTo(job.getCredentials())` puts there when the"
              + " job is submitted; in scope `host` it is `fs.s3a.s3e.cache.key`, in Base64, from"
              + " a credential provider. Never set that key in Spark's settings: the Environment"
              + " tab and event logs show it.");

  /** In the order of the documentation. */
  static final List<ConfigKey<?>> ALL =
      List.of(MODE, SCOPE, DIRECTORIES, CAPACITY, HYBRID_SIZE, APP_ID, ENCRYPTION);

  /** Places and limits of the one cache of a JVM; {@link S3EKeys#OF_THE_JVM}. */
  static final List<ConfigKey<?>> OF_THE_JVM =
      List.of(SCOPE, DIRECTORIES, CAPACITY, APP_ID, ENCRYPTION);

  private DiskCacheKeys() {}

  private static ConfigKey<Long> bytes(
      String name, long byDefault, long min, long max, String description) {
    return ConfigKey.size(name, byDefault, min, max, "", description);
  }
}
