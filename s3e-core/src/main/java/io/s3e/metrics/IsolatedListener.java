// SPDX-License-Identifier: Apache-2.0
package io.s3e.metrics;

import io.s3e.jvm.Background;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stands before a {@link StreamListener} of the user's, so that nothing which that one throws
 * reaches the fetch layer: an exception there would end a request in the middle of its accounts.
 * The first one of each stream is logged, and later ones only at debug level.
 */
public final class IsolatedListener implements StreamListener {
  private static final Logger LOG = LoggerFactory.getLogger(IsolatedListener.class);

  private final StreamListener listener;
  private final AtomicBoolean told = new AtomicBoolean();

  private IsolatedListener(StreamListener listener) {
    this.listener = listener;
  }

  /** {@code listener} behind a wall; itself where there is nothing to fear. */
  public static StreamListener of(StreamListener listener) {
    return listener == NONE ? listener : new IsolatedListener(listener);
  }

  private void tell(Runnable event) {
    try {
      event.run();
    } catch (Throwable e) {
      Background.log(() -> say(e));
    }
  }

  private void say(Throwable thrown) {
    if (told.compareAndSet(false, true)) {
      LOG.warn("{} threw; a listener must not, and what it throws is ignored", listener, thrown);
    } else {
      LOG.debug("{} threw again", listener, thrown);
    }
  }

  @Override
  public void onGetStarted(long offset, long bytes, boolean prefetch) {
    tell(() -> listener.onGetStarted(offset, bytes, prefetch));
  }

  @Override
  public void onGetSent(long offset, long bytes, boolean prefetch) {
    tell(() -> listener.onGetSent(offset, bytes, prefetch));
  }

  @Override
  public void onGetFinished(long offset, long received, long nanos, @Nullable Exception failure) {
    tell(() -> listener.onGetFinished(offset, received, nanos, failure));
  }

  @Override
  public void onRetry(Exception failure) {
    tell(() -> listener.onRetry(failure));
  }

  @Override
  public void onCount(EngineMetrics.Counter counter, long amount) {
    // One for each block of a scan: without a lambda.
    try {
      listener.onCount(counter, amount);
    } catch (Throwable e) {
      Background.log(() -> say(e));
    }
  }

  @Override
  public void onDiskCount(DiskMetrics.Counter counter, long amount) {
    tell(() -> listener.onDiskCount(counter, amount));
  }

  @Override
  public void onVectoredRead(int ranges, int reads) {
    tell(() -> listener.onVectoredRead(ranges, reads));
  }
}
