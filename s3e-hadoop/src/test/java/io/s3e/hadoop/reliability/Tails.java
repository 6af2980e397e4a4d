// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import io.s3e.hadoop.reliability.Load.End;
import io.s3e.hadoop.reliability.Load.Kind;
import io.s3e.hadoop.reliability.Load.Read;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Pause;
import io.s3e.testing.StoredContent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Some GETs are late. */
final class Tails {
  private static final int READERS = 16;
  private static final Duration TIME = Duration.ofSeconds(20);
  private static final Duration LATE = Duration.ofSeconds(2);

  /** Late enough for a stream to know how long its GETs take. */
  private static final int STALLED_GET = 500;

  private static final long SEED = 12;

  private Tails() {}

  static List<Figures> run(Subject subject) throws Exception {
    List<Figures> all = new ArrayList<>();
    all.add(read(subject, "quiet", server -> {}));
    all.add(
        read(subject, "1 % are 2 s late", server -> server.storm(0.01, SEED, Fault.delay(LATE))));
    AtomicInteger gets = new AtomicInteger();
    all.add(
        read(
            subject,
            "one stalls",
            server ->
                server.decide(
                    request ->
                        gets.incrementAndGet() == STALLED_GET
                            ? Fault.stallAtOnce()
                            : Fault.none())));
    return all;
  }

  private static Figures read(Subject subject, String name, Consumer<HostileS3Server> script)
      throws Exception {
    try (Setup setup = Setup.plain(subject, Map.of())) {
      StoredContent content = Load.hugeFile();
      script.accept(setup.server());
      try (Load load = new Load(setup.server(), setup.fs(), content)) {
        for (int i = 0; i < READERS; i++) {
          load.start(Kind.LONG_POSITIONED, Load.object("file-" + i));
        }
        Pause.of(TIME, "reads that are counted");
        // A stalled GET of classic's lasts until its time-out of 200 s.
        int stuck = load.stop(Duration.ofSeconds(15));
        Collection<Read> reads = load.reads();
        int sent = setup.server().gets().size();
        return Percentiles.of(reads)
            .addTo(new Figures(Group.TAIL.key(), name, subject))
            .add("GETs a read", sent / (double) reads.size())
            .add("failed reads", reads.stream().filter(read -> read.end() != End.RIGHT).count())
            .add("stuck", stuck);
      }
    }
  }
}
