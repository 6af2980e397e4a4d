package io.s3e.bench.workload;

import org.apache.hadoop.fs.FSDataInputStream;

/** One stream from the front, into a heap buffer of 1 MiB. */
final class SequentialRead implements Workload {

  private static final int BUFFER_BYTES = 1 << 20;

  @Override
  public long run(RunContext context) throws Exception {
    ReadMonitor monitor = context.monitor();
    byte[] buffer = new byte[BUFFER_BYTES];
    long length = context.bytesFromFront();
    try (FSDataInputStream in = context.open()) {
      long position = 0;
      while (position < length) {
        int want = (int) Math.min(BUFFER_BYTES, length - position);
        monitor.begin("read of " + want + " bytes at " + position);
        int got = in.read(buffer, 0, want);
        if (got <= 0) {
          monitor.end();
          throw new WrongBytesException(
              "read returned " + got + " at " + position + " of " + length + " bytes");
        }
        monitor.endRead(got);
        context.check(position, buffer, got);
        position += got;
      }
    }
    return 0;
  }
}
