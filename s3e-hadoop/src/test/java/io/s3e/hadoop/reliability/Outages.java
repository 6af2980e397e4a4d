// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import io.s3e.hadoop.reliability.Load.End;
import io.s3e.hadoop.reliability.Load.Kind;
import io.s3e.hadoop.reliability.Load.Read;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.HostileS3Server.Reach;
import io.s3e.testing.Pause;
import io.s3e.testing.SelfSigned;
import io.s3e.testing.StoredContent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * 16 and 64 readers, three quarters by position and one quarter scans, before, in and after an
 * outage.
 */
final class Outages {
  private static final int[] READERS = {16, 64};
  private static final Duration WARM = Duration.ofSeconds(2);
  private static final Duration QUIET = Duration.ofSeconds(4);
  private static final Duration AFTER = Duration.ofSeconds(15);

  /** Of the quiet rate, over a second: the full rate. */
  private static final double FULL = 0.8;

  private static final long SEED = 11;
  private static final String TRUST_STORE = "javax.net.ssl.trustStore";
  private static final String TRUST_STORE_PASSWORD = "javax.net.ssl.trustStorePassword";

  /** Something that a server does. */
  @FunctionalInterface
  private interface Change {
    void of(HostileS3Server server) throws Exception;
  }

  private Outages() {}

  static List<Figures> throttled(Subject subject) throws Exception {
    Fault slowDown = Fault.status(503, "SlowDown");
    List<Figures> all = new ArrayList<>();
    for (int share : new int[] {30, 100}) {
      Change begin = server -> server.storm(share / 100.0, SEED, slowDown);
      String name = share + " %";
      for (int readers : READERS) {
        all.add(
            run(
                new Figures(Group.THROTTLED.key(), name + ", " + readers, subject),
                null,
                readers,
                Duration.ofSeconds(20),
                begin,
                HostileS3Server::heal));
      }
    }
    return all;
  }

  static List<Figures> refused(Subject subject) throws Exception {
    List<Figures> all = new ArrayList<>();
    for (int seconds : new int[] {15, 60}) {
      for (int readers : READERS) {
        all.add(
            run(
                new Figures(Group.REFUSED.key(), seconds + " s, " + readers, subject),
                null,
                readers,
                Duration.ofSeconds(seconds),
                server -> server.reach(Reach.REFUSES),
                server -> server.reach(Reach.ANSWERS)));
      }
    }
    return all;
  }

  static List<Figures> tlsResets(Subject subject, Path directory) throws Exception {
    SelfSigned certificate = SelfSigned.create(Files.createTempDirectory(directory, "tls"));
    // S3A's clients trust what the JVM trusts; they look when they are made.
    Path trusted = certificate.trustStore(directory.resolve("trust.p12"));
    System.setProperty(TRUST_STORE, trusted.toString());
    System.setProperty(TRUST_STORE_PASSWORD, SelfSigned.PASSWORD);
    List<Figures> all = new ArrayList<>();
    try {
      for (int readers : READERS) {
        all.add(
            run(
                new Figures(Group.TLS_RESETS.key(), "10 s, " + readers, subject),
                certificate,
                readers,
                Duration.ofSeconds(10),
                server -> server.reach(Reach.RESETS),
                server -> server.reach(Reach.ANSWERS)));
      }
    } finally {
      System.clearProperty(TRUST_STORE);
      System.clearProperty(TRUST_STORE_PASSWORD);
    }
    return all;
  }

  private static Figures run(
      Figures figures,
      @Nullable SelfSigned certificate,
      int readers,
      Duration time,
      Change begin,
      Change end)
      throws Exception {
    try (Setup setup = Setup.of(figures.subject(), certificate)) {
      HostileS3Server server = setup.server();
      StoredContent content = Load.hugeFile();
      try (Load load = new Load(setup.server(), setup.fs(), content)) {
        for (int i = 0; i < readers; i++) {
          load.start(i % 4 == 3 ? Kind.SCAN : Kind.POSITIONED, Load.object("file-" + i));
        }
        Pause.of(WARM, "reads before the first figure");
        long quiet = System.nanoTime();
        Pause.of(QUIET, "reads of a store that answers");
        long begun = System.nanoTime();
        begin.of(server);
        Pause.of(time, "the outage");
        end.of(server);
        long ended = System.nanoTime();
        Pause.of(AFTER, "reads after it");
        int stuck = load.stop(Duration.ofSeconds(5));
        Collection<Read> reads = load.reads();
        List<Long> gets = server.gets().stream().map(HostileS3Server.Request::nanos).toList();
        double quietRate = rate(reads, quiet, begun);
        return figures
            .add("failed reads", count(reads, End.FAILED))
            .add("wrong reads", count(reads, End.WRONG))
            .add("stuck", stuck)
            .add("good MB/s before", quietRate)
            .add("during", rate(reads, begun, ended))
            .add("GETs/s before", perSecond(gets, quiet, begun))
            .add("GETs/s during", perSecond(gets, begun, ended))
            .add("first good after, s", firstGood(reads, ended))
            .add("full rate after, s", fullRate(reads, ended, FULL * quietRate))
            .add("slowest read, s", reads.stream().mapToLong(Read::nanos).max().orElse(0) / 1e9)
            .add("errors", errors(reads));
      }
    }
  }

  private static long count(Collection<Read> reads, End end) {
    return reads.stream().filter(read -> read.end() == end).count();
  }

  private static double rate(Collection<Read> reads, long from, long to) {
    long bytes =
        reads.stream()
            .filter(read -> read.done() >= from && read.done() < to)
            .mapToLong(Read::goodBytes)
            .sum();
    return bytes / 1e6 / ((to - from) / 1e9);
  }

  private static double perSecond(List<Long> times, long from, long to) {
    return times.stream().filter(time -> time >= from && time < to).count() / ((to - from) / 1e9);
  }

  /**
   * Until the first read ended well whose bytes cannot have come before the outage's end; what was
   * in memory is no sign of the store.
   */
  private static double firstGood(Collection<Read> reads, long ended) {
    return reads.stream()
            .filter(read -> read.done() >= ended && read.end() == End.RIGHT)
            .mapToLong(read -> read.done() - ended)
            .min()
            .orElse(AFTER.toNanos())
        / 1e9;
  }

  /** Until the beginning of the first second with the full rate. */
  private static double fullRate(Collection<Read> reads, long ended, double rate) {
    for (long at = 0; at < AFTER.toMillis() - 1_000; at += 100) {
      long from = ended + at * 1_000_000;
      if (rate(reads, from, from + 1_000_000_000) >= rate) {
        return at / 1e3;
      }
    }
    return AFTER.toMillis() / 1e3;
  }

  /** The kinds of errors and how often each came. */
  private static String errors(Collection<Read> reads) {
    Map<String, Integer> kinds = new TreeMap<>();
    for (Read read : reads) {
      if (!read.error().isEmpty()) {
        kinds.merge(read.error().split("[: ]", 2)[0], 1, Integer::sum);
      }
    }
    return kinds.isEmpty() ? "" : kinds.toString();
  }
}
