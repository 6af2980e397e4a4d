// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.open;

import io.s3e.hadoop.client.StreamRequests;
import io.s3e.hadoop.stats.OpenerStatistics;
import io.s3e.hadoop.stats.StreamStatistics;
import io.s3e.stream.Announcement;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file that a task has announced: the core's announcement, and the counters of its GET. The
 * announcing task's account has been told of these as they come. For Hadoop's statistics they are
 * merged once, into those of the first stream that read what was announced when that is closed,
 * else into the announcing thread's when the announcement ends.
 *
 * <p>Any thread.
 */
public final class AnnouncedFile {
  private static final Logger LOG = LoggerFactory.getLogger(AnnouncedFile.class);

  /** A GET that takes longer is not worth waiting for: one of one's own is quicker. */
  private static final Duration LONGEST_WAIT = Duration.ofMillis(500);

  private final Announcement announcement;
  private final StreamRequests requests;
  private final StreamStatistics counting;
  private final OpenerStatistics announcer;
  private final long begunNanos = System.nanoTime();
  private final AtomicBoolean merged = new AtomicBoolean();

  /**
   * @param requests ended with this
   * @param counting counts the GET
   * @param announcer the announcing thread's counters
   */
  AnnouncedFile(
      Announcement announcement,
      StreamRequests requests,
      StreamStatistics counting,
      OpenerStatistics announcer) {
    this.announcement = announcement;
    this.requests = requests;
    this.counting = counting;
    this.announcer = announcer;
  }

  public Announcement announcement() {
    return announcement;
  }

  /** Time since the GET was sent, in ns. */
  long ageNanos() {
    return System.nanoTime() - begunNanos;
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
  public void mergeInto(OpenerStatistics reader) {
    if (merged.compareAndSet(false, true)) {
      counting.end(reader);
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
