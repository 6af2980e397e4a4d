package io.s3e.hadoop.open;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.S3AFileStatus;
import org.jspecify.annotations.Nullable;

/**
 * The status that a thread has just asked S3 for, kept for the open that follows: Parquet's readers
 * ask for the status and then open by name, which is two HEADs for one answer.
 *
 * <p>A status is handed to one open of the same thread and path, within {@link #LIFE_NANOS}, if
 * nothing was created, renamed or deleted through this file system meanwhile, by whichever thread.
 * A path that this file system has written is not kept at all: its bytes are replaced when the
 * writer closes, of which nobody hears here. The ETag keeps the bytes safe from everybody else's
 * changes.
 *
 * <p>Any thread; one per file system.
 */
public final class KnownStatuses {
  /** Readers open at once; a busy machine may keep a thread waiting for a while. */
  static final long LIFE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  /** Files that are being written, with plenty of room: a file is open for the length of a task. */
  private static final int MOST_WRITTEN = 4096;

  /**
   * @param path qualified
   * @param changes how many there had been before S3 was asked
   */
  private record Known(Path path, S3AFileStatus status, long changes, long toldNanos) {}

  private final ThreadLocal<@Nullable Known> last = new ThreadLocal<>();
  private final AtomicLong changes = new AtomicLong();

  private final Set<Path> written =
      Collections.synchronizedSet(
          Collections.newSetFromMap(
              new LinkedHashMap<>() {
                private static final long serialVersionUID = 1;

                @Override
                protected boolean removeEldestEntry(Map.Entry<Path, Boolean> eldest) {
                  return size() > MOST_WRITTEN;
                }
              }));

  /** How many changes there have been; to be asked before S3 is asked for a status. */
  public long changes() {
    return changes.get();
  }

  /**
   * S3 has answered this thread.
   *
   * @param changesBefore what {@link #changes} was before S3 was asked
   */
  public void told(Path path, FileStatus status, long changesBefore) {
    boolean keeps = status.isFile() && status instanceof S3AFileStatus && !written.contains(path);
    last.set(
        keeps ? new Known(path, (S3AFileStatus) status, changesBefore, System.nanoTime()) : null);
  }

  /** The status that this thread was just told of the file, once; null if there is none. */
  public @Nullable S3AFileStatus take(Path path) {
    Known known = last.get();
    if (known == null) {
      return null;
    }
    last.remove();
    boolean holds =
        known.path().equals(path)
            && known.changes() == changes.get()
            && System.nanoTime() - known.toldNanos() < LIFE_NANOS;
    return holds ? known.status() : null;
  }

  /** A file is about to be written. */
  public void writes(Path path) {
    written.add(path);
    changed();
  }

  /** Something is about to be renamed or deleted, or was. */
  public void changed() {
    changes.incrementAndGet();
  }
}
