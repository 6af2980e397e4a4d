// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectSlice;
import java.io.IOException;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** An activity in a JVM beside a reader, or before it reads. */
enum Disturbance {
  HANG("hang", "beside 8 readers of a file system whose store accepts GETs and never answers"),
  FULL("full", "beside a file system of 16 streams that scan, each at the 10 MB/s of its consumer"),
  CHURN("churn", "beside a file system that is opened, read from and closed again and again"),
  IDLE("idle", "beside 40 open streams of the same file system that have read and rest"),
  DROPPED("dropped", "after 1,000 streams of the same file system were closed during reads"),
  RANDOM("random", "after 5 s of positioned reads of 4 KiB at random in the same file system");

  /**
   * How much of it.
   *
   * @param dropped streams that are closed during reads
   * @param random how long reads at random last
   * @param settle how long what runs beside the reader runs before the reader begins
   */
  record Effort(int dropped, Duration random, Duration settle) {
    static final Effort FULL = new Effort(1000, Duration.ofSeconds(5), Duration.ofSeconds(2));
  }

  private static final int HANGING_READERS = 8;
  private static final int FULL_STREAMS = 16;

  /** Of 10 MB/s. */
  private static final long NANOS_A_BYTE = 100;

  private static final int IDLE_STREAMS = 40;
  private static final int IDLE_READS = 4;
  private static final int DROPPING_THREADS = 16;
  private static final int MOST_MILLIS_BEFORE_CLOSE = 60;
  private static final int RANDOM_THREADS = 8;
  private static final int RANDOM_BYTES = 4 << 10;
  private static final int BUFFER_BYTES = 1 << 20;
  private static final long PAUSE_MILLIS = 100;
  private static final long CLOSE_PATIENCE_SECONDS = 30;

  private final String label;
  private final String description;

  Disturbance(String label, String description) {
    this.label = label;
    this.description = description;
  }

  String label() {
    return label;
  }

  String description() {
    return description;
  }

  /**
   * Begins it, or does it, and returns when the reader may begin.
   *
   * @param context of the reader, whose file system is the one that is disturbed
   * @param object what the disturbance reads; nobody else reads it
   */
  Background begin(RunContext context, ObjectSlice object, Effort effort) throws Exception {
    Background background = new Background();
    boolean begun = false;
    try {
      switch (this) {
        case HANG -> hang(background, context, object);
        case FULL -> fill(background, context, object);
        case CHURN -> background.repeat("churn", () -> openAndClose(context, object));
        case IDLE -> idle(background, context, object);
        case DROPPED -> drop(context, object, effort.dropped());
        case RANDOM -> readAtRandom(context, object, effort.random());
      }
      if (this == HANG || this == FULL || this == CHURN) {
        Thread.sleep(effort.settle().toMillis());
      }
      begun = true;
      return background;
    } finally {
      if (!begun) {
        background.close();
      }
    }
  }

  private static FileSystem newFileSystem(RunContext context, ObjectSlice object)
      throws IOException {
    return FileSystem.newInstance(new Path(object.uri()).toUri(), context.fileSystem().getConf());
  }

  private static void hang(Background background, RunContext context, ObjectSlice object)
      throws IOException {
    ObjectSlice hanging = object.besideBucket(ObjectSlice.HANGING);
    FileSystem fileSystem = background.owns(newFileSystem(context, hanging));
    for (int i = 0; i < HANGING_READERS; i++) {
      byte[] buffer = context.buffer(BUFFER_BYTES);
      background.repeat("hanging-" + i, () -> readInVain(fileSystem, hanging, buffer));
    }
  }

  /** As a task does that is tried again. */
  private static void readInVain(FileSystem fileSystem, ObjectSlice object, byte[] buffer)
      throws InterruptedException {
    int got = 0;
    try (FSDataInputStream in = fileSystem.open(new Path(object.uri()))) {
      got = in.read(buffer);
    } catch (IOException gaveUp) {
      Thread.sleep(PAUSE_MILLIS);
    }
    if (got > 0) {
      throw new IllegalStateException("A store that was to hang has sent " + got + " bytes");
    }
  }

  private static void fill(Background background, RunContext context, ObjectSlice object)
      throws IOException {
    ObjectSlice full = object.besideBucket("1");
    FileSystem fileSystem = background.owns(newFileSystem(context, full));
    for (int i = 0; i < FULL_STREAMS; i++) {
      byte[] buffer = context.buffer(BUFFER_BYTES);
      long start = full.length() / FULL_STREAMS * i;
      background.repeat("full-" + i, () -> scanSlowly(context, fileSystem, full, start, buffer));
    }
  }

  /** To the end of the object; the next time does the same. */
  private static void scanSlowly(
      RunContext context, FileSystem fileSystem, ObjectSlice object, long start, byte[] buffer)
      throws IOException, InterruptedException {
    long position = start;
    long began = System.nanoTime();
    try (FSDataInputStream in = fileSystem.open(new Path(object.uri()))) {
      in.seek(position);
      while (position < object.length()) {
        position += readBeside(context, in, object, position, buffer);
        long due = (position - start) * NANOS_A_BYTE;
        TimeUnit.NANOSECONDS.sleep(due - (System.nanoTime() - began));
      }
    }
  }

  private static int readBeside(
      RunContext context, FSDataInputStream in, ObjectSlice object, long position, byte[] buffer)
      throws IOException {
    int want = (int) Math.min(buffer.length, object.length() - position);
    int got = in.read(buffer, 0, want);
    if (got <= 0) {
      throw new WrongBytesException(
          "read returned %d at %d of %s".formatted(got, position, object));
    }
    context.check(object, position, buffer, got);
    context.usedBeside(got);
    return got;
  }

  private static void openAndClose(RunContext context, ObjectSlice object)
      throws IOException, InterruptedException {
    ObjectSlice beside = object.besideBucket("1");
    byte[] buffer = context.buffer(BUFFER_BYTES);
    try (FileSystem fileSystem = newFileSystem(context, beside);
        FSDataInputStream in = fileSystem.open(new Path(beside.uri()))) {
      readBeside(context, in, beside, 0, buffer);
    }
    Thread.sleep(PAUSE_MILLIS);
  }

  private static void idle(Background background, RunContext context, ObjectSlice object)
      throws IOException {
    byte[] buffer = context.buffer(BUFFER_BYTES);
    for (int i = 0; i < IDLE_STREAMS; i++) {
      FSDataInputStream in = background.owns(context.open(object));
      long position = object.length() / 2 / IDLE_STREAMS * i;
      in.seek(position);
      for (int read = 0; read < IDLE_READS && position < object.length(); read++) {
        position += readBeside(context, in, object, position, buffer);
      }
    }
  }

  private static void drop(RunContext context, ObjectSlice object, int streams) throws Exception {
    ExecutorService closers = Executors.newFixedThreadPool(DROPPING_THREADS);
    try {
      ParallelTasks.run(
          DROPPING_THREADS,
          (thread, stopped) -> {
            SplittableRandom random = new SplittableRandom(context.spec().seed() * 31 + thread);
            byte[] buffer = context.buffer(BUFFER_BYTES);
            for (int i = thread; i < streams && !stopped.getAsBoolean(); i += DROPPING_THREADS) {
              dropOne(context, object, closers, random, buffer);
            }
          });
    } finally {
      closers.shutdownNow();
    }
  }

  private static void dropOne(
      RunContext context,
      ObjectSlice object,
      ExecutorService closers,
      SplittableRandom random,
      byte[] buffer)
      throws Exception {
    long position = random.nextLong(object.length());
    int millis = random.nextInt(MOST_MILLIS_BEFORE_CLOSE);
    FSDataInputStream in = context.open(object);
    Future<?> closing =
        closers.submit(
            () -> {
              Thread.sleep(millis);
              in.close();
              return null;
            });
    context.monitor().begin("read of a stream that another thread closes");
    try {
      in.seek(position);
      while (position < object.length()) {
        position += readBeside(context, in, object, position, buffer);
      }
    } catch (WrongBytesException wrong) {
      throw wrong;
    } catch (IOException | RuntimeException closed) {
      // Any error of a stream that is closed during its read.
      context.monitor().begin("end of a read whose stream was closed: " + closed);
    } finally {
      context.monitor().end();
    }
    awaitClose(closing);
  }

  /** A close may complain about the read that it cut off, and must end. */
  private static void awaitClose(Future<?> closing) throws Exception {
    try {
      closing.get(CLOSE_PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException complained) {
      if (!(complained.getCause() instanceof IOException)) {
        throw complained;
      }
    }
  }

  private static void readAtRandom(RunContext context, ObjectSlice object, Duration duration)
      throws Exception {
    long deadline = System.nanoTime() + duration.toNanos();
    ParallelTasks.run(
        RANDOM_THREADS,
        (thread, stopped) -> {
          SplittableRandom random = new SplittableRandom(context.spec().seed() * 31 + thread);
          byte[] buffer = context.buffer(RANDOM_BYTES);
          try (FSDataInputStream in = context.open(object)) {
            while (System.nanoTime() < deadline && !stopped.getAsBoolean()) {
              long position = random.nextLong(object.length() - RANDOM_BYTES + 1);
              context.monitor().begin("positioned read", position, RANDOM_BYTES);
              in.readFully(position, buffer, 0, RANDOM_BYTES);
              context.monitor().end();
              context.check(object, position, buffer, RANDOM_BYTES);
              context.usedBeside(RANDOM_BYTES);
            }
          } finally {
            context.monitor().end();
          }
        });
  }
}
