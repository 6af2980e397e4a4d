package io.s3e.hadoop.stream;

import io.s3e.hadoop.open.AnnouncedFile;
import java.io.IOException;
import org.apache.hadoop.fs.s3a.S3AFileStatus;
import org.apache.hadoop.fs.statistics.IOStatisticsAggregator;
import org.jspecify.annotations.Nullable;

/**
 * What a file system tells a stream beside what S3A does.
 *
 * @param hints of {@code openFile()}
 * @param opener counts for the opening thread: {@code openFile()} opens on another thread, where
 *     S3A takes that thread's
 * @param announced what was fetched of the file before; null if nothing
 * @param recheck asks S3 for the file's status; null if S3 was asked for this opening, or the
 *     application told the status itself
 */
public record Opening(
    OpenHints hints,
    IOStatisticsAggregator opener,
    @Nullable AnnouncedFile announced,
    @Nullable Recheck recheck) {

  /** A HEAD of S3A's. */
  @FunctionalInterface
  public interface Recheck {
    S3AFileStatus ask() throws IOException;
  }
}
