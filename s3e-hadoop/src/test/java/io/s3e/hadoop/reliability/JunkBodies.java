// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.StoredContent;
import java.io.IOException;
import java.net.URI;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A reader whose every third GET is answered by somebody between here and the store: the right
 * head, and another body that is complete by HTTP, whose end is told in one of its ways.
 */
final class JunkBodies {
  private static final int[] LENGTHS = {0, 60, 70_000, 140_000};

  /** Some blocks, and no whole one at the end. */
  private static final StoredContent CONTENT = StoredContent.generated((2 << 20) + 12_345, 3);

  private JunkBodies() {}

  /**
   * Reads so many files.
   *
   * @return how many of them could not be read
   * @throws WrongBytesException if a byte is not the file's
   */
  static int read(Subject subject, ReadStyle style, int files, long seed) throws Exception {
    int failed = 0;
    try (HostileS3Server server = HostileS3Server.startApart()) {
      Configuration conf = subject.besideOthers(server.endpoint());
      FileSystem fs = FileSystem.newInstance(URI.create("s3a://" + S3AServer.BUCKET), conf);
      AtomicInteger gets = new AtomicInteger();
      server.decide(
          request -> {
            int number = gets.incrementAndGet();
            return number % 3 == 0 ? junk(new Random(seed + number)) : Fault.none();
          });
      try {
        for (int file = 0; file < files; file++) {
          // Another name for each, so that nothing is in memory.
          ObjectRef object = new ObjectRef(S3AServer.BUCKET, "file-" + file);
          server.put(object, CONTENT);
          failed += isRead(fs, new Path("/" + object.key()), style) ? 0 : 1;
        }
      } catch (WrongBytesException e) {
        throw new AssertionError(subject + ", " + style + ", seed " + seed, e);
      } finally {
        LimitedJob.close(fs);
      }
    }
    return failed;
  }

  private static boolean isRead(FileSystem fs, Path file, ReadStyle style) throws Exception {
    try {
      style.read(fs, file, CONTENT);
      return true;
    } catch (WrongBytesException e) {
      throw e;
    } catch (IOException e) {
      return false;
    }
  }

  private static Fault junk(Random random) {
    Fault junk = Fault.junk(LENGTHS[random.nextInt(LENGTHS.length)]);
    return switch (random.nextInt(3)) {
      case 0 -> junk;
      case 1 -> junk.and(Fault.chunked());
      default -> junk.and(Fault.untilClose());
    };
  }
}
