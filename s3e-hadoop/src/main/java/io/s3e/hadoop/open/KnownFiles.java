package io.s3e.hadoop.open;

import io.s3e.hadoop.client.ReadEngine;
import io.s3e.hadoop.client.RevisionCheckingClient;
import java.io.Closeable;
import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.S3AFileStatus;
import org.jspecify.annotations.Nullable;

/**
 * All that one file system knows of files before they are opened. All paths are qualified. Any
 * thread.
 */
public final class KnownFiles implements Closeable {
  private final KnownStatuses statuses = new KnownStatuses();
  private final Announcements announcements;

  /** Whether a read would notice that a status does not hold any more. */
  private final boolean pinsEtag;

  public KnownFiles(FileSystemAccess access, ReadEngine engine) {
    announcements = new Announcements(access, engine);
    pinsEtag = RevisionCheckingClient.pinsEtag(access.fileSystem().getChangeDetectionPolicy());
  }

  public KnownStatuses statuses() {
    return statuses;
  }

  /** As {@link Announcements#announce}. */
  public void announce(Path path, long length) {
    announcements.announce(path, length);
  }

  /** What is known of a file that this thread opens; waits for the answer to an announcement. */
  public KnownFile toOpen(Path path) throws IOException {
    S3AFileStatus status = told(path);
    AnnouncedFile announced = announcements.find(path);
    if (status == null && announced != null) {
      announced.awaitAnswer();
      status = announcements.status(path, announced);
    }
    return new KnownFile(status, announced);
  }

  /**
   * What is known of a file that another thread opens for this one; does not wait.
   *
   * @param isTold whether the application tells the file's length or status itself
   */
  public KnownFile toOpenAside(Path path, boolean isTold) {
    AnnouncedFile announced = announcements.find(path);
    if (isTold) {
      return new KnownFile(null, announced);
    }
    S3AFileStatus status = told(path);
    if (status == null && announced != null) {
      status = announcements.status(path, announced);
    }
    return new KnownFile(status, announced);
  }

  private @Nullable S3AFileStatus told(Path path) {
    S3AFileStatus status = statuses.take(path);
    return pinsEtag && status != null && status.getEtag() != null ? status : null;
  }

  /** A file is about to be written. */
  public void writes(Path path) {
    statuses.writes(path);
    announcements.changed(path);
  }

  /** Something at or below the path is about to be renamed or deleted, or was. */
  public void changed(Path path) {
    statuses.changed();
    announcements.changed(path);
  }

  @Override
  public void close() {
    announcements.close();
  }
}
