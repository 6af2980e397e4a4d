// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AReads;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.StoredContent;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** A reader that meets broken connections at random, one read after another. */
final class RandomFaults {
  /** Few enough for the budget of retries to grow again. */
  private static final double SHARE = 0.15;

  private static final Fault[] BROKEN = {
    Fault.resetAtOnce(),
    Fault.endAtOnce(),
    Fault.resetAfter(0),
    Fault.resetAfter(100_000),
    Fault.resetAt(0.5),
    Fault.resetAt(0.999_999),
    Fault.endAfter(0),
    Fault.endAfter(70_000),
    Fault.endAt(0.5),
    Fault.endAt(0.999_999)
  };

  private RandomFaults() {}

  /**
   * Reads files until so many answers have been broken.
   *
   * @throws Exception of a read, with how far it had come
   */
  static void read(Subject subject, ReadStyle style, StoredContent content, int faults, long seed)
      throws Exception {
    try (HostileS3Server server = HostileS3Server.startApart()) {
      Configuration conf = S3AReads.small(subject.besideOthers(server.endpoint()));
      FileSystem fs = FileSystem.newInstance(URI.create("s3a://" + S3AServer.BUCKET), conf);
      server.storm(SHARE, seed, BROKEN);
      int file = 0;
      try {
        for (; broken(server) < faults; file++) {
          // Another name for each, so that nothing is in memory.
          ObjectRef object = new ObjectRef(S3AServer.BUCKET, "file-" + file);
          server.put(object, content);
          style.read(fs, new Path("/" + object.key()), content);
        }
      } catch (Exception e) {
        String job = subject + ", " + style + ", file " + file + ": " + server.answers();
        throw new AssertionError(job, e);
      } finally {
        LimitedJob.close(fs);
      }
    }
  }

  private static long broken(HostileS3Server server) {
    return server.answers().entrySet().stream()
        .filter(kind -> kind.getKey().equals("GET reset") || kind.getKey().equals("GET end"))
        .mapToLong(kind -> kind.getValue())
        .sum();
  }
}
