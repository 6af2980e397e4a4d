package io.s3e.disk;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The right to fetch one disk block, until it is released or expires. Made by {@link Claims}; any
 * thread.
 */
final class Claim {
  private final Path file;
  private final String content;
  private final long nanos;
  private final AtomicBoolean released = new AtomicBoolean();

  Claim(Path file, String content, long nanos) {
    this.file = file;
    this.content = content;
    this.nanos = nanos;
  }

  Path file() {
    return file;
  }

  /** What is in its file and in no other claim's. */
  String content() {
    return content;
  }

  /** When it was taken, by the clock of {@link Claims}. */
  long nanos() {
    return nanos;
  }

  /** True once. */
  boolean endsNow() {
    return released.compareAndSet(false, true);
  }

  @Override
  public String toString() {
    return "claim " + file.getFileName();
  }
}
