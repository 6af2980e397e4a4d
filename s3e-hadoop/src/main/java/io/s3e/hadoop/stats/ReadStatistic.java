// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stats;

import static io.s3e.hadoop.stats.ReadStatistic.Kind.DURATION;
import static io.s3e.hadoop.stats.ReadStatistic.Kind.GAUGE;
import static io.s3e.hadoop.stats.ReadStatistic.Kind.QUANTILES;
import static io.s3e.hadoop.stats.ReadStatistic.Of.BOTH;
import static io.s3e.hadoop.stats.ReadStatistic.Of.FILE_SYSTEM;
import static io.s3e.hadoop.stats.ReadStatistic.Of.STREAM;
import static io.s3e.hadoop.stats.ReadStatistic.Unit.BYTES;
import static io.s3e.hadoop.stats.ReadStatistic.Unit.COUNT;
import static io.s3e.hadoop.stats.ReadStatistic.Unit.NANOS;

import io.s3e.metrics.Counters;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The table of statistics: each name among Hadoop's IOStatistics that reading by S3E fills, and
 * what it counts. Streams, file systems and docs/METRICS.md are made from it. A constant is the
 * name in capitals. Names are a promise: they stay.
 *
 * <p>A row has one of three sources. Rows with a counter of the core are that counter, of one
 * stream ({@link StreamStatistics}) or of the engine ({@link FileSystemStatistics}). Rows under
 * S3A's names are kept in S3A's own counters, which the events of the core increment. Gauges are
 * asked of the engine.
 */
public enum ReadStatistic {
  // Requests, under S3A's names.
  STORE_IO_REQUEST(
      COUNT,
      FILE_SYSTEM,
      "Requests sent: all of S3A's, and all GETs of S3E's own client, retries included."),
  AUDIT_REQUEST_EXECUTION(
      COUNT,
      FILE_SYSTEM,
      "Requests made within an audit span. S3E's own client makes a request of each attempt; S3A's"
          + " client sends one request up to `fs.s3a.attempts.maximum` times. 0 with"
          + " `fs.s3a.audit.enabled=false`."),
  ACTION_HTTP_GET_REQUEST(
      DURATION,
      COUNT,
      BOTH,
      "GETs for the stream that went out, those of prefetch and retries included, as `s3e_gets`,"
          + " with how long they took. GETs that S3E ended early are no failures."),
  STREAM_READ_OPENED(COUNT, BOTH, "The same GETs."),
  STREAM_READ_CLOSED(COUNT, BOTH, "Those of them that ended by themselves, well or not."),
  STREAM_ABORTED(
      COUNT, BOTH, "Those of them that S3E ended early, since nobody wanted their bytes any more."),
  STORE_IO_THROTTLED(
      COUNT,
      FILE_SYSTEM,
      "GETs that failed by 503, 429 or another word for slow down. With the client `s3a`, of the"
          + " attempts that S3A's client makes inside only the last counts; it counts the others in"
          + " `store_io_retry`."),
  STORE_IO_THROTTLE_RATE(
      QUANTILES, COUNT, FILE_SYSTEM, "The same over time, in S3A's Hadoop metrics."),
  STORE_IO_RETRY(
      COUNT,
      FILE_SYSTEM,
      "GETs sent again after a failure that is not throttling; those that S3A's client sends again"
          + " itself are added."),
  IGNORED_ERRORS(COUNT, FILE_SYSTEM, "Failures that were followed by such a retry."),
  STREAM_READ_EXCEPTIONS(COUNT, BOTH, "Failures of GETs that were retried, and of reads."),

  // Calls, under S3A's names.
  STREAM_READ_OPERATIONS(
      COUNT,
      BOTH,
      "Reads of more than a byte, one for each call, `readFully` at a position included. S3A's"
          + " stream may take several for such a call, by what a socket has."),
  STREAM_READ_SEEK_OPERATIONS(
      COUNT,
      BOTH,
      "Seeks that a read followed. A positioned read is none; S3A's stream counts its way there"
          + " and back."),

  // Bytes, under S3A's names.
  STREAM_READ_BYTES(
      BYTES,
      BOTH,
      "Bytes given to the application, each once. Hadoop's `FileSystem.Statistics` counts the same"
          + " on the thread that reads, for a vectored read when it is submitted."),
  STREAM_READ_TOTAL_BYTES(BYTES, BOTH, "The same, and the bytes discarded."),
  STREAM_READ_PREFETCHED_BYTES(
      BYTES, BOTH, "As `s3e_prefetched_bytes`, where this Hadoop has the name."),
  STREAM_READ_BYTES_DISCARDED_IN_CLOSE(BYTES, BOTH, "As `s3e_wasted_bytes`."),
  STREAM_READ_BYTES_DISCARDED_IN_ABORT(BYTES, BOTH, "Bytes that aborted GETs had not brought yet."),
  STREAM_READ_VECTORED_INCOMING_RANGES(COUNT, BOTH, "Ranges that vectored reads asked for."),
  STREAM_READ_VECTORED_COMBINED_RANGES(
      COUNT,
      BOTH,
      "Reads that they were joined into. Ranges in the same or adjacent blocks are one read; others"
          + " are by distance. Nothing is discarded between them: it stays in memory."),

  // Prefetch and memory, under S3A's names.
  STREAM_READ_PREFETCH_OPERATIONS(
      DURATION,
      COUNT,
      STREAM,
      "GETs of prefetch that were given to the client, with how long they took; those that were"
          + " ended before they went out are not in `s3e_prefetch_gets`."),
  STREAM_READ_ACTIVE_PREFETCH_OPERATIONS(GAUGE, COUNT, STREAM, "Those under way."),
  STREAM_READ_CACHE_HIT(COUNT, BOTH, "As `s3e_memory_hits`, where this Hadoop has the name."),
  STREAM_READ_ACTIVE_MEMORY_IN_USE(
      GAUGE,
      BYTES,
      FILE_SYSTEM,
      "Memory that the engine of the file system holds now of the JVM's budget: its client's and"
          + " its pool's. Streams share it and hold none of their own."),

  // The core's counters.
  S3E_GETS(
      Counter.GETS,
      COUNT,
      BOTH,
      "GETs that went out to the store, retries included, those of the AWS CRT's own among them."
          + " With the CRT a GET is counted when its answer begins or when it has ended."),
  S3E_PREFETCH_GETS(
      Counter.PREFETCH_GETS,
      COUNT,
      BOTH,
      "Those of them that nobody waited for when they were sent."),
  S3E_GET_RETRIES(Counter.RETRIES, COUNT, BOTH, "GETs sent again after a failure of any kind."),
  S3E_HEDGES(
      Counter.HEDGES,
      COUNT,
      BOTH,
      "GETs sent beside one that was late for its reader, for the same bytes."),
  S3E_HEDGES_WON(Counter.HEDGES_WON, COUNT, FILE_SYSTEM, "Those of them whose bytes came first."),
  S3E_GETS_THROTTLED(
      Counter.THROTTLED,
      COUNT,
      BOTH,
      "GETs that failed by 503, 429 or another word for slow down."),
  S3E_FETCH_FAILURES(
      Counter.FAILURES,
      COUNT,
      FILE_SYSTEM,
      "Fetches that failed for good while a reader wanted them."),
  S3E_FETCHED_BYTES(
      Counter.FETCHED_BYTES,
      BYTES,
      BOTH,
      "Bytes of bodies received from S3, for reads and for prefetch."),
  S3E_DISCARDED_BYTES(
      Counter.DISCARDED_BYTES,
      BYTES,
      BOTH,
      "Bytes received of blocks that never became whole, since their GETs failed or were ended, and"
          + " bytes that came twice."),
  S3E_USED_BYTES(
      Counter.USED_BYTES,
      BYTES,
      BOTH,
      "The part of the bytes that came, from S3 or local disk, that was of use: whole blocks of"
          + " which somebody read anything, the stream itself or another one, and what readers took"
          + " from local disk themselves."),
  S3E_WASTED_BYTES(
      Counter.WASTED_BYTES,
      BYTES,
      BOTH,
      "The part of them that was of no use: blocks that left memory before anybody read them, and"
          + " the discarded bytes."),
  S3E_PREFETCHED_BYTES(
      Counter.PREFETCHED_BYTES,
      BYTES,
      BOTH,
      "Bytes of whole blocks that prefetches brought from S3: used, wasted, or held unread in"
          + " memory."),
  S3E_PREFETCH_USED_BYTES(
      Counter.PREFETCH_USED_BYTES,
      BYTES,
      BOTH,
      "The part of those bytes: the bytes of blocks that somebody read."),
  S3E_PREFETCH_WASTED_BYTES(
      Counter.PREFETCH_WASTED_BYTES,
      BYTES,
      BOTH,
      "The part of those bytes: the bytes of blocks that left memory before anybody read them. A"
          + " block that its stream has given up is held until then, and used if somebody reads"
          + " it."),
  S3E_PREFETCH_REFUSED(
      Counter.PREFETCH_REFUSED,
      COUNT,
      BOTH,
      "Prefetches that memory, concurrency or the gate before the store refused, or that had to"
          + " wait for S3's first answer because of the cache on local disk."),
  S3E_GATE_REFUSED(
      Counter.GATE_REFUSED,
      COUNT,
      FILE_SYSTEM,
      "Those of them that the gate refused, since the store had refused others."),
  S3E_GATE_WAITS(
      Counter.GATE_WAITS,
      COUNT,
      FILE_SYSTEM,
      "Times that a reader waited at the gate before its GET was sent."),
  S3E_GATE_WAIT_NANOS(
      Counter.GATE_WAIT_NANOS, NANOS, FILE_SYSTEM, "How long they waited there in all."),
  S3E_GATE_PROBES(
      Counter.GATE_PROBES,
      COUNT,
      FILE_SYSTEM,
      "GETs sent to see whether a store that had refused everybody answers again."),
  S3E_MEMORY_HITS(
      Counter.MEMORY_HITS, COUNT, BOTH, "Blocks found in memory when a reader came to them."),
  S3E_READ_WAITS(Counter.WAITS, COUNT, BOTH, "Times that a reader waited for a block."),
  S3E_READ_WAIT_NANOS(Counter.WAIT_NANOS, NANOS, BOTH, "How long they waited in all."),
  S3E_CLIENT_FALLBACK(
      COUNT, FILE_SYSTEM, "Times that reading went from S3E's own client over to S3A's."),
  S3E_PREFETCH_HELD_BYTES(
      GAUGE, BYTES, FILE_SYSTEM, "Prefetched bytes in memory that nobody has read yet."),
  S3E_HELD_BYTES(
      GAUGE,
      BYTES,
      FILE_SYSTEM,
      "Bytes that came and are in memory, in blocks of which nobody has read anything yet."),

  // Columnar files.
  S3E_COLUMNAR_FOOTERS(
      Counter.COLUMNAR_FOOTERS,
      COUNT,
      BOTH,
      "Footers of Parquet and ORC files that S3E has read: one for each version of a file, as long"
          + " as it is remembered."),
  S3E_COLUMNAR_FOOTERS_REFUSED(
      Counter.COLUMNAR_FOOTERS_REFUSED,
      COUNT,
      BOTH,
      "Footers that it could not read: damaged, too long, or of a codec that is not there. Such"
          + " files are read as others."),
  S3E_COLUMNAR_ASKED_BYTES(
      Counter.COLUMNAR_ASKED_BYTES,
      BYTES,
      BOTH,
      "Bytes of blocks that were fetched ahead of readers of such files; with"
          + " `fs.s3a.s3e.columnar` = `observe` what would have been fetched."),
  S3E_COLUMNAR_WITHDRAWN_BYTES(
      Counter.COLUMNAR_WITHDRAWN_BYTES,
      BYTES,
      BOTH,
      "The part of those bytes that failed to come, or left memory before a reader came."),
  S3E_COLUMNAR_TAIL_USED_BYTES(
      Counter.COLUMNAR_TAIL_USED_BYTES,
      BYTES,
      BOTH,
      "Bytes that were asked for of the end of a file, beyond its first read there, and that the"
          + " stream read."),
  S3E_COLUMNAR_TAIL_WASTED_BYTES(
      Counter.COLUMNAR_TAIL_WASTED_BYTES,
      BYTES,
      BOTH,
      "Such bytes that it did not read: a footer is rarely as long as was expected."),
  S3E_COLUMNAR_GROUP_USED_BYTES(
      Counter.COLUMNAR_GROUP_USED_BYTES,
      BYTES,
      BOTH,
      "The same of column data: of the present row group or stripe, of those that follow, and of"
          + " files that are likely to be as those before."),
  S3E_COLUMNAR_GROUP_WASTED_BYTES(
      Counter.COLUMNAR_GROUP_WASTED_BYTES, BYTES, BOTH, "Such bytes that it did not read."),
  S3E_COLUMNAR_DICTIONARY_USED_BYTES(
      Counter.COLUMNAR_DICTIONARY_USED_BYTES, BYTES, BOTH, "The same of dictionary pages."),
  S3E_COLUMNAR_DICTIONARY_WASTED_BYTES(
      Counter.COLUMNAR_DICTIONARY_WASTED_BYTES, BYTES, BOTH, "Such bytes that it did not read."),
  S3E_COLUMNAR_BLOOM_FILTER_USED_BYTES(
      Counter.COLUMNAR_BLOOM_FILTER_USED_BYTES, BYTES, BOTH, "The same of Bloom filters."),
  S3E_COLUMNAR_BLOOM_FILTER_WASTED_BYTES(
      Counter.COLUMNAR_BLOOM_FILTER_WASTED_BYTES, BYTES, BOTH, "Such bytes that it did not read."),
  S3E_COLUMNAR_INDEX_USED_BYTES(
      Counter.COLUMNAR_INDEX_USED_BYTES,
      BYTES,
      BOTH,
      "The same of page indexes, and of row indexes of ORC."),
  S3E_COLUMNAR_INDEX_WASTED_BYTES(
      Counter.COLUMNAR_INDEX_WASTED_BYTES, BYTES, BOTH, "Such bytes that it did not read."),
  S3E_COLUMNAR_STRIPE_FOOTER_USED_BYTES(
      Counter.COLUMNAR_STRIPE_FOOTER_USED_BYTES, BYTES, BOTH, "The same of footers of stripes."),
  S3E_COLUMNAR_STRIPE_FOOTER_WASTED_BYTES(
      Counter.COLUMNAR_STRIPE_FOOTER_WASTED_BYTES, BYTES, BOTH, "Such bytes that it did not read."),

  // The cache on local disk.
  S3E_CACHE_HITS(DiskMetrics.Counter.HITS, COUNT, BOTH, "Reads that local disk answered in full."),
  S3E_CACHE_HIT_BYTES(
      DiskMetrics.Counter.HIT_BYTES,
      BYTES,
      BOTH,
      "Bytes that came from local disk in place of a GET."),
  S3E_CACHE_MISSES(
      DiskMetrics.Counter.MISSES,
      COUNT,
      BOTH,
      "Reads that were looked for on disk and went to S3."),
  S3E_CACHE_MISS_BYTES(
      DiskMetrics.Counter.MISS_BYTES, BYTES, BOTH, "Bytes that those asked of S3."),
  S3E_CACHE_WRITES(DiskMetrics.Counter.WRITES, COUNT, FILE_SYSTEM, "Writes to local disk."),
  S3E_CACHE_OFFERED_BYTES(
      DiskMetrics.Counter.OFFERED_BYTES,
      BYTES,
      FILE_SYSTEM,
      "Bytes that were to be written: each is written or dropped, once."),
  S3E_CACHE_WRITTEN_BYTES(
      DiskMetrics.Counter.WRITTEN_BYTES,
      BYTES,
      FILE_SYSTEM,
      "The part of those bytes that was written."),
  S3E_CACHE_DROPPED_BEHIND_BYTES(
      DiskMetrics.Counter.DROPPED_BEHIND_BYTES,
      BYTES,
      FILE_SYSTEM,
      "Bytes not written because the disk was slower than S3."),
  S3E_CACHE_DROPPED_EVICTED_BYTES(
      DiskMetrics.Counter.DROPPED_EVICTED_BYTES,
      BYTES,
      FILE_SYSTEM,
      "Bytes not written because their memory was needed or their file system closed."),
  S3E_CACHE_DROPPED_SPACE_BYTES(
      DiskMetrics.Counter.DROPPED_SPACE_BYTES,
      BYTES,
      FILE_SYSTEM,
      "Bytes not written because there was no space for them."),
  S3E_CACHE_DROPPED_FAULT_BYTES(
      DiskMetrics.Counter.DROPPED_FAULT_BYTES,
      BYTES,
      FILE_SYSTEM,
      "Bytes not written because writing failed."),
  S3E_CACHE_DROPPED_PRESENT_BYTES(
      DiskMetrics.Counter.DROPPED_PRESENT_BYTES,
      BYTES,
      FILE_SYSTEM,
      "Bytes not written because they are on disk by now, written by another process as a rule."),
  S3E_CACHE_DROPPED_CLOSED_BYTES(
      DiskMetrics.Counter.DROPPED_CLOSED_BYTES,
      BYTES,
      FILE_SYSTEM,
      "Bytes not written because the cache was closed."),
  S3E_CACHE_NOT_ADMITTED_BYTES(
      DiskMetrics.Counter.NOT_ADMITTED_BYTES,
      BYTES,
      FILE_SYSTEM,
      "Bytes not worth writing: of readers in order, of seven in eight MiB of readers that leap"
          + " about, and where the disk is slower than S3; counted when it is known how they"
          + " read."),
  S3E_CACHE_CORRUPTIONS(
      DiskMetrics.Counter.CORRUPTIONS,
      COUNT,
      FILE_SYSTEM,
      "Chunks on disk that were not what they should be, and were forgotten."),
  S3E_CACHE_READ_ERRORS(
      DiskMetrics.Counter.READ_ERRORS, COUNT, FILE_SYSTEM, "Operations of reading that failed."),
  S3E_CACHE_WRITE_ERRORS(
      DiskMetrics.Counter.WRITE_ERRORS, COUNT, FILE_SYSTEM, "Operations of writing that failed."),
  S3E_CACHE_TIMEOUTS(
      DiskMetrics.Counter.TIMEOUTS,
      COUNT,
      FILE_SYSTEM,
      "Reads left behind because a MiB took longer than 200 ms."),
  S3E_CACHE_EVICTIONS(
      DiskMetrics.Counter.EVICTIONS,
      COUNT,
      FILE_SYSTEM,
      "Regions that were begun anew to make room."),
  S3E_CACHE_EVICTED_BYTES(
      DiskMetrics.Counter.EVICTED_BYTES, BYTES, FILE_SYSTEM, "Bytes that those held."),
  S3E_CACHE_BREAKER_OPENED(
      DiskMetrics.Counter.BREAKER_OPENED,
      COUNT,
      FILE_SYSTEM,
      "Times that reading from a directory, or writing to it, was given up after failures."),
  S3E_CACHE_BREAKERS_OPEN(
      DiskMetrics.Counter.BREAKERS_OPEN, COUNT, FILE_SYSTEM, "How many of those are given up now."),
  S3E_CACHE_BYTES(GAUGE, BYTES, FILE_SYSTEM, "Bytes that the cache takes on disk."),
  S3E_CACHE_CAPACITY_BYTES(GAUGE, BYTES, FILE_SYSTEM, "The most that it ever takes there.");

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

  /** By the core's counter. */
  private static final Map<Enum<?>, String> SYMBOLS = new HashMap<>();

  static {
    for (ReadStatistic statistic : values()) {
      if (statistic.engine != null) {
        SYMBOLS.put(statistic.engine, statistic.symbol);
      }
      if (statistic.disk != null) {
        SYMBOLS.put(statistic.disk, statistic.symbol);
      }
      boolean counted = statistic.engine != null || statistic.disk != null;
      if (counted && statistic.kind == Kind.COUNTER) {
        COUNTERS.add(statistic);
      }
    }
  }

  private final String symbol = name().toLowerCase(Locale.ROOT);
  final Kind kind;
  final Unit unit;
  final Of of;
  final String meaning;
  private final @Nullable Counter engine;
  private final DiskMetrics.@Nullable Counter disk;

  ReadStatistic(Unit unit, Of of, String meaning) {
    this(Kind.COUNTER, unit, of, meaning);
  }

  ReadStatistic(Kind kind, Unit unit, Of of, String meaning) {
    this(kind, unit, of, meaning, null, null);
  }

  ReadStatistic(Counter engine, Unit unit, Of of, String meaning) {
    this(Kind.COUNTER, unit, of, meaning, engine, null);
  }

  ReadStatistic(DiskMetrics.Counter disk, Unit unit, Of of, String meaning) {
    this(
        disk == DiskMetrics.Counter.BREAKERS_OPEN ? Kind.GAUGE : Kind.COUNTER,
        unit,
        of,
        meaning,
        null,
        disk);
  }

  ReadStatistic(
      Kind kind,
      Unit unit,
      Of of,
      String meaning,
      @Nullable Counter engine,
      DiskMetrics.@Nullable Counter disk) {
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

  /** The name of a counter of the core's; null if it has none. */
  static @Nullable String symbolOf(Enum<?> counter) {
    return SYMBOLS.get(counter);
  }

  /** The core's counters of a stream, by name, as they are now. */
  static Map<String, Long> ofStream(Counters<Counter> engine, Counters<DiskMetrics.Counter> disk) {
    return counters(engine, disk, Of.FILE_SYSTEM);
  }

  /** The core's counters of a file system, by name, as they are now. */
  static Map<String, Long> ofFileSystem(EngineMetrics metrics) {
    return counters(metrics, metrics.disk(), Of.STREAM);
  }

  private static Map<String, Long> counters(
      Counters<Counter> engine, Counters<DiskMetrics.Counter> disk, Of others) {
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
