package io.s3e.hadoop.stats;

import io.s3e.metrics.Counters;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.EngineMetrics;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The table of statistics: each name among Hadoop's IOStatistics that reading by S3E fills, and
 * what it counts. Streams, file systems and docs/METRICS.md are made from it. Names are a promise:
 * they stay.
 *
 * <p>A row has one of three sources. Rows with a counter of the core are that counter, of one
 * stream ({@link StreamStatistics}) or of the engine ({@link FileSystemStatistics}). Rows under
 * S3A's names are kept in S3A's own counters, which the events of the core increment. Gauges are
 * asked of the engine.
 */
public enum ReadStatistic {
  // Requests, under S3A's names.
  STORE_IO_REQUEST(
      "store_io_request",
      Kind.COUNTER,
      Unit.COUNT,
      Of.FILE_SYSTEM,
      "Requests sent: all of S3A's, and all GETs of S3E's own client, retries included."),
  AUDIT_REQUEST_EXECUTION(
      "audit_request_execution",
      Kind.COUNTER,
      Unit.COUNT,
      Of.FILE_SYSTEM,
      "Requests made within an audit span. S3E's own client makes a request of each attempt; S3A's"
          + " client sends one request up to `fs.s3a.attempts.maximum` times. 0 with"
          + " `fs.s3a.audit.enabled=false`."),
  ACTION_HTTP_GET_REQUEST(
      "action_http_get_request",
      Kind.DURATION,
      Unit.COUNT,
      Of.BOTH,
      "GETs for the stream, those of prefetch and retries included, with how long they took."),
  STREAM_READ_OPENED(
      "stream_read_opened",
      Kind.COUNTER,
      Unit.COUNT,
      Of.BOTH,
      "The same GETs, counted when they are sent."),
  STREAM_READ_CLOSED(
      "stream_read_closed",
      Kind.COUNTER,
      Unit.COUNT,
      Of.BOTH,
      "GETs that ended by themselves, well or not; of the file system, without those that ended"
          + " after the close of their stream."),
  STREAM_ABORTED(
      "stream_aborted",
      Kind.COUNTER,
      Unit.COUNT,
      Of.BOTH,
      "GETs that S3E ended early, since nobody wanted their bytes any more."),
  STORE_IO_THROTTLED(
      "store_io_throttled",
      Kind.COUNTER,
      Unit.COUNT,
      Of.FILE_SYSTEM,
      "GETs that failed by 503, 429 or another word for slow down. With the client `s3a`, of the"
          + " attempts that S3A's client makes inside only the last counts; it counts the others in"
          + " `store_io_retry`."),
  STORE_IO_THROTTLE_RATE(
      "store_io_throttle_rate",
      Kind.QUANTILES,
      Unit.COUNT,
      Of.FILE_SYSTEM,
      "The same over time, in S3A's Hadoop metrics."),
  STORE_IO_RETRY(
      "store_io_retry",
      Kind.COUNTER,
      Unit.COUNT,
      Of.FILE_SYSTEM,
      "GETs sent again after a failure that is not throttling; those that S3A's client sends again"
          + " itself are added."),
  IGNORED_ERRORS(
      "ignored_errors",
      Kind.COUNTER,
      Unit.COUNT,
      Of.FILE_SYSTEM,
      "Failures that were followed by such a retry."),
  STREAM_READ_EXCEPTIONS(
      "stream_read_exceptions",
      Kind.COUNTER,
      Unit.COUNT,
      Of.BOTH,
      "Failures of GETs that were retried, and of reads."),

  // Bytes, under S3A's names.
  STREAM_READ_BYTES(
      "stream_read_bytes",
      Kind.COUNTER,
      Unit.BYTES,
      Of.BOTH,
      "Bytes given to the application, each once. Hadoop's `FileSystem.Statistics` counts the same"
          + " on the thread that reads, for a vectored read when it is submitted."),
  STREAM_READ_TOTAL_BYTES(
      "stream_read_total_bytes",
      Kind.COUNTER,
      Unit.BYTES,
      Of.BOTH,
      "The same, and the bytes discarded in close."),
  STREAM_READ_PREFETCHED_BYTES(
      "stream_read_prefetched_bytes",
      Kind.COUNTER,
      Unit.BYTES,
      Of.BOTH,
      "As `s3e_prefetched_bytes`, where this Hadoop has the name."),
  STREAM_READ_BYTES_DISCARDED_IN_CLOSE(
      "stream_read_bytes_discarded_in_close",
      Kind.COUNTER,
      Unit.BYTES,
      Of.BOTH,
      "As `s3e_prefetch_wasted_bytes`, up to the close of the stream."),
  STREAM_READ_BYTES_DISCARDED_IN_ABORT(
      "stream_read_bytes_discarded_in_abort",
      Kind.COUNTER,
      Unit.BYTES,
      Of.BOTH,
      "Bytes that aborted GETs had not brought yet."),
  STREAM_READ_VECTORED_INCOMING_RANGES(
      "stream_read_vectored_incoming_ranges",
      Kind.COUNTER,
      Unit.COUNT,
      Of.BOTH,
      "Ranges that vectored reads asked for."),
  STREAM_READ_VECTORED_COMBINED_RANGES(
      "stream_read_vectored_combined_ranges",
      Kind.COUNTER,
      Unit.COUNT,
      Of.BOTH,
      "Reads that they were joined into. Ranges in the same or adjacent blocks are one read; others"
          + " are by distance. Nothing is discarded between them: it stays in memory."),

  // Prefetch and memory, under S3A's names.
  STREAM_READ_PREFETCH_OPERATIONS(
      "stream_read_prefetch_operations",
      Kind.DURATION,
      Unit.COUNT,
      Of.STREAM,
      "GETs that nobody waited for when they were sent, with how long they took."),
  STREAM_READ_ACTIVE_PREFETCH_OPERATIONS(
      "stream_read_active_prefetch_operations",
      Kind.GAUGE,
      Unit.COUNT,
      Of.STREAM,
      "Those under way."),
  STREAM_READ_CACHE_HIT(
      "stream_read_cache_hit",
      Kind.COUNTER,
      Unit.COUNT,
      Of.BOTH,
      "As `s3e_memory_hits`, where this Hadoop has the name."),
  STREAM_READ_ACTIVE_MEMORY_IN_USE(
      "stream_read_active_memory_in_use",
      Kind.GAUGE,
      Unit.BYTES,
      Of.FILE_SYSTEM,
      "Memory that the engine of the file system holds now of the JVM's budget: its client's and"
          + " its pool's. Streams share it and hold none of their own."),

  // The core's counters.
  GETS(EngineMetrics.Counter.GETS, "s3e_gets", Unit.COUNT, Of.BOTH, "GETs sent, retries included."),
  PREFETCH_GETS(
      EngineMetrics.Counter.PREFETCH_GETS,
      "s3e_prefetch_gets",
      Unit.COUNT,
      Of.BOTH,
      "Those of them that nobody waited for when they were sent."),
  RETRIES(
      EngineMetrics.Counter.RETRIES,
      "s3e_get_retries",
      Unit.COUNT,
      Of.BOTH,
      "GETs sent again after a failure of any kind."),
  THROTTLED(
      EngineMetrics.Counter.THROTTLED,
      "s3e_gets_throttled",
      Unit.COUNT,
      Of.BOTH,
      "GETs that failed by 503, 429 or another word for slow down."),
  FAILURES(
      EngineMetrics.Counter.FAILURES,
      "s3e_fetch_failures",
      Unit.COUNT,
      Of.FILE_SYSTEM,
      "Fetches that failed for good while a reader wanted them."),
  FETCHED_BYTES(
      EngineMetrics.Counter.FETCHED_BYTES,
      "s3e_fetched_bytes",
      Unit.BYTES,
      Of.BOTH,
      "Bytes of bodies received from S3, for reads and for prefetch."),
  DISCARDED_BYTES(
      EngineMetrics.Counter.DISCARDED_BYTES,
      "s3e_discarded_bytes",
      Unit.BYTES,
      Of.BOTH,
      "Bytes received of blocks that never became whole, since their GETs failed or were ended."),
  PREFETCHED_BYTES(
      EngineMetrics.Counter.PREFETCHED_BYTES,
      "s3e_prefetched_bytes",
      Unit.BYTES,
      Of.BOTH,
      "Bytes of whole blocks that prefetches brought, from S3 or local disk: used, wasted, or held"
          + " unread in memory."),
  PREFETCH_USED_BYTES(
      EngineMetrics.Counter.PREFETCH_USED_BYTES,
      "s3e_prefetch_used_bytes",
      Unit.BYTES,
      Of.BOTH,
      "The part of those bytes: the bytes of blocks that somebody read."),
  PREFETCH_WASTED_BYTES(
      EngineMetrics.Counter.PREFETCH_WASTED_BYTES,
      "s3e_prefetch_wasted_bytes",
      Unit.BYTES,
      Of.BOTH,
      "The part of those bytes: the bytes of blocks that were given up or dropped unread."),
  PREFETCH_REFUSED(
      EngineMetrics.Counter.PREFETCH_REFUSED,
      "s3e_prefetch_refused",
      Unit.COUNT,
      Of.BOTH,
      "Prefetches that memory, concurrency or the local disk refused."),
  MEMORY_HITS(
      EngineMetrics.Counter.MEMORY_HITS,
      "s3e_memory_hits",
      Unit.COUNT,
      Of.BOTH,
      "Blocks found in memory when a reader came to them."),
  WAITS(
      EngineMetrics.Counter.WAITS,
      "s3e_read_waits",
      Unit.COUNT,
      Of.BOTH,
      "Times that a reader waited for a block."),
  WAIT_NANOS(
      EngineMetrics.Counter.WAIT_NANOS,
      "s3e_read_wait_nanos",
      Unit.NANOS,
      Of.BOTH,
      "How long they waited in all."),
  CLIENT_FALLBACK(
      "s3e_client_fallback",
      Kind.COUNTER,
      Unit.COUNT,
      Of.FILE_SYSTEM,
      "Times that reading went from S3E's own client over to S3A's."),
  PREFETCH_HELD_BYTES(
      "s3e_prefetch_held_bytes",
      Kind.GAUGE,
      Unit.BYTES,
      Of.FILE_SYSTEM,
      "Prefetched bytes in memory that nobody has read yet."),

  // The cache on local disk.
  CACHE_HITS(
      DiskMetrics.Counter.HITS, Unit.COUNT, Of.BOTH, "Reads that local disk answered in full."),
  CACHE_HIT_BYTES(
      DiskMetrics.Counter.HIT_BYTES,
      Unit.BYTES,
      Of.BOTH,
      "Bytes that came from local disk in place of a GET."),
  CACHE_MISSES(
      DiskMetrics.Counter.MISSES,
      Unit.COUNT,
      Of.BOTH,
      "Reads that were looked for on disk and went to S3."),
  CACHE_MISS_BYTES(
      DiskMetrics.Counter.MISS_BYTES, Unit.BYTES, Of.BOTH, "Bytes that those asked of S3."),
  CACHE_WRITES(DiskMetrics.Counter.WRITES, Unit.COUNT, Of.FILE_SYSTEM, "Files written."),
  CACHE_WRITTEN_BYTES(
      DiskMetrics.Counter.WRITTEN_BYTES,
      Unit.BYTES,
      Of.FILE_SYSTEM,
      "Bytes of object data in them."),
  CACHE_DROPPED_FULL_BYTES(
      DiskMetrics.Counter.DROPPED_FULL_BYTES,
      Unit.BYTES,
      Of.FILE_SYSTEM,
      "Bytes not written because the queue was full."),
  CACHE_DROPPED_AGED_BYTES(
      DiskMetrics.Counter.DROPPED_AGED_BYTES,
      Unit.BYTES,
      Of.FILE_SYSTEM,
      "Bytes not written because they had waited too long."),
  CACHE_DROPPED_RATE_BYTES(
      DiskMetrics.Counter.DROPPED_RATE_BYTES,
      Unit.BYTES,
      Of.FILE_SYSTEM,
      "Bytes not written because of `fs.s3a.s3e.cache.write.rate`."),
  CACHE_DROPPED_SPACE_BYTES(
      DiskMetrics.Counter.DROPPED_SPACE_BYTES,
      Unit.BYTES,
      Of.FILE_SYSTEM,
      "Bytes not written because there was no space for them."),
  CACHE_DROPPED_FAULT_BYTES(
      DiskMetrics.Counter.DROPPED_FAULT_BYTES,
      Unit.BYTES,
      Of.FILE_SYSTEM,
      "Bytes not written because writing failed lately."),
  CACHE_NOT_ADMITTED_BYTES(
      DiskMetrics.Counter.NOT_ADMITTED_BYTES,
      Unit.BYTES,
      Of.FILE_SYSTEM,
      "Bytes that admission did not find worth writing."),
  CACHE_CORRUPTIONS(
      DiskMetrics.Counter.CORRUPTIONS,
      Unit.COUNT,
      Of.FILE_SYSTEM,
      "Files that were not what they should be, and were deleted."),
  CACHE_READ_ERRORS(
      DiskMetrics.Counter.READ_ERRORS,
      Unit.COUNT,
      Of.FILE_SYSTEM,
      "Operations of reading that failed."),
  CACHE_WRITE_ERRORS(
      DiskMetrics.Counter.WRITE_ERRORS,
      Unit.COUNT,
      Of.FILE_SYSTEM,
      "Operations of writing that failed."),
  CACHE_TIMEOUTS(
      DiskMetrics.Counter.TIMEOUTS,
      Unit.COUNT,
      Of.FILE_SYSTEM,
      "Reads left behind because they passed `fs.s3a.s3e.cache.read.timeout`."),
  CACHE_EVICTIONS(
      DiskMetrics.Counter.EVICTIONS, Unit.COUNT, Of.FILE_SYSTEM, "Files deleted to make room."),
  CACHE_EVICTED_BYTES(
      DiskMetrics.Counter.EVICTED_BYTES,
      Unit.BYTES,
      Of.FILE_SYSTEM,
      "Bytes that those took on disk."),
  CACHE_CLAIM_WAITS(
      DiskMetrics.Counter.CLAIM_WAITS,
      Unit.COUNT,
      Of.FILE_SYSTEM,
      "Reads that waited for another process to fetch the same bytes."),
  CACHE_CLAIM_TIMEOUTS(
      DiskMetrics.Counter.CLAIM_TIMEOUTS,
      Unit.COUNT,
      Of.FILE_SYSTEM,
      "The part of those that did not get them in time."),
  CACHE_BREAKER_OPENED(
      DiskMetrics.Counter.BREAKER_OPENED,
      Unit.COUNT,
      Of.FILE_SYSTEM,
      "Times that reading from a directory, or writing to it, was given up after failures."),
  CACHE_BREAKERS_OPEN(
      DiskMetrics.Counter.BREAKERS_OPEN,
      Unit.COUNT,
      Of.FILE_SYSTEM,
      "How many of those are given up now."),
  CACHE_BYTES(
      "s3e_cache_bytes",
      Kind.GAUGE,
      Unit.BYTES,
      Of.FILE_SYSTEM,
      "Bytes that the cache takes on disk."),
  CACHE_SHADOW_ACCESSED_BYTES(
      "s3e_cache_shadow_accessed_bytes",
      Kind.GAUGE,
      Unit.BYTES,
      Of.FILE_SYSTEM,
      "Bytes that the estimate of other cache sizes has seen."),
  CACHE_SHADOW_HIT_BYTES_1X(
      "s3e_cache_shadow_hit_bytes_1x",
      Kind.GAUGE,
      Unit.BYTES,
      Of.FILE_SYSTEM,
      "The part of those bytes: the bytes that a cache of the present size would have had."),
  CACHE_SHADOW_HIT_BYTES_2X(
      "s3e_cache_shadow_hit_bytes_2x",
      Kind.GAUGE,
      Unit.BYTES,
      Of.FILE_SYSTEM,
      "The same with twice the size."),
  CACHE_SHADOW_HIT_BYTES_4X(
      "s3e_cache_shadow_hit_bytes_4x",
      Kind.GAUGE,
      Unit.BYTES,
      Of.FILE_SYSTEM,
      "The same with four times the size."),
  CACHE_SHADOW_HIT_BYTES_8X(
      "s3e_cache_shadow_hit_bytes_8x",
      Kind.GAUGE,
      Unit.BYTES,
      Of.FILE_SYSTEM,
      "The same with eight times the size.");

  /** How Hadoop keeps a statistic. */
  enum Kind {
    COUNTER,
    GAUGE,
    /** A counter, and minimum, mean and maximum of a time in ms. */
    DURATION,
    /** In Hadoop's metrics and not among IOStatistics. */
    QUANTILES
  }

  enum Unit {
    COUNT,
    BYTES,
    NANOS
  }

  /** Whose statistic it is. */
  enum Of {
    STREAM,
    FILE_SYSTEM,
    /** The stream's, and the file system's as a sum. */
    BOTH
  }

  private static final Set<ReadStatistic> COUNTERS = EnumSet.noneOf(ReadStatistic.class);

  static {
    for (ReadStatistic statistic : values()) {
      boolean counted = statistic.engine != null || statistic.disk != null;
      if (counted && statistic.kind == Kind.COUNTER) {
        COUNTERS.add(statistic);
      }
    }
  }

  private final String symbol;
  private final Kind kind;
  private final Unit unit;
  private final Of of;
  private final String meaning;
  private final EngineMetrics.@Nullable Counter engine;
  private final DiskMetrics.@Nullable Counter disk;

  ReadStatistic(String symbol, Kind kind, Unit unit, Of of, String meaning) {
    this(symbol, kind, unit, of, meaning, null, null);
  }

  ReadStatistic(EngineMetrics.Counter engine, String symbol, Unit unit, Of of, String meaning) {
    this(symbol, Kind.COUNTER, unit, of, meaning, engine, null);
  }

  ReadStatistic(DiskMetrics.Counter disk, Unit unit, Of of, String meaning) {
    this(
        "s3e_cache_" + disk.name().toLowerCase(Locale.ROOT),
        disk == DiskMetrics.Counter.BREAKERS_OPEN ? Kind.GAUGE : Kind.COUNTER,
        unit,
        of,
        meaning,
        null,
        disk);
  }

  ReadStatistic(
      String symbol,
      Kind kind,
      Unit unit,
      Of of,
      String meaning,
      EngineMetrics.@Nullable Counter engine,
      DiskMetrics.@Nullable Counter disk) {
    this.symbol = symbol;
    this.kind = kind;
    this.unit = unit;
    this.of = of;
    this.meaning = meaning;
    this.engine = engine;
    this.disk = disk;
  }

  /** The name among Hadoop's statistics. */
  public String symbol() {
    return symbol;
  }

  Kind kind() {
    return kind;
  }

  Unit unit() {
    return unit;
  }

  Of of() {
    return of;
  }

  String meaning() {
    return meaning;
  }

  /** The core's counters of a stream, by name, as they are now. */
  static Map<String, Long> ofStream(
      Counters<EngineMetrics.Counter> engine, Counters<DiskMetrics.Counter> disk) {
    return counters(engine, disk, Of.FILE_SYSTEM);
  }

  /** The core's counters of a file system, by name, as they are now. */
  static Map<String, Long> ofFileSystem(EngineMetrics metrics) {
    return counters(metrics, metrics.disk(), Of.STREAM);
  }

  private static Map<String, Long> counters(
      Counters<EngineMetrics.Counter> engine, Counters<DiskMetrics.Counter> disk, Of others) {
    Map<String, Long> now = new TreeMap<>();
    for (ReadStatistic statistic : COUNTERS) {
      if (statistic.of != others) {
        now.put(
            statistic.symbol,
            statistic.engine != null
                ? engine.get(statistic.engine)
                : disk.get(Objects.requireNonNull(statistic.disk)));
      }
    }
    return now;
  }
}
