// SPDX-License-Identifier: Apache-2.0
package io.s3e.metrics;

/**
 * What one tenant of an engine has done since it was created. Counters only grow, but for the gauge
 * among them; they are exact once nothing is in flight. Any thread.
 *
 * <p>They add up: {@code FETCHED_BYTES} and what came from local disk {@code = USED_BYTES +
 * WASTED_BYTES + HELD_BYTES}; {@code PREFETCHED_BYTES = PREFETCH_USED_BYTES +
 * PREFETCH_WASTED_BYTES} and what of it is in memory unread; {@code COLUMNAR_ASKED_BYTES =
 * COLUMNAR_WITHDRAWN_BYTES}, all {@code COLUMNAR_…_USED_BYTES} and {@code COLUMNAR_…_WASTED_BYTES},
 * and what open streams have out.
 */
public final class EngineMetrics extends Counters<EngineMetrics.Counter> {
  /** The counters. */
  public enum Counter {
    /**
     * GETs that went out to the store, retries included: told by the client that sends them, by the
     * AWS CRT when their answer begins or when they have ended.
     */
    GETS,
    /** GETs that no reader waited for when they were sent. */
    PREFETCH_GETS,
    /** GETs sent again after a failure. */
    RETRIES,
    /** GETs sent beside one that was late for its reader, for the same bytes. */
    HEDGES,
    /** Hedges whose bytes came first. */
    HEDGES_WON,
    /** GETs that the store answered with 503, 429 or another word for slow down. */
    THROTTLED,
    /** Runs of blocks that failed for good while a reader wanted them. */
    FAILURES,
    /** Bytes of bodies received. */
    FETCHED_BYTES,
    /**
     * Bytes received of blocks that never became whole, since their GETs failed or were ended, and
     * bytes that came twice.
     */
    DISCARDED_BYTES,
    /**
     * Bytes of blocks that came and that a reader read, whole blocks whatever part of them was
     * read, and bytes that a reader took from local disk itself.
     */
    USED_BYTES,
    /** Bytes of blocks that came and left memory unread, and the discarded ones. */
    WASTED_BYTES,
    /** Gauge: bytes of blocks in memory that nobody has read yet. */
    HELD_BYTES,
    /**
     * Bytes of whole blocks that prefetches brought from S3; what a reader's own GET takes along
     * when there is no room for a guess is not prefetched.
     */
    PREFETCHED_BYTES,
    /** Bytes of prefetched blocks that somebody read. */
    PREFETCH_USED_BYTES,
    /** Bytes of prefetched blocks that left memory unread. */
    PREFETCH_WASTED_BYTES,
    /**
     * Prefetches that memory, concurrency or the gate before the store refused, or that had to wait
     * for S3's first answer because of the cache on local disk.
     */
    PREFETCH_REFUSED,
    /** Prefetches that the gate refused, since the store had refused other requests. */
    GATE_REFUSED,
    /** Times that a reader waited at the gate before its GET was sent. */
    GATE_WAITS,
    /** How long readers waited at the gate in all, in ns. */
    GATE_WAIT_NANOS,
    /** GETs sent to see whether a store that had refused everybody answers again. */
    GATE_PROBES,
    /** Footers of Parquet and ORC files that were read, to know what their readers will want. */
    COLUMNAR_FOOTERS,
    /** Footers that were not read: damaged, too long, or compressed by a codec that is missing. */
    COLUMNAR_FOOTERS_REFUSED,
    /**
     * Bytes of blocks that were fetched ahead of readers of columnar files. Where such files are
     * only observed, bytes that would have been fetched.
     */
    COLUMNAR_ASKED_BYTES,
    /** Columnar bytes that failed to come, or left memory before a reader came. */
    COLUMNAR_WITHDRAWN_BYTES,
    /** Bytes of ends of files that the stream which asked for them read. */
    COLUMNAR_TAIL_USED_BYTES,
    /** Bytes of ends of files that were asked for and not read. */
    COLUMNAR_TAIL_WASTED_BYTES,
    /** Bytes of column data that the stream which asked for them read. */
    COLUMNAR_GROUP_USED_BYTES,
    /** Bytes of column data that were asked for and not read. */
    COLUMNAR_GROUP_WASTED_BYTES,
    /** Bytes of dictionary pages that the stream which asked for them read. */
    COLUMNAR_DICTIONARY_USED_BYTES,
    /** Bytes of dictionary pages that were asked for and not read. */
    COLUMNAR_DICTIONARY_WASTED_BYTES,
    /** Bytes of Bloom filters that the stream which asked for them read. */
    COLUMNAR_BLOOM_FILTER_USED_BYTES,
    /** Bytes of Bloom filters that were asked for and not read. */
    COLUMNAR_BLOOM_FILTER_WASTED_BYTES,
    /** Bytes of indexes, ORC's included, that the stream which asked for them read. */
    COLUMNAR_INDEX_USED_BYTES,
    /** Bytes of indexes, ORC's included, that were asked for and not read. */
    COLUMNAR_INDEX_WASTED_BYTES,
    /** Bytes of footers of stripes that the stream which asked for them read. */
    COLUMNAR_STRIPE_FOOTER_USED_BYTES,
    /** Bytes of footers of stripes that were asked for and not read. */
    COLUMNAR_STRIPE_FOOTER_WASTED_BYTES,
    /** Blocks found in memory when a reader came to them. */
    MEMORY_HITS,
    /** Times that a reader waited for a block. */
    WAITS,
    /** How long readers waited for blocks in all, in ns. */
    WAIT_NANOS
  }

  private final DiskMetrics disk;

  /** Of a tenant without a cache on local disk. */
  public EngineMetrics() {
    this(new DiskMetrics());
  }

  /** {@code disk} is of the engine's cache, which all its tenants use. */
  public EngineMetrics(DiskMetrics disk) {
    super(Counter.class);
    this.disk = disk;
  }

  /** What the engine's cache on local disk has done, for all its tenants. */
  public DiskMetrics disk() {
    return disk;
  }
}
