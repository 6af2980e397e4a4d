package io.s3e.hadoop.reliability;

import io.s3e.hadoop.reliability.Load.Kind;
import io.s3e.hadoop.reliability.Load.Read;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.StoredContent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Readers of healthy objects beside readers of objects whose GETs are never answered. */
final class Neighbours {
  private static final int HEALTHY = 8;
  private static final int HUNG = 40;
  private static final String HANGS = "hangs-";
  private static final Duration WARM = Duration.ofSeconds(3);
  private static final Duration ALONE = Duration.ofSeconds(10);
  private static final Duration BESIDE = Duration.ofSeconds(30);

  private Neighbours() {}

  static List<Figures> run(Subject subject) throws Exception {
    List<Figures> all = new ArrayList<>();
    for (Kind kind : List.of(Kind.POSITIONED, Kind.VECTORED)) {
      try (Setup setup = Setup.plain(subject, Map.of())) {
        all.addAll(run(subject, kind, setup));
      }
    }
    return all;
  }

  private static List<Figures> run(Subject subject, Kind kind, Setup setup) throws Exception {
    HostileS3Server server = setup.server();
    StoredContent content = Load.hugeFile();
    server.decide(request -> request.target().contains(HANGS) ? Fault.stallAtOnce() : Fault.none());
    try (Load healthy = new Load(setup.fs(), content);
        Load hung = new Load(setup.fs(), content)) {
      for (int i = 0; i < HEALTHY; i++) {
        server.put(Load.object("file-" + i), content);
        healthy.start(kind, Load.object("file-" + i));
      }
      Thread.sleep(WARM.toMillis());
      long alone = System.nanoTime();
      Thread.sleep(ALONE.toMillis());
      long beside = System.nanoTime();
      Kind[] kinds = {Kind.POSITIONED, Kind.SCAN, Kind.VECTORED};
      for (int i = 0; i < HUNG; i++) {
        server.put(Load.object(HANGS + i), content);
        hung.start(kinds[i % kinds.length], Load.object(HANGS + i));
      }
      Thread.sleep(BESIDE.toMillis());
      long end = System.nanoTime();
      int stuck = healthy.stop(Duration.ofSeconds(5));
      List<Read> reads = List.copyOf(healthy.reads());
      return List.of(
          figures(subject, kind + " alone", reads, alone, beside).add("stuck", 0),
          figures(subject, kind + " beside", reads, beside, end).add("stuck", stuck));
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
