// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stream;

import java.io.IOException;
import java.lang.ref.Cleaner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches one stream object; when it is collected without having been closed, says so with the
 * stack that opened it, and closes what it left. Logs as Hadoop's own leak reporter does (3.4.2 and
 * later): the file at WARN, the stack at INFO, under the same logger.
 */
final class LeakReport implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger("org.apache.hadoop.fs.resource.leaks");
  private static final Cleaner CLEANER = Cleaner.create();

  private final OpenStream left;
  private final Throwable opener;

  private LeakReport(OpenStream left) {
    this.left = left;
    opener =
        new Throwable(
            "Stream not closed while reading "
                + left.source().path()
                + "; thread: "
                + Thread.currentThread().getName());
  }

  /**
   * @param stream what may be forgotten
   * @param left what it leaves behind; must not refer to {@code stream}
   * @return to be cleaned when the stream is closed
   */
  static Cleaner.Cleanable watch(S3EHadoopInputStream stream, OpenStream left) {
    return CLEANER.register(stream, new LeakReport(left));
  }

  /** Runs once: after the stream has been closed, or when it has become unreachable. */
  @Override
  public void run() {
    if (!left.isOpen()) {
      return;
    }
    LOG.warn(opener.getMessage());
    LOG.info("stack", opener);
    left.source().requests().countLeak();
    try {
      left.close();
    } catch (IOException | RuntimeException e) {
      LOG.info("Closing the leaked stream of {} failed", left.source().path(), e);
    }
  }
}
