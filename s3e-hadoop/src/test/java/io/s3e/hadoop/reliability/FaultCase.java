// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.HostileS3Server.Reach;
import io.s3e.testing.HostileS3Server.Request;
import io.s3e.testing.Pause;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * One line of the matrix: what goes wrong, and how S3E has to end.
 *
 * @param name for the report
 * @param script sets the server up
 * @param accepted S3E's verdicts
 * @param mostGets that S3E may send
 * @param settings further keys of the file system
 */
record FaultCase(
    String name,
    Consumer<HostileS3Server> script,
    List<Verdict> accepted,
    long mostGets,
    Map<String, String> settings) {

  /** A deadline that a reader sets who wants to hear of it soon. */
  private static final Map<String, String> HASTY = Map.of("fs.s3a.s3e.read.timeout", "10s");

  /** More than any way to read sends to a quiet server, for 8 MiB. */
  private static final int QUIET_GETS = 64;

  /** Of 64 KiB, which no fault cuts any further, in 8 MiB; twice. */
  private static final int PIECES = 256;

  private static final List<Verdict> RIGHT = List.of(Verdict.RIGHT);
  private static final List<Verdict> ERROR = List.of(Verdict.CLEAR_ERROR);

  @Override
  public String toString() {
    return name;
  }

  /** The server as it should be. */
  static FaultCase quiet() {
    return new FaultCase("none", server -> {}, RIGHT, QUIET_GETS, Map.of());
  }

  static List<FaultCase> all() {
    List<FaultCase> all = new ArrayList<>();
    all.add(quiet());
    for (String refusal :
        List.of(
            "503 SlowDown",
            "500 InternalError",
            "502 BadGateway",
            "504 GatewayTimeout",
            "429 TooManyRequests",
            "400 RequestTimeout",
            "408 RequestTimeout")) {
      all.add(everyThird(refusal, status(refusal)));
    }
    all.add(everyThird("reset before the head", Fault.resetAtOnce()));
    all.add(everyThird("reset after the head", Fault.resetAfter(0)));
    all.add(everyThird("reset amid the body", Fault.resetAt(0.5)));
    all.add(everyThird("end before the head", Fault.endAtOnce()));
    all.add(everyThird("end amid the body", Fault.endAt(0.5)));
    all.add(everyThird("last byte missing", Fault.endAt(0.999_999)));
    all.add(everyThird("200 and the whole object", Fault.wholeObject()));
    all.add(everyThird("200 and the range", Fault.rangeAs200()));
    all.add(everyThird("no Content-Range", Fault.withoutContentRange()));
    all.add(everyThird("wrong Content-Range", Fault.contentRange("bytes 0-9/10")));
    all.add(everyThird("Content-Range of nonsense", Fault.contentRange("octets all")));
    all.add(everyThird("unknown total", Fault.unknownTotal()));
    all.add(everyThird("a range one byte off", Fault.shifted(1)));
    all.add(everyThird("one byte less", Fault.shorter(1)));
    all.add(everyThird("one byte more", Fault.longer(1)));
    all.add(everyThird("bytes behind the body", Fault.overflow(100)));
    all.add(everyThird("a page of 60 bytes", Fault.junk(60)));
    all.add(everyThird("a page of 140 kB", Fault.junk(140_000)));
    all.add(everyThird("a page of 70 kB in chunks", Fault.junk(70_000).and(Fault.chunked())));
    all.add(everyThird("a page, then the end", Fault.junk(70_000).and(Fault.untilClose())));
    all.add(everyThird("an empty body", Fault.junk(0)));
    all.add(everyThird("204", Fault.refusal(204, Map.of(), "")));
    all.add(everyThird("a foreign Content-Encoding", Fault.header("Content-Encoding", "gzip")));
    all.add(right("body in chunks", server -> server.always(Fault.chunked())));
    all.add(
        new FaultCase(
            "a smaller total from the third GET on",
            server -> server.decide(from(2, Fault.total(-1))),
            List.of(Verdict.RIGHT, Verdict.CLEAR_ERROR),
            4 * QUIET_GETS,
            HASTY));
    all.add(
        new FaultCase(
            "another ETag from the third GET on",
            server -> server.decide(from(2, Fault.etag("\"other\""))),
            List.of(Verdict.RIGHT, Verdict.CLEAR_ERROR),
            2 * QUIET_GETS,
            Map.of()));
    all.add(right("one GET stalls", server -> server.next(Fault.stallAtOnce())));
    all.add(right("one GET stalls in its body", server -> server.next(Fault.stallAfter(10_000))));
    all.add(
        new FaultCase(
            "one GET trickles",
            server -> server.next(Fault.trickle(400, Duration.ofMillis(100))),
            List.of(Verdict.RIGHT, Verdict.CLEAR_ERROR),
            2 * QUIET_GETS,
            HASTY));
    all.add(
        right("all bodies end after 200 KiB", server -> server.always(Fault.endAfter(200_000))));
    all.add(
        right(
            "all bodies reset after 200 KiB", server -> server.always(Fault.resetAfter(200_000))));
    all.add(right("refused for 3 s", outage(Reach.REFUSES, Duration.ofSeconds(3))));
    all.add(right("connections reset for 3 s", outage(Reach.RESETS, Duration.ofSeconds(3))));
    for (String refusal :
        List.of(
            "403 AccessDenied",
            "404 NoSuchKey",
            "410 Gone",
            "412 PreconditionFailed",
            "416 InvalidRange",
            "501 NotImplemented")) {
      all.add(error("always " + refusal, status(refusal), Map.of()));
    }
    all.add(error("always 204", Fault.refusal(204, Map.of(), ""), Map.of()));
    all.add(error("always an empty body", Fault.junk(0), Map.of()));
    all.add(error("always a page", Fault.junk(70_000), Map.of()));
    all.add(alwaysEncoded());
    all.add(error("always 503 SlowDown", status("503 SlowDown"), HASTY));
    all.add(error("always silence", Fault.stallAtOnce(), HASTY));
    return List.copyOf(all);
  }

  private static Fault status(String refusal) {
    String[] words = refusal.split(" ");
    return Fault.status(Integer.parseInt(words[0]), words[1]);
  }

  /** The first GET meets the fault, and every third after it. */
  private static FaultCase everyThird(String name, Fault fault) {
    return right(name, server -> server.decide(third(fault)));
  }

  private static Function<Request, Fault> third(Fault fault) {
    AtomicInteger gets = new AtomicInteger();
    return request -> gets.getAndIncrement() % 3 == 0 ? fault : Fault.none();
  }

  private static Function<Request, Fault> from(int get, Fault fault) {
    AtomicInteger gets = new AtomicInteger();
    return request -> gets.getAndIncrement() >= get ? fault : Fault.none();
  }

  private static FaultCase right(String name, Consumer<HostileS3Server> script) {
    return new FaultCase(name, script, RIGHT, 4 * QUIET_GETS + PIECES, Map.of());
  }

  /** But for the GET without a range, by which S3A's client asks how an object is stored. */
  private static FaultCase alwaysEncoded() {
    Fault encoded = Fault.header("Content-Encoding", "gzip");
    return new FaultCase(
        "always a foreign encoding",
        server ->
            server.decide(request -> request.header("Range") == null ? Fault.none() : encoded),
        ERROR,
        PIECES,
        Map.of());
  }

  /** Eight GETs of each of the 48 blocks that 24 pieces lie in, where all are asked for at once. */
  private static FaultCase error(String name, Fault fault, Map<String, String> settings) {
    return new FaultCase(name, server -> server.always(fault), ERROR, 6 * QUIET_GETS, settings);
  }

  /** Begins when the second GET comes. */
  private static Consumer<HostileS3Server> outage(Reach reach, Duration time) {
    return server -> {
      AtomicInteger gets = new AtomicInteger();
      server.decide(
          request -> {
            if (gets.getAndIncrement() == 1) {
              Thread thread = new Thread(() -> outage(server, reach, time), "outage");
              thread.setDaemon(true);
              thread.start();
            }
            return Fault.none();
          });
    };
  }

  private static void outage(HostileS3Server server, Reach reach, Duration time) {
    try {
      server.reach(reach);
      Pause.of(time, "the outage");
      server.reach(Reach.ANSWERS);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
