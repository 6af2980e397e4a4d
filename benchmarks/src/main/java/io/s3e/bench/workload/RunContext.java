package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectSlice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.jspecify.annotations.Nullable;

/** What a workload has at hand during one run. Any thread. */
final class RunContext {

  private final @Nullable FileSystem fileSystem;
  private final RunSpec spec;
  private final @Nullable ReferenceFile reference;
  private final ReadMonitor monitor;
  private final Overhead overhead = new Overhead();

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

  ReadMonitor monitor() {
    return monitor;
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

  /** What comparing, and the workload's own buffers, cost. */
  Overhead overhead() {
    return overhead;
  }
}
