// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectSlice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.jspecify.annotations.Nullable;

/**
 * The means of a workload during one run, or for a share of it: {@link #of} and {@link #bytes} make
 * contexts of the same run. Any thread.
 */
final class RunContext {

  private final @Nullable FileSystem fileSystem;
  private final RunSpec spec;
  private final @Nullable ReferenceFile reference;
  private final ReadMonitor monitor;
  private final ReadClock clock;
  private final Overhead overhead;
  private final List<Part> parts;
  private final LongAdder bytesBeside;

  /**
   * @param fileSystem null in a run of a raw client
   */
  RunContext(
      @Nullable FileSystem fileSystem,
      RunSpec spec,
      @Nullable ReferenceFile reference,
      ReadMonitor monitor) {
    this.fileSystem = fileSystem;
    this.spec = spec;
    this.reference = reference;
    this.monitor = monitor;
    this.clock = new ReadClock();
    this.overhead = new Overhead();
    this.parts = new CopyOnWriteArrayList<>();
    this.bytesBeside = new LongAdder();
  }

  private RunContext(RunContext run, @Nullable FileSystem fileSystem, RunSpec spec) {
    this.fileSystem = fileSystem;
    this.spec = spec;
    this.reference = run.reference;
    this.monitor = run.monitor;
    this.clock = run.clock;
    this.overhead = run.overhead;
    this.parts = run.parts;
    this.bytesBeside = run.bytesBeside;
  }

  /** The same for one object, all of it, through a file system of its own. */
  RunContext of(FileSystem own, ObjectSlice object) {
    return new RunContext(this, own, spec.of(List.of(object), object.length()));
  }

  /** The same for one object, all of it. */
  RunContext of(ObjectSlice object) {
    return of(fileSystem(), object);
  }

  /** The same for so many bytes. */
  RunContext bytes(long bytes) {
    return new RunContext(this, fileSystem, spec.of(spec.objects(), bytes));
  }

  /** Work of a workload that gives something. */
  @FunctionalInterface
  interface Work<T> {
    T run() throws Exception;
  }

  /**
   * Measures a part of the run by itself. Parts may be within each other; what the monitor counts
   * meanwhile must be theirs.
   */
  <T> T part(Part.Kind kind, Work<T> work) throws Exception {
    long bytes = monitor.bytesUsed();
    int timed = monitor.timed();
    long start = System.nanoTime();
    T result = work.run();
    long wall = System.nanoTime() - start;
    parts.add(
        new Part(
            kind,
            wall,
            monitor.bytesUsed() - bytes,
            monitor.latency(0.50, timed),
            monitor.latency(0.99, timed)));
    return result;
  }

  /** The parts that were measured by themselves so far. */
  List<Part> parts() {
    return parts;
  }

  /** Counts bytes that were read beside what is measured. */
  void usedBeside(long bytes) {
    bytesBeside.add(bytes);
  }

  /** All bytes that were used, those beside what is measured among them. */
  long bytesUsed() {
    return monitor.bytesUsed() + bytesBeside.sum();
  }

  RunSpec spec() {
    return spec;
  }

  /** Name of the object of a workload that reads one. */
  Path path() {
    return new Path(object().uri());
  }

  FileSystem fileSystem() {
    if (fileSystem == null) {
      throw new IllegalStateException("This run has no file system: " + spec);
    }
    return fileSystem;
  }

  /** The same with its calls timed by {@link #clock}. */
  FileSystem timedFileSystem() {
    return new TimedFileSystem(fileSystem(), clock);
  }

  ReadMonitor monitor() {
    return monitor;
  }

  /** The time in calls through {@link #timedFileSystem}. */
  ReadClock clock() {
    return clock;
  }

  /** The objects, or ranges of one, that the workload reads. */
  List<ObjectSlice> objects() {
    return spec.objects();
  }

  /** The object of a workload that reads one. */
  ObjectSlice object() {
    return spec.objects().get(0);
  }

  /** Opens an object as an application does that knows nothing but its name. */
  FSDataInputStream open(ObjectSlice object) throws IOException {
    monitor.begin("open of " + object.uri());
    try {
      return fileSystem().open(new Path(object.uri()));
    } finally {
      monitor.end();
    }
  }

  /** How much to read of an object that is read from the front: as asked, if there is so much. */
  long bytesFromFront() {
    return Math.min(spec.bytes(), object().length());
  }

  /** Seeks, fills the buffer from there on as one read of the run, and compares it. */
  void seekAndRead(FSDataInputStream in, ObjectSlice object, long position, byte[] buffer)
      throws IOException {
    monitor().begin("seek and readFully", position, buffer.length);
    try {
      in.seek(position);
      in.readFully(buffer);
      monitor().endRead(buffer.length);
    } finally {
      monitor().end();
    }
    check(object, position, buffer, buffer.length);
  }

  /** Compares what a read returned with what the object holds there. */
  void check(ObjectSlice object, long position, byte[] bytes, int count)
      throws WrongBytesException {
    check(object, position, ByteBuffer.wrap(bytes, 0, count));
  }

  /** Compares what a buffer has left with what the object holds there; takes none of it. */
  void check(ObjectSlice object, long position, ByteBuffer bytes) throws WrongBytesException {
    if (reference == null) {
      throw new IllegalStateException("This run has no reference file: " + spec);
    }
    overhead.of(() -> reference.check(object, position, bytes));
  }

  /** A buffer for the workload to read into. */
  byte[] buffer(int length) {
    return overhead.buffer(length);
  }

  /** The cost of comparing, and of the workload's own buffers. */
  Overhead overhead() {
    return overhead;
  }
}
