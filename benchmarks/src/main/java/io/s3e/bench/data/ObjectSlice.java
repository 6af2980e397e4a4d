// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.data;

/**
 * Bytes of an object and where their copy lies in the reference file.
 *
 * @param uri the object
 * @param position of the first byte in the object
 * @param length how many bytes
 * @param reference position of the first byte in the reference file
 */
public record ObjectSlice(String uri, long position, long length, long reference) {

  /** Suffix of the bucket that never answers a GET. */
  public static final String HANGING = "hang";

  /** Suffix, or what suffixes begin with, of the buckets that refuse some GETs. */
  public static final String REFUSING = "bad";

  /** An object, or its first bytes, of which the reference file begins with a copy. */
  public static ObjectSlice front(String uri, long length) {
    return new ObjectSlice(uri, 0, length, 0);
  }

  /**
   * The same object in a bucket that shows the objects of this one as its own.
   *
   * @param suffix what its name has more, as {@link #bucketBeside} puts it
   */
  public ObjectSlice besideBucket(String suffix) {
    return new ObjectSlice(besideBucket(uri, suffix), position, length, reference);
  }

  /** URI of the same object in a bucket that shows the objects of that one as its own. */
  public static String besideBucket(String uri, String suffix) {
    int bucket = uri.indexOf("://") + "://".length();
    int slash = uri.indexOf('/', bucket);
    return bucketBeside(uri.substring(0, slash), suffix) + uri.substring(slash);
  }

  /** Name, or URI, of a bucket that shows the objects of another as its own. */
  public static String bucketBeside(String bucket, String suffix) {
    return bucket + '-' + suffix;
  }
}
