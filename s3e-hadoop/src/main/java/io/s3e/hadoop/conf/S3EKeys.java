// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import io.s3e.S3EConfig;
import io.s3e.columnar.ColumnarMode;
import java.time.Duration;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/**
 * Every setting of S3E under Hadoop: names, defaults, ranges and descriptions stand here and, for
 * the cache on disk and histories, in {@link DiskCacheKeys} and {@link HistoryKeys}, nowhere else.
 * docs/CONFIGURATION.md is generated from {@link #ALL} by ConfigurationReference. {@link
 * S3ADefault} has the defaults that follow from S3A's keys.
 *
 * <p>S3A applies per-bucket overrides only to names that begin with {@code fs.s3a.}.
 */
public final class S3EKeys {
  public static final String PREFIX = "fs.s3a.s3e.";

  /** Path capability of a file system whose streams are S3E's. */
  public static final String CAPABILITY = "fs.s3a.s3e";

  private static final S3EConfig CORE = S3EConfig.DEFAULTS;
  private static final long KIB = 1L << 10;
  private static final long MIB = 1L << 20;
  private static final long GIB = 1L << 30;
  private static final Duration MAX_READ = Duration.ofHours(24);

  public static final ConfigKey<Boolean> ENABLED =
      ConfigKey.flag(
          "enabled",
          true,
          "`false` reads with S3A's own stream, as `fs.s3a.input.stream.type` and its default"
              + " choose it. Useful for one bucket: `fs.s3a.bucket.NAME.s3e.enabled`.");

  public static final ConfigKey<ClientChoice> CLIENT =
      ConfigKey.choice(
          "client",
          ClientChoice.AUTO,
          ClientChoice.class,
          " (sdk-sync and sdk-async are gone: s3a reads by S3A's client of the SDK)",
          "Which HTTP client fetches: `auto` the fastest that can serve this bucket; `crt` the AWS"
              + " Common Runtime with buffers that are not copied; `s3a` the client that S3A made."
              + " Requests that `crt` cannot carry are read by `s3a`, and an INFO line says why."
              + " `auto` also goes back to `s3a`, with a WARN line, where the fast client cannot be"
              + " made or does not reach the store while S3A's does; `crt` fails then, but where"
              + " its part of the memory budget is under two blocks: `s3a` reads there, with a WARN"
              + " line. A store that sends no ETags cannot be read by `crt`: choose `auto`.");

  static final ConfigKey<Long> BLOCK_SIZE =
      ConfigKey.size(
          "block.size",
          CORE.blockBytes(),
          64 * KIB,
          64 * MIB,
          "a power of two",
          S3EKeys::powerOfTwo,
          "Unit of memory and hand-over: a byte can be read as soon as its block is complete.");

  static final ConfigKey<Long> REQUEST_SIZE =
      ConfigKey.size(
          "request.size",
          CORE.requestBytes(),
          64 * KIB,
          GIB,
          "at least `fs.s3a.s3e.block.size`",
          "The longest GET. Adjacent missing blocks are fetched together up to this length. The"
              + " client `crt` cuts its memory into 32 slots if it can, and into more of 4 MiB"
              + " until each connection has one, so that its GETs are shorter at most budgets: 4"
              + " MiB at 256M, 1.9 MiB at 128M. At 1G they are of 8 MiB. It sends none of more than"
              + " 64M. Buckets that share its connections share that memory, as the one that is"
              + " read first has it cut: give all of them one size.");

  public static final ConfigKey<Long> MEMORY_BUDGET =
      ConfigKey.size(
          "memory.budget",
          CORE.memoryBytes(),
          0,
          1024 * GIB,
          "0 or at least two blocks",
          "Hard limit of direct and native memory for object data, over the whole JVM: cached"
              + " blocks, prefetched blocks and requests in flight. 0 takes an eighth of the heap"
              + " limit, at least 64M and at most 256M; beyond 8G of heap a 32nd of it, at most 20M"
              + " for each Gbit/s of `fs.s3a.s3e.throughput.target.gbps`. At most half of the JVM's"
              + " direct memory (`-XX:MaxDirectMemorySize`) applies. Direct memory counts against"
              + " `spark.executor.memoryOverhead`.");

  static final ConfigKey<Boolean> PREFETCH =
      ConfigKey.flag(
          "prefetch.enabled", CORE.prefetch(), "`false` fetches only what is asked for.");

  static final ConfigKey<Long> PREFETCH_WINDOW_MAX =
      ConfigKey.size(
          "prefetch.window.max",
          CORE.maxWindowBytes(),
          0,
          64 * GIB,
          "0 or at least block.size",
          "The farthest that prefetch runs ahead of one reader. 0 leaves it to the memory budget,"
              + " which the readers of the last second share, and to 64 of the longest GETs.");

  static final ConfigKey<ColumnarMode> COLUMNAR =
      ConfigKey.choice(
          "columnar",
          CORE.columnar(),
          ColumnarMode.class,
          "Prefetch in Parquet and ORC files by what their footers say: the end of the file at the"
              + " first read there, the wanted columns of the row groups or stripes that follow,"
              + " and dictionaries, Bloom filters and indexes where they are read. `auto` fetches"
              + " them; `observe` fetches as for other files, and counts what `auto` would have"
              + " fetched in the statistics `s3e_columnar_*`; `off` looks into no file. Without"
              + " `fs.s3a.s3e.prefetch.enabled` it is off.");

  static final ConfigKey<Duration> READ_TIMEOUT =
      ConfigKey.duration(
              "read.timeout",
              CORE.readTimeout(),
              Duration.ofSeconds(1),
              MAX_READ,
              "A read fails when none of its blocks has come for so long, however often its GETs"
                  + " were sent again meanwhile.")
          .orFromS3A(S3ADefault.read(CORE.readTimeout(), MAX_READ));

  static final ConfigKey<Duration> ACCESS_AGE_MAX =
      ConfigKey.duration(
          "access.age.max",
          CORE.accessMaxAge(),
          Duration.ZERO,
          Duration.ofHours(1),
          "How long S3's answer to a GET of a file system's own allows it to serve bytes of that"
              + " version that are in memory or on local disk, to streams that are open as well."
              + " Then, and when the file system's credentials have changed as far as its client"
              + " knows, the next read sends a GET, which S3 may refuse. `0` has each opening send"
              + " a GET before it is served such bytes; what the stream has asked for counts for 15"
              + " minutes then.");

  static final ConfigKey<OptionalDouble> THROUGHPUT_TARGET =
      new ConfigKey<>(
          PREFIX + "throughput.target.gbps",
          "number",
          "auto",
          "auto or a number from 0.1 to 1000",
          "Throughput in Gbit/s that one JVM is to reach; `auto` takes one for each processor, at"
              + " least 25 and at most 100. The defaults of the memory budget, of connections and"
              + " of network threads follow it: docs/SCALING.md. S3E allows one connection for each"
              + " 0.4 Gbit/s, at least 64; the `crt` client opens as many of them as the target"
              + " needs, at least 10.",
          text -> text.equals("auto") ? OptionalDouble.empty() : OptionalDouble.of(gigabits(text)));

  public static final ConfigKey<String> TLS_CA_FILE =
      ConfigKey.text(
          "tls.ca.file",
          "path",
          "a path",
          "PEM file of the certificates that the client `crt` trusts, in place of what the JVM"
              + " trusts: `javax.net.ssl.trustStore`, else the JDK's `jssecacerts` or `cacerts`."
              + " S3A's own client, which lists and writes, does not read it. A file that cannot be"
              + " read is found at the first read: `auto` reads by `s3a` then, with a WARN, and"
              + " `crt` fails. The doctor looks at it.");

  public static final ConfigKey<ExplainSetting> EXPLAIN =
      new ConfigKey<>(
          PREFIX + "explain",
          "choice",
          "recent",
          "off, recent, all, spans or an absolute path",
          "What is kept of GETs: why each was sent, for whom, how long it took, and what became of"
              + " its bytes. `recent` keeps the latest 4,096 in memory, for JMX, `s3e explain"
              + " --pid` and the errors of reads; `off` keeps none; `all` also writes a line of"
              + " JSON for each to files `s3e-gets-*.jsonl` in `java.io.tmpdir`; an absolute path"
              + " does so in that directory. An engine has at most 8 files of 16 MiB, which their"
              + " owner alone may read; the oldest goes first. Reads neither wait for them nor fail"
              + " by them: lines are dropped, and counted, where the disk is too slow or full."
              + " `spans` is `recent`, and makes each a span by the application's OpenTelemetry,"
              + " where its API is on the class path. See docs/TROUBLESHOOTING.md and"
              + " docs/EXPLAIN.md.",
          text -> {
            ExplainSetting setting = ExplainSetting.parse(text);
            return ConfigKey.accepted(setting, setting.isPossible());
          });

  private static final List<ConfigKey<?>> READING =
      List.of(
          ENABLED,
          CLIENT,
          BLOCK_SIZE,
          REQUEST_SIZE,
          MEMORY_BUDGET,
          PREFETCH,
          PREFETCH_WINDOW_MAX,
          COLUMNAR,
          READ_TIMEOUT,
          ACCESS_AGE_MAX,
          THROUGHPUT_TARGET,
          TLS_CA_FILE,
          EXPLAIN);

  /** In the order of the documentation. */
  static final List<ConfigKey<?>> ALL =
      Stream.of(READING, DiskCacheKeys.ALL, HistoryKeys.ALL)
          .<ConfigKey<?>>flatMap(List::stream)
          .toList();

  /**
   * Settings of what all file systems of a JVM have in common: the value of the first one that
   * reads stands until the last one has closed.
   */
  static final List<ConfigKey<?>> OF_THE_JVM =
      Stream.of(List.of(BLOCK_SIZE, MEMORY_BUDGET, EXPLAIN), DiskCacheKeys.OF_THE_JVM)
          .<ConfigKey<?>>flatMap(List::stream)
          .toList();

  private S3EKeys() {}

  private static long powerOfTwo(String text) {
    long value = ConfigValues.size(text);
    return ConfigKey.accepted(value, Long.bitCount(value) == 1);
  }

  private static double gigabits(String text) {
    double value = Double.parseDouble(text);
    return ConfigKey.accepted(value, value >= 0.1 && value <= 1000);
  }
}
