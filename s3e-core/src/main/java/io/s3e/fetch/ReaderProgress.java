package io.s3e.fetch;

import io.s3e.prefetch.AccessPattern;

/**
 * How far the reader of one opening has come: where and when it last came to another block, and how
 * it goes through the object. Advice on its runs and on their blocks, for those who keep them:
 * which slab is still waited for, which block is worth a place on disk.
 *
 * <p>Any thread, no lock: each answer is right for a moment, and two of them may be of different
 * reads. Runs hold it, so it refers to nothing of the stream: one that was forgotten can be
 * collected.
 */
public final class ReaderProgress {
  private final AccessPattern pattern;
  private volatile long lastReadNanos = System.nanoTime();
  private volatile long fromDiskBytes;

  public ReaderProgress(AccessPattern pattern) {
    this.pattern = pattern;
  }

  /** The reader has come to another block, for which it reads {@code [start, end)}. */
  public void onRead(long start, long end) {
    lastReadNanos = System.nanoTime();
    pattern.onRead(start, end);
  }

  /**
   * How many bytes in a row the reader has asked for and taken from disk itself; what came from
   * memory does not count.
   */
  long fromDiskBytes() {
    return fromDiskBytes;
  }

  /**
   * The reader takes so many bytes from disk itself. Reads that overtake each other may be lost.
   */
  void takesFromDisk(long bytes) {
    long before = fromDiskBytes;
    fromDiskBytes = before + bytes;
  }

  /** The reader asks for bytes that it does not take from disk itself. */
  void leavesDisk() {
    if (fromDiskBytes != 0) {
      fromDiskBytes = 0;
    }
  }

  /** When the reader last came to another block, by {@link System#nanoTime()}. */
  long lastReadNanos() {
    return lastReadNanos;
  }

  /** Whether the reader goes forward for the moment. */
  public boolean isInOrder() {
    return pattern.isInOrder();
  }

  /** Whether the reader goes from front to end. */
  boolean isScanning() {
    return pattern.isScanning();
  }
}
