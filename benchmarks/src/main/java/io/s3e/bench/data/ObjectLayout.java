// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.data;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * How objects are cut from the reference file. Each list is a pure function of its parameters, so
 * that every run, whenever it is repeated, reads the same objects.
 */
public final class ObjectLayout {

  /** A stream's least share: below that its start would be all that is measured. */
  public static final long LEAST_STREAM_BYTES = 8L << 20;

  private static final int LEAST_SMALL_BYTES = 64 << 10;
  private static final int MOST_SMALL_BYTES = 1 << 20;
  private static final long SEED = 20_240_531;

  private ObjectLayout() {}

  /**
   * One object for each stream, all of one size: together {@code bytes}, or more if a share would
   * be less than {@link #LEAST_STREAM_BYTES}.
   *
   * @param directory URI that the objects' names begin with, with a slash at its end
   */
  public static List<ObjectSlice> streams(String directory, int streams, long bytes) {
    long share = Math.max(bytes / streams, LEAST_STREAM_BYTES);
    List<ObjectSlice> objects = new ArrayList<>(streams);
    for (int i = 0; i < streams; i++) {
      objects.add(new ObjectSlice("%spart-%05d".formatted(directory, i), 0, share, i * share));
    }
    return objects;
  }

  /**
   * Some objects, all of one size, in each of some buckets: in that of the directory, and in those
   * beside it that show its objects as their own. Those of one bucket follow each other.
   */
  public static List<ObjectSlice> buckets(String directory, int buckets, int count, long bytes) {
    List<ObjectSlice> objects = new ArrayList<>(buckets * count);
    for (int bucket = 0; bucket < buckets; bucket++) {
      for (ObjectSlice object : streams(directory, count, count * bytes)) {
        objects.add(bucket == 0 ? object : object.besideBucket(Integer.toString(bucket)));
      }
    }
    return objects;
  }

  /** One range for each stream, all of one size, side by side from the front of one object. */
  public static List<ObjectSlice> ranges(String uri, int streams, long bytes) {
    long share = bytes / streams;
    List<ObjectSlice> ranges = new ArrayList<>(streams);
    for (int i = 0; i < streams; i++) {
      ranges.add(new ObjectSlice(uri, i * share, share, i * share));
    }
    return ranges;
  }

  /**
   * Small objects of 64 KiB to 1 MiB, every size as likely as any other.
   *
   * @param directory URI that the objects' names begin with, with a slash at its end
   */
  public static List<ObjectSlice> small(String directory, int count) {
    SplittableRandom random = new SplittableRandom(SEED);
    List<ObjectSlice> objects = new ArrayList<>(count);
    long reference = 0;
    for (int i = 0; i < count; i++) {
      int length = random.nextInt(LEAST_SMALL_BYTES, MOST_SMALL_BYTES + 1);
      objects.add(new ObjectSlice("%spart-%05d".formatted(directory, i), 0, length, reference));
      reference += length;
    }
    return objects;
  }

  /** The bytes that so many small objects hold together. */
  public static long smallBytes(int count) {
    return small("", count).stream().mapToLong(ObjectSlice::length).sum();
  }
}
