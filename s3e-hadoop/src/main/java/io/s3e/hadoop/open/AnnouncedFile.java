package io.s3e.hadoop.open;

import io.s3e.hadoop.client.StreamRequests;
import io.s3e.hadoop.stats.StreamStatistics;
import io.s3e.stream.Announcement;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.fs.s3a.statistics.S3AInputStreamStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsAggregator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file that a task has announced: the core's announcement, and the counters of its GET. The
 * counters are merged once, into those of the first stream that read what was announced when that
 * is closed, else into the announcing thread's when the announcement ends.
 *
 * <p>Any thread.
 */
public final class AnnouncedFile {
  private static final Logger LOG = LoggerFactory.getLogger(AnnouncedFile.class);

  /**
   * A GET that takes longer is not worth waiting for: a HEAD, or a GET of one's own, is quicker.
   */
  private static final Duration LONGEST_WAIT = Duration.ofMillis(500);

  private final Announcement announcement;
  private final StreamRequests requests;
  private final S3AInputStreamStatistics s3a;
  private final StreamStatistics counting;
  private final IOStatisticsAggregator announcer;
  private final long begunNanos = System.nanoTime();
  private final AtomicBoolean merged = new AtomicBoolean();

  /**
   * @param requests ended with this
   * @param s3a S3A's counters of the GET
   * @param counting counts the GET, in {@code s3a} and beside it
   * @param announcer the announcing thread's counters
   */
  AnnouncedFile(
      Announcement announcement,
      StreamRequests requests,
      S3AInputStreamStatistics s3a,
      StreamStatistics counting,
      IOStatisticsAggregator announcer) {
    this.announcement = announcement;
    this.requests = requests;
    this.s3a = s3a;
    this.counting = counting;
    this.announcer = announcer;
  }

  public Announcement announcement() {
    return announcement;
  }

  /** Time since the GET was sent, in ns: what it tells of the object may be as old. */
  long ageNanos() {
    return System.nanoTime() - begunNanos;
  }

  /** ETag of a file of {@code length} bytes, if S3 has told it by now; null if not. */
  @Nullable String etag(long length) {
    return announcement.size() == length ? announcement.etag() : null;
  }

  /**
   * Waits for S3's answer, at most as long as that is quicker than to ask again.
   *
   * @throws java.io.InterruptedIOException if the thread was interrupted
   */
  public void awaitAnswer() throws IOException {
    boolean unused = announcement.awaitAnswer(LONGEST_WAIT);
  }

  /** A stream that read what was announced has ended; {@code reader} gets the counters. */
  public void mergeInto(IOStatisticsAggregator reader) {
    if (merged.compareAndSet(false, true)) {
      s3a.close();
      reader.aggregate(counting.statistics());
    }
  }

  /** Nobody will open the file by the announcement any more. Idempotent. */
  void end() {
    announcement.release();
    mergeInto(announcer);
    try {
      requests.close();
    } catch (IOException e) {
      LOG.debug("Ending the audit span of {}", announcement, e);
    }
  }
}
