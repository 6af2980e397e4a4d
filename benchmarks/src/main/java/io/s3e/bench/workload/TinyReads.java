// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import static org.apache.hadoop.fs.Options.OpenFileOptions.FS_OPTION_OPENFILE_READ_POLICY;
import static org.apache.hadoop.fs.Options.OpenFileOptions.FS_OPTION_OPENFILE_READ_POLICY_SEQUENTIAL;
import static org.apache.hadoop.fs.Options.OpenFileOptions.FS_OPTION_OPENFILE_SPLIT_END;
import static org.apache.hadoop.fs.Options.OpenFileOptions.FS_OPTION_OPENFILE_SPLIT_START;

import io.s3e.bench.data.ObjectSlice;
import java.io.EOFException;
import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.FutureIO;

/**
 * Records of 100 bytes from front to end, opened and read as TeraSort's input format does: one read
 * call for each record, unless the stream gives less, and a copy of its key and its value.
 *
 * <p>A clock around each call would cost more than the call. The clock times ten thousand records
 * at a time, and their mean is taken as the latency of each.
 */
final class TinyReads implements Workload {

  private static final int KEY_BYTES = 10;
  private static final int RECORD_BYTES = 100;
  private static final int RECORDS_TIMED = 10_000;

  @Override
  public long run(RunContext context) throws Exception {
    ObjectSlice object = context.object();
    long records = context.bytesFromFront() / RECORD_BYTES;
    byte[] record = context.buffer(RECORD_BYTES);
    byte[] batch = context.buffer(RECORDS_TIMED * RECORD_BYTES);
    ReadMonitor monitor = context.monitor();
    try (FSDataInputStream in = open(context, object)) {
      for (long first = 0; first < records; first += RECORDS_TIMED) {
        int count = (int) Math.min(RECORDS_TIMED, records - first);
        long position = object.position() + first * RECORD_BYTES;
        monitor.begin("read of records of 100 bytes,", position, (long) count * RECORD_BYTES);
        try {
          long calls = readRecords(in, record, batch, count);
          monitor.endReads(calls, (long) count * RECORD_BYTES);
        } finally {
          monitor.end();
        }
        context.check(object, position, batch, count * RECORD_BYTES);
      }
    }
    return 0;
  }

  private static FSDataInputStream open(RunContext context, ObjectSlice object) throws IOException {
    context.monitor().begin("open of " + object.uri());
    try {
      return FutureIO.awaitFuture(
          context
              .fileSystem()
              .openFile(new Path(object.uri()))
              .optLong(FS_OPTION_OPENFILE_SPLIT_START, object.position())
              .optLong(FS_OPTION_OPENFILE_SPLIT_END, object.position() + object.length())
              .opt(FS_OPTION_OPENFILE_READ_POLICY, FS_OPTION_OPENFILE_READ_POLICY_SEQUENTIAL)
              .build());
    } finally {
      context.monitor().end();
    }
  }

  private static long readRecords(FSDataInputStream in, byte[] record, byte[] batch, int count)
      throws IOException {
    long calls = 0;
    for (int i = 0; i < count; i++) {
      int got = 0;
      while (got < RECORD_BYTES) {
        int n = in.read(record, got, RECORD_BYTES - got);
        calls++;
        if (n < 0) {
          throw new EOFException("The object ended at " + in.getPos());
        }
        got += n;
      }
      int at = i * RECORD_BYTES;
      System.arraycopy(record, 0, batch, at, KEY_BYTES);
      System.arraycopy(record, KEY_BYTES, batch, at + KEY_BYTES, RECORD_BYTES - KEY_BYTES);
    }
    return calls;
  }
}
