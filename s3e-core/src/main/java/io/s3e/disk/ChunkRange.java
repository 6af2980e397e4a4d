// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

/** Adjacent chunks of one object, {@code [first, end)}; at least one. */
public record ChunkRange(StoredObject object, int first, int end) {
  /** The chunks that hold the bytes from {@code start} to {@code end} of an object. */
  public static ChunkRange covering(StoredObject object, long start, long end) {
    long chunk = StoredObject.CHUNK_BYTES;
    return new ChunkRange(object, (int) (start / chunk), (int) ((end + chunk - 1) / chunk));
  }

  public long endOffset() {
    return Math.min(object.size(), (long) end * StoredObject.CHUNK_BYTES);
  }
}
