package io.s3e.prefetch;

/**
 * Tells a reader that goes through an object in order, and will hardly come back to what it has
 * read, from one that jumps about.
 *
 * <p>Any thread and no lock: it is asked for advice. Reads of several threads at once, each in a
 * place of its own, look like jumps, as they should.
 */
public final class ScanDetector {
  /** Longer than the column chunks that are read piece by piece out of a row group, as a rule. */
  private static final long SCAN_BYTES = 32L << 20;

  /** A reader that has come so far will go on as a rule. */
  private static final long IN_ORDER_BYTES = 1 << 20;

  /** A skip or a step back of so many bytes is still the same run. */
  private static final long GAP_BYTES = 256 << 10;

  private volatile boolean announced;
  private volatile long runStart;
  private volatile long runEnd;

  /** Whether the opener says that it scans, and nothing has spoken against it. */
  public void announce(boolean scans) {
    announced = scans;
  }

  /** A read of {@code [position, end)}. */
  public void onRead(long position, long end) {
    if (Math.abs(position - runEnd) <= GAP_BYTES) {
      runEnd = Math.max(runEnd, end);
    } else if (position < runStart || position > runEnd) {
      runStart = position;
      runEnd = end;
    }
  }

  /** Whether the reader goes forward for the moment. */
  public boolean isInOrder() {
    return announced || runEnd - runStart >= IN_ORDER_BYTES;
  }

  /** Whether the reader scans, by its opener's word or because it has read 32 MiB in a row. */
  public boolean isScanning() {
    return announced || runEnd - runStart >= SCAN_BYTES;
  }
}
