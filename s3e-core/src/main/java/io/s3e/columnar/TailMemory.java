// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

/**
 * How long the footers of the files in one place are: how much of the end of another file there to
 * fetch at the first read near it. Any thread; holds its lock for arithmetic alone.
 */
final class TailMemory {
  /** A first read so near to the end asks for a footer; ORC's asks for 16 KiB. */
  static final long NEAR_END_BYTES = 64 << 10;

  /** Footers of one place differ by less than that. */
  private static final long LEAST_BYTES = 32 << 10;

  /** A longer footer costs the first file of a place a round trip more. */
  private static final long MOST_UNSEEN_BYTES = 256 << 10;

  /** Of a file whose like was not seen yet, one part in so many is fetched. */
  private static final int PART_OF_OBJECT = 100;

  /** A footer may be longer than those before by one part in so many. */
  private static final int SPARE_PART = 4;

  /** How fast shorter footers make up for a longer one. */
  private static final int DECAY_PART = 8;

  /** 0 until a footer was seen. */
  private long footerBytes;

  /** Of the file with that footer; 0 if that is not known. */
  private long objectBytes;

  /** A file without a footer was seen. */
  private boolean hasOthers;

  /** Bytes to fetch of the end of an object; 0 where footers are not expected. */
  synchronized long bytesOf(long objectSize) {
    if (footerBytes > 0) {
      long like = footerBytes + footerBytes / SPARE_PART;
      // A shorter file has fewer groups, of which a long footer tells; its schema is no shorter.
      long part =
          objectSize < objectBytes ? (long) ((double) like * objectSize / objectBytes) : like;
      return Math.max(LEAST_BYTES, Math.min(like, Math.max(part, MOST_UNSEEN_BYTES)));
    }
    long unseen =
        Math.max(NEAR_END_BYTES, Math.min(MOST_UNSEEN_BYTES, objectSize / PART_OF_OBJECT));
    return hasOthers ? 0 : unseen;
  }

  /** A file of {@code objectSize} bytes, 0 if unknown, had its footer in its last {@code bytes}. */
  synchronized void footer(long bytes, long objectSize) {
    footerBytes -= footerBytes / DECAY_PART;
    if (bytes >= footerBytes) {
      footerBytes = bytes;
      objectBytes = objectSize;
    }
  }

  /** How long footers are; 0 if none was seen. */
  synchronized long footerBytes() {
    return footerBytes;
  }

  /** Whether no file has told whether there are footers. */
  synchronized boolean isNew() {
    return footerBytes == 0 && !hasOthers;
  }

  synchronized void noFooter() {
    hasOthers = true;
  }
}
