package io.s3e.hadoop.conf;

import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.disk.DiskCacheConfig.Scope;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The settings of the cache on local disk; part of {@link S3EKeys#ALL}. */
public final class DiskCacheKeys {
  /** Name of the secret in scope host: never a {@link ConfigKey}, whose errors show values. */
  public static final String SECRET = S3EKeys.PREFIX + "cache.key";

  private static final DiskCacheConfig CORE = DiskCacheConfig.DEFAULTS;
  private static final long MIB = 1L << 20;
  private static final long GIB = 1L << 30;
  private static final long TIB = 1L << 40;

  static final ConfigKey<Mode> MODE =
      choice(
          "cache.mode",
          Mode.DISK,
          Mode.class,
          "Where blocks are kept that were read: `memory` nowhere else; `disk` those that leave"
              + " memory and may be wanted again go to local disk; `hybrid` so do those of the"
              + " first `fs.s3a.s3e.cache.hybrid.size` bytes of an object. Objects read with SSE-C"
              + " or encrypted in the client are never written to disk.");

  static final ConfigKey<Scope> SCOPE =
      choice(
          "cache.scope",
          Scope.PRIVATE,
          Scope.class,
          "Who shares what is on disk: `private` this JVM alone, and its files go when it"
              + " closes; `app` the processes of one application on a host; `host` all processes"
              + " of this user on a host, now and later.");

  public static final ConfigKey<List<Path>> DIRECTORIES =
      new ConfigKey<>(
          S3EKeys.PREFIX + "cache.dirs",
          "paths",
          "",
          "absolute paths, separated by commas",
          "Directories on local disks; blocks are spread over them, and S3E makes one of its own in"
              + " each. They must exist. Empty takes the first that is set: YARN's `LOCAL_DIRS`,"
              + " `SPARK_LOCAL_DIRS`, `spark.local.dir`, `fs.s3a.buffer.dir`, `java.io.tmpdir`; in"
              + " scope `host`, since YARN's directories go with their application,"
              + " `SPARK_LOCAL_DIRS`, `spark.local.dir`, `hadoop.tmp.dir`, `java.io.tmpdir`. One"
              + " that is missing or cannot be written is left out with a WARN line; without any"
              + " the cache is in memory only.",
          ConfigValues::paths,
          paths -> paths.stream().allMatch(Path::isAbsolute));

  static final ConfigKey<Long> CAPACITY =
      bytes(
          "cache.capacity",
          CORE.capacityBytes(),
          0,
          1024 * TIB,
          "The most that files may take in each directory. 0 leaves it to"
              + " `fs.s3a.s3e.cache.disk.share`, which bounds it in any case.");

  static final ConfigKey<Double> DISK_SHARE =
      new ConfigKey<>(
          S3EKeys.PREFIX + "cache.disk.share",
          "number",
          Double.toString(CORE.diskShare()),
          "a number above 0, at most 1",
          "The most that files may take in each directory, as a share of what is free on its file"
              + " system, the files themselves included; of space and of inodes.",
          Double::valueOf,
          value -> value > 0 && value <= 1);

  static final ConfigKey<Long> HYBRID_SIZE =
      bytes(
          "cache.hybrid.size",
          CORE.hybridBytes(),
          0,
          1024 * TIB,
          "In mode `hybrid`, how many bytes from the front of an object may go to disk.");

  static final ConfigKey<Long> WINDOW_BEFORE =
      bytes(
          "cache.window.before",
          CORE.windowBeforeBytes(),
          0,
          1024 * TIB,
          "A scan's blocks are not worth writing, unless they leave memory while their reader is no"
              + " farther ahead of them than this. Scope `private` only; the others write what they"
              + " fetch.");

  static final ConfigKey<Long> WINDOW_AFTER =
      bytes(
          "cache.window.after",
          CORE.windowAfterBytes(),
          0,
          1024 * TIB,
          "As `fs.s3a.s3e.cache.window.before`, for blocks that their reader has not come to yet,"
              + " so far ahead of it.");

  static final ConfigKey<Long> QUEUE_SIZE =
      bytes(
          "cache.queue.size",
          CORE.queueBytes(),
          MIB,
          GIB,
          "The most that waits to be written, over all directories; part of"
              + " `fs.s3a.s3e.memory.budget`, and at most a sixteenth of it. Bytes that come when"
              + " it is full are dropped; nobody waits for room.");

  static final ConfigKey<Duration> QUEUE_AGE =
      ConfigKey.duration(
          "cache.queue.age",
          CORE.queueAge(),
          Duration.ofMillis(10),
          Duration.ofHours(1),
          "Bytes that have waited longer to be written are dropped.");

  static final ConfigKey<Long> WRITE_RATE =
      bytes(
          "cache.write.rate",
          CORE.writeBytesPerSecond(),
          0,
          TIB,
          "Bytes a second that one JVM writes at most, to spare disks that others use too;"
              + " what is more is dropped. 0 sets no limit.");

  static final ConfigKey<Duration> READ_TIMEOUT =
      ConfigKey.duration(
          "cache.read.timeout",
          CORE.readDeadline(),
          Duration.ofMillis(1),
          Duration.ofMinutes(10),
          "A read of local disk that takes longer is left behind, and S3 asked.");

  static final ConfigKey<Duration> BREAKER_PAUSE =
      ConfigKey.duration(
          "cache.breaker.pause",
          CORE.breakerPause(),
          Duration.ofMillis(10),
          Duration.ofHours(1),
          "How long a directory that fails is left alone before it is tried again; doubles up to 32"
              + " times.");

  static final ConfigKey<String> APP_ID =
      new ConfigKey<>(
          S3EKeys.PREFIX + "cache.app.id",
          "text",
          "",
          "a name",
          "The application whose processes share files in scope `app`. Empty takes it from YARN's"
              + " `CONTAINER_ID`, else from `spark.app.id`; where neither is set, this has to be.",
          text -> text,
          value -> true);

  public static final ConfigKey<Boolean> ENCRYPTION =
      ConfigKey.flag(
          "cache.encryption",
          false,
          "`true` encrypts files with AES-256-GCM. The secret of 32 bytes is in scope `private`"
              + " random and never leaves the JVM; in scope `app` it is the secret `s3e.cache.key`"
              + " of the application's Hadoop credentials, which"
              + " `io.s3e.hadoop.cache.CacheSecret.addTo(job.getCredentials())` puts there when the"
              + " job is submitted; in scope `host` it is `fs.s3a.s3e.cache.key`, in Base64, best"
              + " from a credential provider.");

  /** In the order of the documentation. */
  static final List<ConfigKey<?>> ALL =
      List.of(
          MODE,
          SCOPE,
          DIRECTORIES,
          CAPACITY,
          DISK_SHARE,
          HYBRID_SIZE,
          WINDOW_BEFORE,
          WINDOW_AFTER,
          QUEUE_SIZE,
          QUEUE_AGE,
          WRITE_RATE,
          READ_TIMEOUT,
          BREAKER_PAUSE,
          APP_ID,
          ENCRYPTION);

  /** Places and limits of the one cache of a JVM; {@link S3EKeys#OF_THE_JVM}. */
  static final List<ConfigKey<?>> OF_THE_JVM =
      List.of(
          SCOPE,
          DIRECTORIES,
          CAPACITY,
          DISK_SHARE,
          QUEUE_SIZE,
          QUEUE_AGE,
          WRITE_RATE,
          READ_TIMEOUT,
          BREAKER_PAUSE,
          APP_ID,
          ENCRYPTION);

  private DiskCacheKeys() {}

  private static ConfigKey<Long> bytes(
      String name, long byDefault, long min, long max, String description) {
    return ConfigKey.size(name, byDefault, min, max, "", value -> true, description);
  }

  private static <E extends Enum<E>> ConfigKey<E> choice(
      String name, E byDefault, Class<E> choices, String description) {
    String accepted =
        Arrays.stream(choices.getEnumConstants())
            .map(each -> each.name().toLowerCase(Locale.ROOT))
            .collect(Collectors.joining(", "));
    return new ConfigKey<>(
        S3EKeys.PREFIX + name,
        "choice",
        byDefault.name().toLowerCase(Locale.ROOT),
        "one of " + accepted,
        description,
        text -> Enum.valueOf(choices, text.toUpperCase(Locale.ROOT)),
        choice -> true);
  }
}
