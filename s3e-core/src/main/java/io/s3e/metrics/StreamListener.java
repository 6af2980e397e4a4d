// SPDX-License-Identifier: Apache-2.0
package io.s3e.metrics;

import org.jspecify.annotations.Nullable;

/**
 * Hears what one stream causes. Called from readers' threads and from the client's; implementations
 * are thread-safe, fast, and never block or throw. A listener may outlive its stream by the
 * requests still in flight, and must not hold the stream strongly: a forgotten stream has to remain
 * collectable.
 */
public interface StreamListener {

  /** Hears nothing. */
  StreamListener NONE = new StreamListener() {};

  /**
   * A GET of {@code bytes} bytes at {@code offset} is given to the client, which may hold it back
   * for a while; {@code prefetch} if nobody waits.
   */
  default void onGetStarted(long offset, long bytes, boolean prefetch) {}

  /**
   * That GET has gone out to the store. Told when the client knows, which is after {@link
   * #onGetFinished} for some that were cancelled; twice if the client has sent it twice by itself,
   * and never if it ended before it was sent.
   *
   * @param prefetch whether nobody waited for it when it was given to the client
   */
  default void onGetSent(long offset, long bytes, boolean prefetch) {}

  /**
   * That GET ended. Its bytes may have been read long before, and the stream closed.
   *
   * @param received bytes of body received, at most what was asked
   * @param nanos time since it was given to the client
   * @param failure why it failed, or null
   */
  default void onGetFinished(long offset, long received, long nanos, @Nullable Exception failure) {}

  /** A failed GET will be sent again after a pause. */
  default void onRetry(Exception failure) {}

  /**
   * A counter has {@code amount} more by this stream, perhaps long after it was closed: as when a
   * block that it has fetched is read by another stream, or leaves memory unread. Bytes of a GET
   * are counted before readers see them. Columnar ones are told by a reader that holds the stream's
   * planning back meanwhile.
   */
  default void onCount(EngineMetrics.Counter counter, long amount) {}

  /** As {@link #onCount}: hits and misses on local disk. */
  default void onDiskCount(DiskMetrics.Counter counter, long amount) {}

  /** A vectored read of {@code ranges} ranges was joined into {@code reads} reads. */
  default void onVectoredRead(int ranges, int reads) {}
}
