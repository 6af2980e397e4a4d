// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.stream.HeldTimer;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.MemoryObjectClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jacoco.agent.rt.IAgent;
import org.jacoco.agent.rt.RT;

/**
 * A JVM with JaCoCo's agent in which a reader does one thing, as the first that anybody does: what
 * ran meanwhile, on any thread, goes to a file. But for the timer, which looks every 0.1 s at reads
 * that wait: how much of that is in a read is the machine's.
 */
final class TracedReads {
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");
  private static final int KIB = 1 << 10;
  private static final int MIB = 1 << 20;
  private static final int GROUPS = 4;
  private static final int COLUMNS = 4;

  /** What is traced. */
  enum Trace {
    /** {@code read} of the first 256 KiB. */
    READ,
    /** A Parquet file: its length and footer from its end, then two columns of its first group. */
    COLUMNS
  }

  private TracedReads() {}

  /**
   * @param arguments name of the {@link Trace}, and the file
   */
  public static void main(String[] arguments) throws Exception {
    Trace trace = Trace.valueOf(arguments[0]);
    MemoryObjectClient client =
        new MemoryObjectClient(new ClientLimits(MIB, 16, 0, 4 * MIB, 16, 64L * MIB));
    byte[] content = content(trace);
    client.put(OBJECT, content, "\"v1\"");
    try (S3E s3e = S3E.create(S3EConfig.DEFAULTS, new MemoryBudget(128L * MIB), granted -> client);
        S3EInputStream in = s3e.open(OBJECT, OpenOptions.DEFAULTS);
        HeldTimer unused = HeldTimer.of(in)) {
      IAgent agent = RT.getAgent();
      agent.reset();
      switch (trace) {
        case READ -> read(in, 0, 256 * KIB);
        case COLUMNS -> {
          read(in, content.length - 8, 8);
          read(in, content.length - FOOTER, FOOTER - 8);
          read(in, 4, MIB);
          read(in, 4 + 2 * MIB, MIB);
        }
      }
      Files.write(Path.of(arguments[1]), agent.getExecutionData(false));
    }
    System.out.println("traced");
  }

  private static void read(S3EInputStream in, long position, int length) throws Exception {
    in.seek(position);
    byte[] bytes = new byte[length];
    for (int done = 0; done < length; ) {
      int count = in.read(bytes, done, length - done);
      if (count < 0) {
        throw new IllegalStateException("the object ends at " + (position + done));
      }
      done += count;
    }
  }

  private static final int FOOTER = 16 * KIB;

  private static byte[] content(Trace trace) {
    byte[] content = MemoryObjectClient.bytes(GROUPS * COLUMNS * MIB + 4 + FOOTER, 7);
    if (trace == Trace.COLUMNS) {
      List<String> names = new ArrayList<>();
      List<List<FooterWriter.Chunk>> groups = new ArrayList<>();
      for (int column = 0; column < COLUMNS; column++) {
        names.add("c" + column);
      }
      for (int group = 0; group < GROUPS; group++) {
        List<FooterWriter.Chunk> chunks = new ArrayList<>();
        for (int column = 0; column < COLUMNS; column++) {
          long start = 4 + (long) (group * COLUMNS + column) * MIB;
          chunks.add(new FooterWriter.Chunk(null, start, MIB, null, 0, null, 0, null, null));
        }
        groups.add(chunks);
      }
      byte[] tail = RecordedFiles.parquetTail(FooterWriter.write(names, groups, FOOTER - 8));
      System.arraycopy(tail, 0, content, content.length - tail.length, tail.length);
    }
    return content;
  }
}
