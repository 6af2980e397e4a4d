// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.failures;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.failures.FailureCase.Place;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.SelfSigned;
import io.s3e.testing.StoredContent;
import java.io.Closeable;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.s3a.impl.AWSClientConfig;

/**
 * Reads that fail, by each client, and what they fail with. The reads of one place begin at once,
 * for some wait for a time-out. Each line of the table has a bucket of its own, by which the server
 * knows its fault: a gate belongs to a bucket, so no read waits because of another line's failures.
 */
final class FailingReads implements AutoCloseable {
  static final String DIRECTORY = "failing/";
  static final int SIZE = 4 << 20;
  static final int OFFSET = 100_000;
  static final int COUNT = 10_000;
  static final int LONG_COUNT = 2 << 20;
  private static final int THREADS_OF_CLIENT = 3;

  private static final long DEADLINE_SECONDS = 240;

  private static final Pattern SENT_TOO_LATE =
      Pattern.compile(
          " 0 attempts in |"
              + " 1 attempt in 0\\.[0-4] s, then the read's deadline passed: no answer");

  private static final Pattern NOT_HEARD =
      Pattern.compile(" was not made within | then the read's deadline passed: no answer");

  private static final Pattern ATTEMPTS = Pattern.compile(" (\\d+) attempts? in ");

  /** A busy machine is late once in some reads. */
  private static final int MOST_ROUNDS = 10;

  /**
   * One after the other; no server is met where several begin at once: an address that refuses is
   * forgotten by the CRT for all its ports ({@link FailureTableTest}).
   */
  private static final List<Set<Place>> AT_ONCE =
      List.of(
          EnumSet.of(Place.SERVER),
          EnumSet.of(Place.HASTY),
          EnumSet.of(Place.NOBODY, Place.NOWHERE));

  /** The reader. */
  enum Client {
    CLASSIC(null),
    CRT("crt"),
    CRT_COPIED(null),
    S3A("s3a");

    private final String key;

    Client(String key) {
      this.key = key;
    }
  }

  /** How is read. */
  enum Style {
    /** 2 MiB, for which the CRT lends memory. */
    READ,
    PREAD,
    VECTORED
  }

  /** One after the other, by one reader. */
  private static final List<Set<Style>> TOGETHER = List.of(EnumSet.allOf(Style.class));

  /** At once, by a reader each: without an answer a read takes 10 to 30 s. */
  private static final List<Set<Style>> APART =
      EnumSet.allOf(Style.class).stream().<Set<Style>>map(EnumSet::of).toList();

  private record Job(Client client, String line, Style style) {}

  private final HostileS3Server server = HostileS3Server.start();
  private final HostileS3Server untrusted;
  private final URI nobody = HostileS3Server.refusingEndpoint();
  private final Map<String, Fault> faults = new ConcurrentHashMap<>();
  private final Map<Job, Throwable> failures = new ConcurrentHashMap<>();
  private final StoredContent content = StoredContent.of(new byte[SIZE]);

  /** Reads all lines by all clients. */
  FailingReads(Path dir, List<FailureCase> lines) throws Exception {
    untrusted = HostileS3Server.startTls(SelfSigned.create(dir).serverContext());
    server.decide(request -> faults.getOrDefault(request.target(), Fault.none()));
    for (FailureCase line : lines) {
      if (line.fault() != null) {
        server.put(object(line), content);
        for (int round = 0; round < MOST_ROUNDS; round++) {
          server.put(well(line, "again", round), content);
          for (Style style : Style.values()) {
            server.put(well(line, style.name(), round), content);
          }
        }
        faults.put("/" + line.bucket() + "/" + line.key(), line.fault());
      }
    }
    AWSClientConfig.setMinimumOperationDuration(Duration.ofMillis(500));
    try {
      warmUp();
      // This takes longest, so it begins first and ends last.
      List<Future<?>> slow = submit(Place.UNTRUSTED, lines);
      for (Set<Place> places : AT_ONCE) {
        List<Future<?>> begun = new ArrayList<>();
        for (Place place : places) {
          begun.addAll(submit(place, lines));
        }
        await(begun);
      }
      await(slow);
    } finally {
      AWSClientConfig.resetMinimumOperationDuration();
    }
  }

  /** A client's first read loads its classes, which may take as long as a read's patience. */
  private void warmUp() throws Exception {
    ObjectRef object = new ObjectRef("warm-up", DIRECTORY + "well");
    server.put(object, content);
    for (Client client : Client.values()) {
      try (Reader reader = reader(client, object.bucket(), Place.SERVER)) {
        readWell(reader, object);
      }
    }
  }

  private List<Future<?>> submit(Place place, List<FailureCase> lines) {
    List<Future<?>> begun = new ArrayList<>();
    for (Client client : Client.values()) {
      ExecutorService own = Executors.newFixedThreadPool(THREADS_OF_CLIENT);
      for (FailureCase line : lines) {
        if (line.place() == place) {
          for (Set<Style> styles : line.fault() == null ? APART : TOGETHER) {
            begun.add(own.submit(() -> readEachWay(client, line, styles)));
          }
        }
      }
      own.shutdown();
    }
    return begun;
  }

  private Void readEachWay(Client client, FailureCase line, Set<Style> styles) throws Exception {
    // Where no request arrives the bucket is nothing but the name of a gate: each reader has its
    // own.
    String gate = line.fault() == null ? "-" + styles.iterator().next() : "";
    String bucket = line.bucket() + gate.toLowerCase(Locale.ROOT);
    int round = 0;
    while (!readEachWay(client, line, styles, bucket, round)) {
      round++;
    }
    return null;
  }

  /** False if this machine was so slow that the read has met something else than its fault. */
  private boolean readEachWay(
      Client client, FailureCase line, Set<Style> styles, String bucket, int round)
      throws Exception {
    try (Reader reader = reader(client, bucket, line.place())) {
      if (round > 0) {
        readWell(reader, well(line, "again", round));
      }
      for (Style style : styles) {
        Throwable failure = fail(reader, new ObjectRef(bucket, line.key()), style);
        if (line.fault() != null) {
          if (round < MOST_ROUNDS - 1 && wasLate(line, failure)) {
            return false;
          }
          readWell(reader, well(line, style.name(), round));
        }
        failures.put(new Job(client, line.name(), style), failure);
      }
    }
    return true;
  }

  /**
   * A store that refused all that was asked of a bucket is asked once a second, which is as long as
   * a read's patience. So the next read begins after a good answer.
   */
  private static void readWell(Reader reader, ObjectRef object) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS / 4);
    for (boolean isRead = false; !isRead; ) {
      try {
        reader.read(object, Style.PREAD);
        isRead = true;
      } catch (IOException e) {
        if (System.nanoTime() - deadline > 0) {
          throw e;
        }
      }
    }
  }

  /**
   * Whether the gate let no GET of a read go, or the first when its patience was nearly over; or
   * the server, which says at once what it has to say, was not heard in time: by the read, or by a
   * GET that was sent again although its refusal is final.
   */
  private static boolean wasLate(FailureCase line, Throwable failure) {
    String message = String.valueOf(failure.getMessage());
    if (SENT_TOO_LATE.matcher(message).find()) {
      return true;
    }
    if (line.place() != Place.SERVER) {
      return false;
    }
    Matcher attempts = ATTEMPTS.matcher(message);
    int most = line.isRegionNamed() ? 2 : 1;
    boolean isSentAgain =
        line.isFinal() && attempts.find() && Integer.parseInt(attempts.group(1)) > most;
    return isSentAgain || NOT_HEARD.matcher(message).find();
  }

  private static void await(List<Future<?>> begun) throws Exception {
    for (Future<?> read : begun) {
      read.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    }
  }

  private static ObjectRef object(FailureCase line) {
    return new ObjectRef(line.bucket(), line.key());
  }

  /** An object beside the one of the line that is read without a fault, and is in no memory. */
  private static ObjectRef well(FailureCase line, String when, int round) {
    return new ObjectRef(line.bucket(), line.key() + "-well-" + when + "-" + round);
  }

  /** The exception of the read. */
  Throwable failure(Client client, FailureCase line, Style style) {
    return failures.get(new Job(client, line.name(), style));
  }

  private static Throwable fail(Reader reader, ObjectRef object, Style style) {
    try {
      reader.read(object, style);
    } catch (ExecutionException e) {
      return e.getCause();
    } catch (Exception e) {
      return e;
    }
    return new AssertionError("read in spite of its fault: " + object);
  }

  /** One client at one bucket. */
  private interface Reader extends Closeable {
    void read(ObjectRef object, Style style) throws Exception;
  }

  private Reader reader(Client client, String bucket, Place place) throws IOException {
    boolean isCrt = client == Client.CRT && place == Place.UNTRUSTED;
    if (isCrt || client == Client.CRT_COPIED) {
      CoreReads core = new CoreReads(endpoint(place), place, isCrt);
      return new Reader() {
        @Override
        public void read(ObjectRef object, Style style) throws Exception {
          core.read(object, style);
        }

        @Override
        public void close() {
          core.close();
        }
      };
    }
    URI root = URI.create("s3a://" + bucket);
    FileSystem fs = FileSystem.newInstance(root, configuration(client, place));
    return new Reader() {
      @Override
      public void read(ObjectRef object, Style style) throws Exception {
        FailingReads.read(fs, object, style);
      }

      @Override
      public void close() throws IOException {
        fs.close();
      }
    };
  }

  private static void read(FileSystem fs, ObjectRef object, Style style) throws Exception {
    try (FSDataInputStream in =
        fs.openFile(new org.apache.hadoop.fs.Path("/" + object.key()))
            .opt("fs.option.openfile.length", String.valueOf(SIZE))
            .opt("fs.option.openfile.read.policy", "random")
            .build()
            .get()) {
      switch (style) {
        case READ -> {
          in.seek(OFFSET);
          in.readFully(new byte[LONG_COUNT]);
        }
        case PREAD -> in.readFully(OFFSET, new byte[COUNT]);
        case VECTORED -> {
          FileRange range = FileRange.createFileRange(OFFSET, COUNT);
          in.readVectored(List.of(range), ByteBuffer::allocate);
          range.getData().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        }
      }
    }
  }

  private URI endpoint(Place place) {
    return switch (place) {
      case SERVER, HASTY -> server.endpoint();
      case NOBODY -> nobody;
      case NOWHERE -> URI.create("http://nowhere.s3e.invalid:9000");
      case UNTRUSTED -> untrusted.endpoint();
    };
  }

  private Configuration configuration(Client client, Place place) {
    boolean isClassic = client == Client.CLASSIC;
    URI endpoint = endpoint(place);
    Configuration conf = isClassic ? S3AServer.s3a(endpoint) : S3AServer.s3e(endpoint);
    conf.set("fs.s3a.input.stream.type", "classic");
    conf.setBoolean("fs.s3a.connection.ssl.enabled", place == Place.UNTRUSTED);
    conf.set("fs.s3a.attempts.maximum", "0");
    conf.set("fs.s3a.retry.limit", "0");
    conf.set("fs.s3a.retry.throttle.limit", "0");
    conf.set("fs.s3a.retry.interval", "1ms");
    conf.set("fs.s3a.connection.timeout", place.stallTimeout().toMillis() + "ms");
    conf.set("fs.s3a.s3e.read.timeout", place.readTimeout().toMillis() + "ms");
    if (!isClassic) {
      conf.set("fs.s3a.s3e.client", client.key);
    }
    return conf;
  }

  @Override
  public void close() throws Exception {
    server.close();
    untrusted.close();
  }
}
