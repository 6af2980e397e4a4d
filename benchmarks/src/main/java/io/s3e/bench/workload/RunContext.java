package io.s3e.bench.workload;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.jspecify.annotations.Nullable;

/** What a workload has at hand during one run. Any thread. */
final class RunContext {

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final @Nullable FileSystem fileSystem;
  private final Path path;
  private final RunSpec spec;
  private final @Nullable ReferenceFile reference;
  private final ReadMonitor monitor;
  private final LongAdder checkCpuNanos = new LongAdder();

  /**
   * @param fileSystem null in a run of a raw client
   */
  RunContext(
      @Nullable FileSystem fileSystem,
      RunSpec spec,
      @Nullable ReferenceFile reference,
      ReadMonitor monitor) {
    this.fileSystem = fileSystem;
    this.path = new Path(spec.uri());
    this.spec = spec;
    this.reference = reference;
    this.monitor = monitor;
  }

  RunSpec spec() {
    return spec;
  }

  Path path() {
    return path;
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

  /** Opens the object as an application does that knows nothing but its name. */
  FSDataInputStream open() throws IOException {
    monitor.begin("open");
    try {
      return fileSystem().open(path);
    } finally {
      monitor.end();
    }
  }

  private ReferenceFile reference() {
    if (reference == null) {
      throw new IllegalStateException("This run has no reference file: " + spec);
    }
    return reference;
  }

  /** How many bytes of the object can be compared, and so may be read. */
  long referenceLength() {
    return reference().length();
  }

  /** How much to read of an object that is read from the front: as asked, if there is so much. */
  long bytesFromFront() {
    return Math.min(spec.bytes(), referenceLength());
  }

  /** Compares what a read returned with what the object holds. */
  void check(long position, byte[] bytes, int count) throws WrongBytesException {
    check(position, ByteBuffer.wrap(bytes, 0, count));
  }

  /** Compares a buffer, from its position to its limit, with what the object holds. */
  void check(long position, ByteBuffer bytes) throws WrongBytesException {
    long start = THREADS.getCurrentThreadCpuTime();
    reference().check(position, bytes);
    checkCpuNanos.add(THREADS.getCurrentThreadCpuTime() - start);
  }

  /** Processor time spent on comparing, in nanoseconds. */
  long checkCpuNanos() {
    return checkCpuNanos.sum();
  }
}
