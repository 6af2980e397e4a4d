package io.s3e.disk;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Says what a larger cache would have hit, without having one: SHARDS with a fixed number of
 * samples (Waldspurger, Park, Garthwaite, Ahmad: "Efficient MRC Construction with SHARDS", FAST
 * '15).
 *
 * <p>Disk blocks are sampled by a hash of their identity: one whose hash is below a threshold has
 * all its accesses looked at, any other none. For a sampled access the reuse distance is taken, the
 * bytes of other sampled blocks that were touched since the last access to this one, and divided by
 * the share that is sampled; an LRU cache hits exactly those accesses whose distance fits in it.
 * When more blocks than allowed are sampled, those with the highest hash go and the threshold falls
 * to it. Distances go into a histogram with eight buckets an octave, so an answer is off by at most
 * an eighth of the capacity asked for, beside the error of sampling. What was sampled by chance too
 * much or too little is put right by the known sum of all bytes (SHARDS-adj).
 *
 * <p>The model is LRU; the real policy is another and usually hits more. Thread-safe; an access
 * that is not sampled costs a hash and two adds, and takes no lock.
 */
public final class ShadowCache {
  private static final int BUCKETS_PER_OCTAVE = 8;
  private static final int OCTAVES = 63;

  /** Sizes that an estimate answers for, in multiples of the capacity asked for. */
  private static final int[] MULTIPLES = {1, 2, 4, 8};

  private final int mostSamples;
  private final LongAdder accessedBytes = new LongAdder();

  /** Hashes, as unsigned numbers, up to this one are sampled. */
  private volatile long threshold = -1;

  // All below: guarded by this.
  private final double[] hitBytesByDistance = new double[OCTAVES * BUCKETS_PER_OCTAVE];
  private double sampledBytes;

  /** Hash of each sampled block, and its place in time. */
  private final TreeMap<Long, Integer> placeOf = new TreeMap<>(Long::compareUnsigned);

  /** Bytes by place in time; a block has one place, that of its last access. */
  private BytesByTime timeline;

  private int now;

  /**
   * @param sampledEntries the most disk blocks that are looked at; memory is about 100 bytes each
   */
  ShadowCache(long sampledEntries) {
    if (sampledEntries < 1 || sampledEntries > 1 << 24) {
      throw new IllegalArgumentException(
          "samples " + sampledEntries + ": expected 1 to " + (1 << 24));
    }
    this.mostSamples = (int) sampledEntries;
    this.timeline = new BytesByTime(places());
  }

  /** A disk block was asked for, wherever it was found. */
  void access(DiskBlockId id, int bytes) {
    accessedBytes.add(bytes);
    long hash = hash(id);
    if (Long.compareUnsigned(hash, threshold) <= 0) {
      sample(hash, bytes);
    }
  }

  private synchronized void sample(long hash, int bytes) {
    double share = share();
    Integer last = placeOf.get(hash);
    if (last != null) {
      long since = timeline.sumAfter(last);
      hitBytesByDistance[bucket((since / share) + bytes)] += bytes / share;
      timeline.set(last, 0);
    }
    sampledBytes += bytes / share;
    if (now == timeline.places()) {
      closeRanks();
    }
    timeline.set(now, bytes);
    placeOf.put(hash, now);
    now++;
    if (placeOf.size() > mostSamples) {
      Map.Entry<Long, Integer> highest = placeOf.pollLastEntry();
      timeline.set(highest.getValue(), 0);
      threshold = highest.getKey() - 1;
    }
  }

  /** Gives the samples the first places, in the same order. */
  private void closeRanks() {
    long[] hashes = new long[timeline.places()];
    boolean[] taken = new boolean[timeline.places()];
    placeOf.forEach(
        (hash, place) -> {
          hashes[place] = hash;
          taken[place] = true;
        });
    BytesByTime packed = new BytesByTime(places());
    now = 0;
    for (int place = 0; place < taken.length; place++) {
      if (taken[place]) {
        packed.set(now, timeline.get(place));
        placeOf.put(hashes[place], now);
        now++;
      }
    }
    timeline = packed;
  }

  /** Twice the samples and one on its way, so that ranks are closed once in that many accesses. */
  private int places() {
    return 2 * mostSamples + 2;
  }

  /** What part of all hashes is sampled. */
  private double share() {
    return (unsigned(threshold) + 1) / 0x1p64;
  }

  /** What caches of 1, 2, 4 and 8 times {@code capacityBytes} would have hit until now. */
  synchronized Estimate estimate(long capacityBytes) {
    long accessed = accessedBytes.sum();
    long[] hits = new long[MULTIPLES.length];
    for (int i = 0; i < hits.length; i++) {
      double within = 0;
      double capacity = (double) capacityBytes * MULTIPLES[i];
      for (int bucket = 0; bucket < hitBytesByDistance.length; bucket++) {
        within += upperEnd(bucket) <= capacity ? hitBytesByDistance[bucket] : 0;
      }
      // The correction belongs to the shortest distances; without any there is nothing to correct.
      double correction = within == 0 ? 0 : accessed - sampledBytes;
      hits[i] = Math.round(Math.max(0, Math.min(accessed, within + correction)));
    }
    return new Estimate(accessed, hits[0], hits[1], hits[2], hits[3]);
  }

  /** Disk blocks that are looked at now. */
  synchronized int samples() {
    return placeOf.size();
  }

  /** Buckets are the octaves of a distance, each cut into equal parts; see {@link #upperEnd}. */
  private static int bucket(double distance) {
    int octave = Math.getExponent(Math.max(1, distance));
    double within = Math.max(1, distance) / Math.scalb(1.0, octave) - 1;
    int bucket = octave * BUCKETS_PER_OCTAVE + (int) Math.ceil(within * BUCKETS_PER_OCTAVE);
    return Math.min(OCTAVES * BUCKETS_PER_OCTAVE - 1, bucket);
  }

  /** The longest distance that goes into a bucket. */
  private static double upperEnd(int bucket) {
    int octave = bucket / BUCKETS_PER_OCTAVE;
    double part = (double) (bucket % BUCKETS_PER_OCTAVE) / BUCKETS_PER_OCTAVE;
    return Math.scalb(1 + part, octave);
  }

  private static double unsigned(long value) {
    return (value >>> 1) * 2.0 + (value & 1);
  }

  private static long hash(DiskBlockId id) {
    // Two hash codes of the content, since one has 32 bits only and must tell many objects apart.
    long content =
        (long) id.version().hashCode() << 32 ^ String.valueOf(id.version().etag()).hashCode();
    return mix(mix(content ^ id.store().hashCode()) + id.index());
  }

  /** The finalizer of SplitMix64: every bit of the result depends on every bit of the value. */
  private static long mix(long value) {
    long mixed = value + 0x9E3779B97F4A7C15L;
    mixed = (mixed ^ mixed >>> 30) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
    return mixed ^ mixed >>> 31;
  }

  /**
   * What was asked for, and what LRU caches of several sizes would have had.
   *
   * @param accessedBytes bytes asked for
   * @param hitBytes of those, what a cache of the capacity would have had
   * @param hitBytesDouble what one twice as large would have had
   * @param hitBytesFourfold what one four times as large would have had
   * @param hitBytesEightfold what one eight times as large would have had
   */
  public record Estimate(
      long accessedBytes,
      long hitBytes,
      long hitBytesDouble,
      long hitBytesFourfold,
      long hitBytesEightfold) {}
}
