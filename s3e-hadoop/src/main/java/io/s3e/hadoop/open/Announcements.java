// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.open;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.block.ObjectRef;
import io.s3e.hadoop.client.FileSystemRequests;
import io.s3e.hadoop.client.ReadEngine;
import io.s3e.hadoop.client.RevisionCheckingClient;
import io.s3e.hadoop.client.StreamRequests;
import io.s3e.hadoop.spark.SparkTask;
import io.s3e.hadoop.stats.OpenerStatistics;
import io.s3e.hadoop.stats.StreamStatistics;
import io.s3e.stream.Announcement;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.S3AFileStatus;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.S3AReadOpContext;
import org.apache.hadoop.fs.s3a.Statistic;
import org.apache.hadoop.fs.s3a.statistics.S3AInputStreamStatistics;
import org.apache.hadoop.fs.store.audit.AuditSpan;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of one file system that tasks have announced and that may be opened soon. An
 * announcement is one GET, a guess under the rules of prefetch; its failure is nobody's error.
 *
 * <p><b>Life.</b> An announcement is there from the moment its GET is sent. It serves every opening
 * of its path. It ends {@link #LIFE_NANOS} later, when something is written, renamed or deleted
 * under its path, when newer ones take its place, or with the file system. It tells nobody what the
 * object is: an opening by name asks S3, and its bytes are read by streams on the version that they
 * are of, or by those whose opener knows no version.
 *
 * <p>Any thread. The lock guards the map, and is never held while something is sent or waited for.
 */
public final class Announcements implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(Announcements.class);

  /** A file is opened when the one before it has been read: minutes, if that is a long one. */
  private static final long LIFE_NANOS = TimeUnit.MINUTES.toNanos(5);

  /** Some for each task of a large executor. */
  private static final int MOST_FILES = 256;

  /** Nobody asks an opened file for its time. */
  private static final long MODIFICATION_TIME_NOT_TOLD = 0;

  private final FileSystemAccess access;
  private final ReadEngine engine;

  // Guarded by this; the oldest first.
  private final Map<Path, AnnouncedFile> files = new LinkedHashMap<>();
  private boolean closed;
  private long changes;

  public Announcements(FileSystemAccess access, ReadEngine engine) {
    this.access = access;
    this.engine = engine;
  }

  /**
   * Sends the GET, now or once there is an engine; not where this is closed. Does not wait.
   *
   * @param path qualified
   * @param length of the file, in bytes
   */
  public void announce(Path path, long length) {
    // The version of an answer is told by its ETag alone.
    if (length == 0
        || !RevisionCheckingClient.pinsEtag(access.fileSystem().getChangeDetectionPolicy())) {
      return;
    }
    OpenerStatistics announcer = OpenerStatistics.ofThisThread();
    OpenOptions options = OpenOptions.DEFAULTS.withSize(length).withLabel(SparkTask.label());
    engine.whenMade(made -> announce(made, path, options, announcer));
  }

  private void announce(S3E made, Path path, OpenOptions options, OpenerStatistics announcer) {
    if (isNeedless(path, options.size())) {
      return;
    }
    long before = changes();
    try {
      AnnouncedFile file = send(made, path, options, announcer);
      if (file != null) {
        enter(path, file, before);
      }
    } catch (IOException | RuntimeException e) {
      LOG.debug("Nothing of {} is fetched before it is opened", path, e);
    }
  }

  /** Without an ETag, which nobody knows yet. */
  private S3AFileStatus status(Path path, long length) {
    S3AFileSystem fileSystem = access.fileSystem();
    return new S3AFileStatus(
        length,
        MODIFICATION_TIME_NOT_TOLD,
        path,
        fileSystem.getDefaultBlockSize(path),
        fileSystem.getUsername(),
        null,
        null);
  }

  private boolean isNeedless(Path path, long length) {
    AnnouncedFile file = find(path);
    synchronized (this) {
      return closed || (file != null && file.announcement().size() == length);
    }
  }

  private @Nullable AnnouncedFile send(
      S3E made, Path path, OpenOptions options, OpenerStatistics announcer) throws IOException {
    S3AFileSystem fileSystem = access.fileSystem();
    AuditSpan span =
        fileSystem.createSpan(
            Statistic.INVOCATION_OPEN.getSymbol(), fileSystem.pathToKey(path), null);
    S3AInputStreamStatistics s3a =
        fileSystem.getInstrumentation().newInputStreamStatistics(access.fileSystemStatistics());
    S3AReadOpContext context = access.readContext(status(path, options.size()), span);
    StreamStatistics counting =
        new StreamStatistics(s3a, context.getStats(), context.getS3AStatisticsContext());
    // Perhaps nobody opens the file, and the announcement outlives the task by minutes.
    counting.tell(announcer);
    StreamRequests requests =
        new FileSystemRequests(
            fileSystem,
            span,
            fileSystem.getChangeDetectionPolicy(),
            s3a.getChangeTrackerStatistics());
    ObjectRef object = new ObjectRef(fileSystem.getBucket(), fileSystem.pathToKey(path));
    Announcement announcement =
        made.announce(
            object,
            options
                .withContext(requests)
                .withHeaders(requests.customerKey(object.key()))
                .withListener(counting));
    if (announcement == null) {
      requests.close();
      return null;
    }
    return new AnnouncedFile(announcement, requests, counting, announcer);
  }

  private synchronized long changes() {
    return changes;
  }

  /**
   * @param changesBefore it was sent: what changes meanwhile may be what it has brought
   */
  private void enter(Path path, AnnouncedFile file, long changesBefore) {
    List<AnnouncedFile> ended = new ArrayList<>();
    synchronized (this) {
      boolean isOver = closed || changes != changesBefore;
      AnnouncedFile before = isOver ? file : files.remove(path);
      if (before != null) {
        ended.add(before);
      }
      if (!isOver) {
        files.put(path, file);
        Iterator<AnnouncedFile> oldest = files.values().iterator();
        while (files.size() > MOST_FILES) {
          ended.add(oldest.next());
          oldest.remove();
        }
      }
    }
    ended.forEach(AnnouncedFile::end);
  }

  /** The announcement of a file that is being opened; null if there is none. */
  public @Nullable AnnouncedFile find(Path path) {
    List<AnnouncedFile> ended = new ArrayList<>();
    AnnouncedFile found;
    synchronized (this) {
      Iterator<AnnouncedFile> oldest = files.values().iterator();
      while (oldest.hasNext()) {
        AnnouncedFile file = oldest.next();
        if (file.ageNanos() < LIFE_NANOS) {
          break;
        }
        oldest.remove();
        ended.add(file);
      }
      found = files.get(path);
    }
    ended.forEach(AnnouncedFile::end);
    return found;
  }

  /** Something was or will be written, renamed or deleted at {@code path} or below it. */
  public void changed(Path path) {
    List<AnnouncedFile> ended = new ArrayList<>();
    synchronized (this) {
      changes++;
      if (files.isEmpty()) {
        return;
      }
      String below = path.isRoot() ? path.toString() : path + "/";
      Iterator<Map.Entry<Path, AnnouncedFile>> all = files.entrySet().iterator();
      while (all.hasNext()) {
        Map.Entry<Path, AnnouncedFile> file = all.next();
        if (file.getKey().equals(path) || file.getKey().toString().startsWith(below)) {
          all.remove();
          ended.add(file.getValue());
        }
      }
    }
    ended.forEach(AnnouncedFile::end);
  }

  /** Ends all announcements; those that come later are ended at once. */
  @Override
  public void close() {
    List<AnnouncedFile> ended;
    synchronized (this) {
      closed = true;
      ended = new ArrayList<>(files.values());
      files.clear();
    }
    ended.forEach(AnnouncedFile::end);
  }
}
