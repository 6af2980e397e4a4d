// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectLayout;
import io.s3e.bench.data.ObjectSlice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Several file systems in one JVM, each over a bucket of its own: first opened and scanned one
 * after the other, all of them staying open; then opened and scanned all at the same moment. No
 * object is scanned twice.
 */
final class ManyFileSystems implements Workload {

  /** How many objects of a bucket are read: one in turn, one together with the others. */
  static final int OBJECTS_A_BUCKET = 2;

  /** Long enough for a rate, and 32 of them for a coffee. */
  private static final long MOST_SCAN_BYTES = 128L << 20;

  private final int count;

  /** Length of each scan, where the largest object has so many bytes. */
  static long scanBytes(long bytes) {
    return Math.max(ObjectLayout.LEAST_STREAM_BYTES, Math.min(MOST_SCAN_BYTES, bytes));
  }

  /**
   * @param count how many file systems
   */
  ManyFileSystems(int count) {
    this.count = count;
  }

  @Override
  public long run(RunContext context) throws Exception {
    try (Opened opened = new Opened(context)) {
      for (int i = 0; i < count; i++) {
        FileSystem fileSystem = opened.open(i);
        RunContext scan = context.of(fileSystem, object(context, i, 0));
        context.part(Part.Kind.IN_TURN, () -> new SequentialRead(1).run(scan));
      }
    }
    try (Opened opened = new Opened(context)) {
      List<RunContext> scans = new ArrayList<>();
      ParallelTasks.run(
          count,
          (i, stopped) -> {
            RunContext scan = context.of(opened.open(i), object(context, i, 1));
            synchronized (scans) {
              scans.add(scan);
            }
          });
      context.part(
          Part.Kind.TOGETHER,
          () -> {
            ParallelTasks.run(count, (i, stopped) -> new SequentialRead(1).run(scans.get(i)));
            return scans;
          });
    }
    return 0;
  }

  private static ObjectSlice object(RunContext context, int bucket, int number) {
    return context.objects().get(bucket * OBJECTS_A_BUCKET + number);
  }

  /** The file systems of one half of the run: the run's own is the first. */
  private static final class Opened implements AutoCloseable {
    private final RunContext context;
    private final List<FileSystem> own = new ArrayList<>();

    Opened(RunContext context) {
      this.context = context;
    }

    /** Opens the file system of a bucket. Any thread. */
    FileSystem open(int bucket) throws IOException {
      if (bucket == 0) {
        return context.fileSystem();
      }
      Path path = new Path(object(context, bucket, 0).uri());
      context.monitor().begin("open of the file system of " + path);
      try {
        FileSystem opened = FileSystem.newInstance(path.toUri(), context.fileSystem().getConf());
        synchronized (own) {
          own.add(opened);
        }
        return opened;
      } finally {
        context.monitor().end();
      }
    }

    @Override
    public void close() throws IOException {
      for (FileSystem fileSystem : own) {
        context.monitor().begin("close of " + fileSystem.getUri());
        try {
          fileSystem.close();
        } finally {
          context.monitor().end();
        }
      }
    }
  }
}
