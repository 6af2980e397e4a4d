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

  /** {@code bytes} bytes of the body of a GET have come; readers see them after this. */
  default void onReceived(long bytes) {}

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

  /** A GET is sent beside one that is late for its reader, for the same bytes. */
  default void onHedge() {}

  /** {@code bytes} bytes are of no use: their block never became whole, or they came twice. */
  default void onDiscarded(long bytes) {}

  /** A reader got {@code bytes} bytes that were in memory when it asked. */
  default void onMemoryHit(long bytes) {}

  /**
   * A read took {@code bytes} bytes from the local disk in place of a GET; {@code complete} if the
   * disk had all that was looked for.
   */
  default void onDiskHit(long bytes, boolean complete) {}

  /** {@code bytes} bytes were looked for on the local disk and had to come from S3. */
  default void onDiskMiss(long bytes) {}

  /** A reader waited {@code nanos} ns for bytes at {@code offset}. */
  default void onStall(long offset, long nanos) {}

  /** A prefetch brought a whole block of {@code bytes} bytes from S3. */
  default void onPrefetched(long bytes) {}

  /** Memory, concurrency, the local disk or the gate before the store refused a prefetch. */
  default void onPrefetchRefused() {}

  /**
   * A block that this stream caused to be fetched was read by somebody for the first time, perhaps
   * by another stream and long after this one was closed.
   *
   * @param prefetch whether nobody waited for it when it was asked for
   */
  default void onUsed(long bytes, boolean prefetch) {}

  /**
   * Such a block has left memory before anybody read it, perhaps long after this stream was closed.
   *
   * @param prefetch whether nobody waited for it when it was asked for
   */
  default void onWasted(long bytes, boolean prefetch) {}

  /**
   * A counter of columnar files ({@code COLUMNAR_…}) has {@code amount} more by this stream. Called
   * by a reader that holds the stream's planning back meanwhile.
   */
  default void onColumnar(EngineMetrics.Counter counter, long amount) {}

  /** A vectored read of {@code ranges} ranges was joined into {@code reads} reads. */
  default void onVectoredRead(int ranges, int reads) {}
}
