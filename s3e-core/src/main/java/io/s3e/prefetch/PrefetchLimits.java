// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

/**
 * How far a stream may be ahead of its reader, and by how many requests. Sizes in bytes.
 *
 * @param initialWindowBytes how far a cursor is ahead before any wait
 * @param smallRequestBytes the shortest request of a ramp-up
 * @param requestBytes the longest request
 * @param maxWindowBytes the farthest that all cursors together are ahead
 * @param maxCursors places in the object that are followed at once
 * @param parallelRamp number of requests that a window is cut into until they are full length
 */
public record PrefetchLimits(
    int initialWindowBytes,
    int smallRequestBytes,
    int requestBytes,
    long maxWindowBytes,
    int maxCursors,
    int parallelRamp) {
  /** S3 answers 1 MiB as soon as 256 KiB (first byte p50 30 and 27 ms): less costs requests. */
  private static final int SMALL_REQUEST_BYTES = 1 << 20;

  /**
   * Fastest of 8, 12, 16 and 20 in the simulation of 30 ms and 60 MB/s a connection: more of them
   * keep requests short, and each of those takes a connection, for longer.
   */
  private static final int PARALLEL_RAMP = 8;

  /** They bring 2.7 GB/s in GETs of 4 MiB: one reader has no use for more. */
  private static final int CONNECTIONS = 64;

  /**
   * The columns that a reader goes through by turns; each costs a look at each read that is not
   * where one ended. A reader of one place more has nothing ahead of it.
   */
  private static final int MAX_CURSORS = 16;

  /**
   * The limits for blocks and requests of these sizes, in bytes. In that simulation a fast reader
   * then scans 512 MiB in 0.94 to 1.01 of the time that 16 connections need which never pause, if
   * 20 requests may be in flight; in 1.14 to 1.20 of it if 16 may.
   */
  public static PrefetchLimits defaults(int blockBytes, int requestBytes) {
    int small = Math.min(requestBytes, Math.max(blockBytes, SMALL_REQUEST_BYTES));
    long window = (long) CONNECTIONS * requestBytes;
    return of((long) PARALLEL_RAMP * small, small, requestBytes, window);
  }

  private static PrefetchLimits of(long initial, int small, int request, long window) {
    int first = (int) Math.min(1 << 30, initial);
    return new PrefetchLimits(first, small, request, window, MAX_CURSORS, PARALLEL_RAMP);
  }

  public PrefetchLimits withWindowsUpTo(long bytes) {
    return of(initialWindowBytes, smallRequestBytes, requestBytes, Math.min(maxWindowBytes, bytes));
  }

  /** For a reader that stops soon as a rule: one short request is ahead of it at first. */
  public PrefetchLimits ofBriefReader() {
    return of(smallRequestBytes, smallRequestBytes, requestBytes, maxWindowBytes);
  }

  /** For a reader that one connection feeds: all requests have full length, two at first. */
  public PrefetchLimits ofSlowReader() {
    long two = Math.max(initialWindowBytes, 2L * requestBytes);
    return of(two, requestBytes, requestBytes, maxWindowBytes);
  }
}
