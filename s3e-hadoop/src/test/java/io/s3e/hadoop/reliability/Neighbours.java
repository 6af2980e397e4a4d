// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.reliability.Load.Kind;
import io.s3e.hadoop.reliability.Load.Read;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Pause;
import io.s3e.testing.StoredContent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FileSystem;

/**
 * Readers of healthy objects beside readers of objects whose GETs are never answered, which read
 * through the same file system, through another one, or from another bucket.
 */
final class Neighbours {
  private static final int HEALTHY = 8;
  private static final int HUNG = 40;
  private static final String HANGS = "hangs-";
  private static final Duration WARM = Duration.ofSeconds(3);
  private static final Duration ALONE = Duration.ofSeconds(10);
  private static final Duration BESIDE = Duration.ofSeconds(30);

  /** What the two groups of readers share. */
  private enum Share {
    FILE_SYSTEM,
    BUCKET,
    STORE
  }

  private Neighbours() {}

  static List<Figures> run(Subject subject) throws Exception {
    List<Figures> all = new ArrayList<>();
    for (Share share : Share.values()) {
      for (Kind kind : List.of(Kind.POSITIONED, Kind.NEW_FILES, Kind.VECTORED)) {
        try (Setup setup = Setup.plain(subject, Map.of())) {
          all.addAll(run(subject, kind, share, setup));
        }
      }
    }
    return all;
  }

  private static List<Figures> run(Subject subject, Kind kind, Share share, Setup setup)
      throws Exception {
    HostileS3Server server = setup.server();
    StoredContent content = Load.hugeFile();
    server.decide(request -> request.target().contains(HANGS) ? Fault.stallAtOnce() : Fault.none());
    String bucket = share == Share.STORE ? "other-" + S3AServer.BUCKET : S3AServer.BUCKET;
    FileSystem fs = share == Share.FILE_SYSTEM ? setup.fs() : setup.another(bucket);
    try (Load healthy = new Load(server, setup.fs(), content);
        Load hung = new Load(server, fs, content)) {
      for (int i = 0; i < HEALTHY; i++) {
        healthy.start(kind, Load.object("file-" + i));
      }
      Pause.of(WARM, "reads before the first figure");
      long alone = System.nanoTime();
      Pause.of(ALONE, "reads alone");
      long beside = System.nanoTime();
      Kind[] kinds = {Kind.POSITIONED, Kind.SCAN, Kind.VECTORED};
      for (int i = 0; i < HUNG; i++) {
        hung.start(kinds[i % kinds.length], new ObjectRef(bucket, HANGS + i));
      }
      Pause.of(BESIDE, "reads beside those that hang");
      long end = System.nanoTime();
      int stuck = healthy.stop(Duration.ofSeconds(5));
      List<Read> reads = List.copyOf(healthy.reads());
      String name = kind + ", same " + share;
      return List.of(
          figures(subject, name + ", alone", reads, alone, beside).add("stuck", 0),
          figures(subject, name + ", beside", reads, beside, end).add("stuck", stuck));
    }
  }

  private static Figures figures(
      Subject subject, String name, List<Read> reads, long from, long to) {
    List<Read> within =
        reads.stream().filter(read -> read.start() >= from && read.start() < to).toList();
    return Percentiles.of(within)
        .addTo(new Figures(Group.NEIGHBOURS.key(), name, subject))
        .add("reads/s", within.size() / ((to - from) / 1e9));
  }
}
