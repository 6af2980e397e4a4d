// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import io.s3e.block.ObjectRef;
import io.s3e.testing.Fault;
import io.s3e.testing.StoredContent;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;

/** One reader scans while a share of all GETs fails. */
final class Scans {
  /** More than 500 GETs of S3E's. */
  private static final long FILE_BYTES = 1L << 30;

  private static final int PIECE_BYTES = 1 << 20;

  /** A scan that takes longer is judged by what it has read. */
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private static final double[] SHARES = {0.01, 0.02, 0.05, 0.1};
  private static final long SEED = 20261122;

  private Scans() {}

  static List<Figures> run(Subject subject) throws Exception {
    Map<String, Fault> faults = new LinkedHashMap<>();
    faults.put("503", Fault.status(503, "SlowDown"));
    faults.put("500", Fault.status(500, "InternalError"));
    faults.put("reset", Fault.resetAt(0.5));
    faults.put("cut", Fault.endAt(0.5));
    List<Figures> all = new ArrayList<>();
    scan(subject, "for the JVM's compiler", 0, Fault.none());
    for (int i = 1; i <= 3; i++) {
      all.add(scan(subject, "quiet " + i, 0, Fault.none()));
    }
    for (Map.Entry<String, Fault> fault : faults.entrySet()) {
      for (double share : SHARES) {
        String name = Math.round(100 * share) + " % " + fault.getKey();
        all.add(scan(subject, name, share, fault.getValue()));
      }
    }
    return all;
  }

  private static Figures scan(Subject subject, String name, double share, Fault fault)
      throws Exception {
    StoredContent content = StoredContent.generated(FILE_BYTES, 3);
    ObjectRef object = Load.object("scan");
    try (Setup setup = Setup.plain(subject, Map.of())) {
      setup.server().put(object, content);
      setup.server().storm(share, SEED, fault);
      long start = System.nanoTime();
      long at = 0;
      String end = "right";
      byte[] piece = new byte[PIECE_BYTES];
      try (FSDataInputStream in = setup.fs().open(new Path("/" + object.key()))) {
        while (at < FILE_BYTES && System.nanoTime() - start < LIMIT.toNanos()) {
          in.readFully(piece);
          ReadStyle.check(content, at, piece, piece.length);
          at += piece.length;
        }
      } catch (IOException | WrongBytesException e) {
        end = e.toString();
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      double mib = at / (double) (1 << 20);
      long gets = setup.server().gets().size();
      return new Figures(Group.SCANS.key(), name, subject)
          .add("MB/s", at / 1e6 / seconds)
          .add("GETs", gets)
          .add("GETs for 100 MiB", 100 * gets / Math.max(1, mib))
          .add("MiB read", (long) mib)
          .add("answers", setup.server().answers().toString())
          .add("end", end);
    }
  }
}
