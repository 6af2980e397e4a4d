package io.s3e.hadoop.stats;

import io.s3e.S3E;
import io.s3e.disk.DiskCache;
import io.s3e.disk.ShadowCache.Estimate;
import io.s3e.metrics.DiskMetrics.Counter;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Names of what the cache on disk does, among Hadoop's IOStatistics: {@code s3e_cache_} and the
 * name of the {@link Counter}. A file system has all of them, as its engine counts them. A stream
 * has those of its own hits and misses, which go with S3A's to the context of the thread that
 * opened it.
 */
public final class DiskCacheStatistics {
  private static final String PREFIX = "s3e_cache_";
  private static final String SHADOW = PREFIX + "shadow_";
  private static final Counter GAUGE = Counter.BREAKERS_OPEN;
  private static final String MISS_BYTES = PREFIX + "miss_bytes";

  private DiskCacheStatistics() {}

  /** All counters of an engine; 0 if there is none yet. */
  public static Map<String, Long> counters(@Nullable S3E engine) {
    Map<Counter, Long> now = now(engine);
    Map<String, Long> named = new TreeMap<>();
    for (Counter counter : Counter.values()) {
      if (counter != GAUGE) {
        named.put(nameOf(counter), now.getOrDefault(counter, 0L));
      }
    }
    return named;
  }

  /** All gauges of an engine; 0 if there is none yet, or it has no cache on disk. */
  public static Map<String, Long> gauges(@Nullable S3E engine) {
    DiskCache cache = engine == null ? null : engine.diskCache();
    Estimate estimate = cache == null ? new Estimate(0, 0, 0, 0, 0) : cache.estimate();
    Map<String, Long> named = new TreeMap<>();
    named.put(nameOf(GAUGE), now(engine).getOrDefault(GAUGE, 0L));
    named.put(PREFIX + "bytes", cache == null ? 0 : cache.bytes());
    named.put(SHADOW + "accessed_bytes", estimate.accessedBytes());
    named.put(SHADOW + "hit_bytes_1x", estimate.hitBytes());
    named.put(SHADOW + "hit_bytes_2x", estimate.hitBytesDouble());
    named.put(SHADOW + "hit_bytes_4x", estimate.hitBytesFourfold());
    named.put(SHADOW + "hit_bytes_8x", estimate.hitBytesEightfold());
    return named;
  }

  private static Map<Counter, Long> now(@Nullable S3E engine) {
    return engine == null ? new EnumMap<>(Counter.class) : engine.metrics().disk().snapshot();
  }

  static String nameOf(Counter counter) {
    return PREFIX + counter.name().toLowerCase(Locale.ROOT);
  }

  /** What one stream got from local disk, and did not. Any thread; holds no stream. */
  public static final class OfStream {
    private final LongAdder hits = new LongAdder();
    private final LongAdder hitBytes = new LongAdder();
    private final LongAdder misses = new LongAdder();
    private final LongAdder missBytes = new LongAdder();

    void hit(long bytes) {
      hits.increment();
      hitBytes.add(bytes);
    }

    void miss(long bytes) {
      misses.increment();
      missBytes.add(bytes);
    }

    public Map<String, Long> counters() {
      return Map.of(
          nameOf(Counter.HITS),
          hits.sum(),
          nameOf(Counter.HIT_BYTES),
          hitBytes.sum(),
          nameOf(Counter.MISSES),
          misses.sum(),
          MISS_BYTES,
          missBytes.sum());
    }
  }
}
