// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectSlice;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.FutureIO;

/**
 * Many small objects, each opened and read whole, by 16 threads that take one after the other. As
 * in a job of MapReduce or Spark the objects were listed before, which is not timed, and each is
 * opened with the status from the listing; or, as a program does that knows only their names,
 * without. A read, in the figures, is the open and the read of one object.
 */
final class SmallObjects implements Workload {

  private static final int THREADS = 16;

  private final boolean statusGiven;
  private final Statuses statuses = Statuses.listed();

  SmallObjects(boolean statusGiven) {
    this.statusGiven = statusGiven;
  }

  @Override
  public void prepare(RunContext context) throws IOException {
    if (statusGiven) {
      statuses.prepare(context);
    }
  }

  @Override
  public long run(RunContext context) throws Exception {
    List<ObjectSlice> objects = context.objects();
    AtomicInteger next = new AtomicInteger();
    ParallelTasks.run(
        THREADS,
        (thread, stopped) -> {
          for (int i = next.getAndIncrement();
              i < objects.size() && !stopped.getAsBoolean();
              i = next.getAndIncrement()) {
            read(context, objects.get(i));
          }
        });
    return 0;
  }

  private void read(RunContext context, ObjectSlice object) throws IOException {
    byte[] bytes = context.buffer(Math.toIntExact(object.length()));
    context.monitor().begin("open and readFully of " + object.uri());
    try (FSDataInputStream in = open(context.fileSystem(), new Path(object.uri()))) {
      in.readFully(bytes);
      context.monitor().endRead(bytes.length);
    } finally {
      context.monitor().end();
    }
    context.check(object, 0, bytes, bytes.length);
  }

  private FSDataInputStream open(FileSystem fileSystem, Path path) throws IOException {
    if (!statusGiven) {
      return fileSystem.open(path);
    }
    FileStatus status = statuses.of(fileSystem, path);
    return FutureIO.awaitFuture(fileSystem.openFile(path).withFileStatus(status).build());
  }
}
