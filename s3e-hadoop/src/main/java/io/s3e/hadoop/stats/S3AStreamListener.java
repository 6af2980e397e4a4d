package io.s3e.hadoop.stats;

import io.s3e.metrics.StreamListener;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.hadoop.fs.s3a.statistics.S3AInputStreamStatistics;
import org.apache.hadoop.fs.statistics.DurationTracker;
import org.jspecify.annotations.Nullable;

/**
 * Tells S3A's statistics of one stream what its GETs do: a duration sample of {@code
 * action_http_get_request} for each, {@code stream_read_opened}, and {@code stream_read_exceptions}
 * for failures that are retried; and {@link DiskCacheStatistics} what local disk does for it. Any
 * thread; holds no stream.
 */
public final class S3AStreamListener implements StreamListener {
  private final S3AInputStreamStatistics statistics;
  private final DiskCacheStatistics.OfStream disk;

  /** Offset of a GET in flight to its tracker: a stream sends one GET for an offset at a time. */
  private final ConcurrentMap<Long, DurationTracker> inFlight = new ConcurrentHashMap<>();

  public S3AStreamListener(S3AInputStreamStatistics statistics, DiskCacheStatistics.OfStream disk) {
    this.statistics = statistics;
    this.disk = disk;
  }

  @Override
  public void onGetStarted(long offset, long bytes, boolean prefetch) {
    statistics.streamOpened();
    DurationTracker abandoned = inFlight.put(offset, statistics.initiateGetRequest());
    if (abandoned != null) {
      abandoned.close();
    }
  }

  @Override
  public void onGetFinished(long offset, long received, long nanos, @Nullable Exception failure) {
    DurationTracker tracker = inFlight.remove(offset);
    if (tracker == null) {
      return;
    }
    if (failure != null) {
      tracker.failed();
    }
    tracker.close();
  }

  @Override
  public void onDiskHit(long bytes) {
    disk.hit(bytes);
  }

  @Override
  public void onDiskMiss(long bytes) {
    disk.miss(bytes);
  }

  @Override
  public void onRetry(Exception failure) {
    statistics.readException();
  }
}
