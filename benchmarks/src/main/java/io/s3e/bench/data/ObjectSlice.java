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

  /** An object, or its first bytes, of which the reference file begins with a copy. */
  public static ObjectSlice front(String uri, long length) {
    return new ObjectSlice(uri, 0, length, 0);
  }
}
