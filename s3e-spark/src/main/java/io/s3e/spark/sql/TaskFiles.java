// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.sql;

import io.s3e.hadoop.open.NextFiles;
import io.s3e.hadoop.open.NextFiles.NextFile;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.Path;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.util.TaskCompletionListener;
import org.jspecify.annotations.Nullable;

/**
 * The files that the tasks of this JVM are about to open, by task. A task enters them before it
 * opens the first; they go with the task, whether it ends well or not. A file is told once: readers
 * that open it twice, and tasks that read several splits of it, announce the next one once.
 *
 * <p>Any thread: a task is known by the {@link TaskContext} of the thread, which Spark sets also on
 * threads that read for a task, as those that feed Python.
 */
final class TaskFiles {
  /** By id of the task attempt, which is one's own in an application: what follows on a file. */
  private static final Map<Long, Map<Path, NextFile>> TASKS = new ConcurrentHashMap<>();

  static {
    NextFiles.tellBy(TaskFiles::after);
  }

  private TaskFiles() {}

  static void expect(TaskContext task, PartitionedFile[] files) {
    if (files.length < 2) {
      return;
    }
    Map<Path, NextFile> ofTask = ofTask(task);
    for (int i = 1; i < files.length; i++) {
      Path previous = files[i - 1].toPath();
      Path path = files[i].toPath();
      if (!path.equals(previous)) {
        ofTask.putIfAbsent(previous, new NextFile(path, files[i].fileSize()));
      }
    }
  }

  private static Map<Path, NextFile> ofTask(TaskContext task) {
    long id = task.taskAttemptId();
    Map<Path, NextFile> made = new ConcurrentHashMap<>();
    Map<Path, NextFile> known = TASKS.putIfAbsent(id, made);
    if (known != null) {
      return known;
    }
    // Outside of the map's own calls: it is called at once if the task has ended.
    TaskCompletionListener forget = ended -> TASKS.remove(id);
    task.addTaskCompletionListener(forget);
    return made;
  }

  private static @Nullable NextFile after(Path opened) {
    TaskContext task = TASKS.isEmpty() ? null : TaskContext.get();
    Map<Path, NextFile> files = task == null ? null : TASKS.get(task.taskAttemptId());
    return files == null ? null : files.remove(opened);
  }

  /** Tasks that have files still to open; for tests. */
  static int tasks() {
    return TASKS.size();
  }
}
