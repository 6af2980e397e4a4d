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
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.s3a.impl.AWSClientConfig;
import org.jspecify.annotations.Nullable;

/**
 * Reads that fail, by each client, and what they fail with. The reads of one place begin at once,
 * for some wait for a time-out; each line of the table has an object of its own, by which the
 * server knows its fault.
 */
final class FailingReads implements AutoCloseable {
  static final String DIRECTORY = "failing/";
  static final int SIZE = 4 << 20;
  static final int OFFSET = 100_000;
  static final int COUNT = 10_000;
  static final int LONG_COUNT = 2 << 20;
  private static final String BUCKET = "hostile";

  /** More at once, and nearly all requests fail: then the store itself would seem to be away. */
  private static final int THREADS_OF_CLIENT = 3;

  private static final long DEADLINE_SECONDS = 240;

  /**
   * So long a read is begun anew that met the failures of others alone: three threads share one
   * probe a second, and each read has a second's patience.
   */
  private static final long TRIES_SECONDS = 150;

  /** One after the other; no server is met where several begin at once. */
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

  private record Job(Client client, String line, Style style) {}

  private record Store(Client client, Place place) {}

  private final HostileS3Server server = HostileS3Server.start();
  private final HostileS3Server untrusted;
  private final URI nobody = HostileS3Server.refusingEndpoint();
  private final Map<String, Fault> faults = new ConcurrentHashMap<>();
  private final Map<Job, Future<Throwable>> jobs = new HashMap<>();
  private final StoredContent content = StoredContent.of(new byte[SIZE]);
  private final AtomicInteger well = new AtomicInteger();

  /** Reads all lines by all clients. */
  FailingReads(Path dir, List<FailureCase> lines) throws Exception {
    untrusted = HostileS3Server.startTls(SelfSigned.create(dir).serverContext());
    server.decide(request -> faults.getOrDefault(request.target(), Fault.none()));
    for (FailureCase line : lines) {
      if (line.fault() != null) {
        server.put(object(line), content);
        faults.put("/" + BUCKET + "/" + line.key(), line.fault());
      }
    }
    AWSClientConfig.setMinimumOperationDuration(Duration.ofMillis(500));
    try {
      // The CRT takes 10 to 30 s for a handshake that fails, so this begins first and ends last.
      List<Reading> slow = submit(Place.UNTRUSTED, lines);
      for (Set<Place> places : AT_ONCE) {
        List<Reading> begun = new ArrayList<>();
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

  /** A client that reads and its reads. */
  private record Reading(Reader reader, List<Future<Throwable>> reads) {}

  private List<Reading> submit(Place place, List<FailureCase> lines) throws Exception {
    List<Reading> begun = new ArrayList<>();
    for (Client client : Client.values()) {
      Reader reader = reader(new Store(client, place));
      List<Future<Throwable>> reads = new ArrayList<>();
      ExecutorService own = Executors.newFixedThreadPool(THREADS_OF_CLIENT);
      for (FailureCase line : lines) {
        for (Style style : Style.values()) {
          if (line.place() == place) {
            Callable<Throwable> job =
                () -> {
                  long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TRIES_SECONDS);
                  Throwable failure;
                  do {
                    failure = fail(reader, line, style);
                    readWell(reader, place);
                  } while (client != Client.CLASSIC
                      && isOfOthers(place, failure)
                      && System.nanoTime() - deadline < 0);
                  return failure;
                };
            Future<Throwable> read = own.submit(job);
            jobs.put(new Job(client, line.name(), style), read);
            reads.add(read);
          }
        }
      }
      own.shutdown();
      begun.add(new Reading(reader, reads));
    }
    return begun;
  }

  private static void await(List<Reading> begun) throws Exception {
    for (Reading reading : begun) {
      for (Future<Throwable> read : reading.reads()) {
        read.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      }
      reading.reader().close();
    }
  }

  private static ObjectRef object(FailureCase line) {
    return new ObjectRef(BUCKET, line.key());
  }

  /** The exception of the read; null if this client does not read there. */
  @Nullable Throwable failure(Client client, FailureCase line, Style style) throws Exception {
    Future<Throwable> job = jobs.get(new Job(client, line.name(), style));
    return job == null ? null : job.get();
  }

  /**
   * A store that fails everybody is hardly asked any more. This one is to fail some objects only,
   * so that each read meets its own failure.
   */
  private void readWell(Reader reader, Place place) throws Exception {
    if (place != Place.SERVER && place != Place.HASTY) {
      return;
    }
    FailureCase line =
        new FailureCase("nothing " + well.incrementAndGet(), place, Fault.none(), 0, null);
    server.put(object(line), content);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS / 4);
    for (boolean isRead = false; !isRead; ) {
      try {
        reader.read(line, Style.PREAD);
        isRead = true;
      } catch (IOException e) {
        if (System.nanoTime() - deadline > 0) {
          throw e;
        }
      }
    }
  }

  /** Whether a read had no time for an answer, since it waited at the gate because of others. */
  private static boolean isOfOthers(Place place, Throwable failure) {
    return failure instanceof SocketTimeoutException
        && switch (place) {
          case SERVER -> true;
          case HASTY -> String.valueOf(failure.getMessage()).contains("refused all requests");
          case NOBODY, NOWHERE, UNTRUSTED -> false;
        };
  }

  private static Throwable fail(Reader reader, FailureCase line, Style style) {
    try {
      reader.read(line, style);
    } catch (ExecutionException e) {
      return e.getCause();
    } catch (Exception e) {
      return e;
    }
    return new AssertionError("read in spite of " + line);
  }

  /** One client at one place. */
  private interface Reader extends Closeable {
    void read(FailureCase line, Style style) throws Exception;
  }

  private Reader reader(Store store) throws Exception {
    boolean isCrt = store.client() == Client.CRT && store.place() == Place.UNTRUSTED;
    if (isCrt || store.client() == Client.CRT_COPIED) {
      CoreReads core = new CoreReads(endpoint(store), store.place(), isCrt);
      return new Reader() {
        @Override
        public void read(FailureCase line, Style style) throws Exception {
          core.read(object(line), style);
        }

        @Override
        public void close() {
          core.close();
        }
      };
    }
    FileSystem fs = FileSystem.newInstance(URI.create("s3a://" + BUCKET), configuration(store));
    return new Reader() {
      @Override
      public void read(FailureCase line, Style style) throws Exception {
        FailingReads.read(fs, line, style);
      }

      @Override
      public void close() throws IOException {
        fs.close();
      }
    };
  }

  private static void read(FileSystem fs, FailureCase line, Style style) throws Exception {
    try (FSDataInputStream in =
        fs.openFile(new org.apache.hadoop.fs.Path("/" + line.key()))
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

  private URI endpoint(Store store) {
    return switch (store.place()) {
      case SERVER, HASTY -> server.endpoint();
      case NOBODY -> nobody;
      case NOWHERE -> URI.create("http://nowhere.s3e.invalid:9000");
      case UNTRUSTED -> untrusted.endpoint();
    };
  }

  private Configuration configuration(Store store) {
    boolean classic = store.client() == Client.CLASSIC;
    URI endpoint = endpoint(store);
    Configuration conf = classic ? S3AServer.s3a(endpoint) : S3AServer.s3e(endpoint);
    conf.set("fs.s3a.input.stream.type", "classic");
    conf.setBoolean("fs.s3a.connection.ssl.enabled", store.place() == Place.UNTRUSTED);
    conf.set("fs.s3a.attempts.maximum", "0");
    conf.set("fs.s3a.retry.limit", "0");
    conf.set("fs.s3a.retry.throttle.limit", "0");
    conf.set("fs.s3a.retry.interval", "1ms");
    conf.set("fs.s3a.connection.timeout", store.place().stallTimeout().toMillis() + "ms");
    conf.set("fs.s3a.s3e.read.timeout", store.place().readTimeout().toMillis() + "ms");
    if (!classic) {
      conf.set("fs.s3a.s3e.client", store.client().key);
    }
    return conf;
  }

  @Override
  public void close() throws Exception {
    server.close();
    untrusted.close();
  }
}
