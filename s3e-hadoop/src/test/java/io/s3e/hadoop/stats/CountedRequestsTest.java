// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stats;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AReads;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Slow;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Counters against the log of the server, which knows what was sent. */
@Slow
class CountedRequestsTest {
  private static final int SIZE = 3 << 20;
  private static final ObjectRef OBJECT = new ObjectRef(S3AServer.BUCKET, "counted");
  private static final Path FILE = new Path("/counted");
  private static final long DEADLINE_SECONDS = 60;
  private static final Duration FIRST_BYTE = Duration.ofMillis(20);

  private HostileS3Server server;
  private byte[] content;

  /** The reader. */
  private enum Reader {
    AUTO("auto"),
    CRT("crt"),
    S3A_CLIENT("s3a"),
    /** S3A alone, by its classic stream. */
    CLASSIC(null);

    private final String client;

    Reader(String client) {
      this.client = client;
    }

    FileSystem open(HostileS3Server server) throws Exception {
      Configuration conf =
          this == CLASSIC
              ? S3AServer.s3a(server.endpoint())
              : S3AReads.small(S3AServer.s3e(server.endpoint()));
      conf.set("fs.s3a.input.stream.type", "classic");
      if (client != null) {
        conf.set("fs.s3a.s3e.client", client);
      }
      return S3AReads.open(conf);
    }
  }

  /** Counters of a stream, when it was closed, and of its file system. */
  private record Counted(IOStatistics stream, IOStatistics fileSystem) {
    long ofStream(String name) {
      return stream.counters().getOrDefault(name, -1L);
    }

    long ended() {
      return ofStream("stream_read_closed") + ofStream("stream_aborted");
    }

    long ofFileSystem(String name) {
      return fileSystem.counters().getOrDefault(name, -1L);
    }
  }

  private interface Reads {
    void of(FSDataInputStream in) throws Exception;
  }

  @BeforeEach
  void startServer() throws Exception {
    server = HostileS3Server.start();
    content = new byte[SIZE];
    new Random(7).nextBytes(content);
    server.put(OBJECT, content);
  }

  @AfterEach
  void stopServer() throws Exception {
    server.close();
  }

  /** Of the counters that S3A's follow, before anybody asks for these. */
  @Test
  void aStreamIsShownWithItsCountersAsTheyAre() throws Exception {
    try (FileSystem fs = S3AReads.open(S3AReads.small(S3AServer.s3e(server.endpoint())));
        FSDataInputStream in = fs.open(FILE)) {
      in.readFully(0, new byte[SIZE]);
      in.readFully(0, new byte[SIZE]);
      String words = in.getWrappedStream().toString();
      String name = "stream_read_cache_hit";
      Long hits = in.getIOStatistics().counters().get(name);
      assumeTrue(hits != null, "this Hadoop does not have the name " + name);
      assertThat(hits).isPositive();
      assertThat(words).contains(name + "=" + hits);
    }
  }

  private static FSDataInputStream open(FileSystem fs, String policy) throws Exception {
    return fs.openFile(FILE)
        .opt("fs.option.openfile.length", Integer.toString(SIZE))
        .opt("fs.option.openfile.read.policy", policy)
        .build()
        .get();
  }

  private Counted count(Reader reader, String policy, Reads reads) throws Exception {
    try (FileSystem fs = reader.open(server)) {
      FSDataInputStream in = open(fs, policy);
      reads.of(in);
      in.close();
      return new Counted(
          IOStatisticsSupport.snapshotIOStatistics(IOStatisticsSupport.retrieveIOStatistics(in)),
          IOStatisticsSupport.snapshotIOStatistics(((S3AFileSystem) fs).getIOStatistics()));
    }
  }

  private void scan(FSDataInputStream in) throws Exception {
    assertArrayEquals(content, in.readAllBytes());
  }

  private void jump(FSDataInputStream in) throws Exception {
    byte[] some = new byte[1000];
    for (int at = 2_000_000; at > 0; at -= 300_000) {
      in.readFully(at, some);
      assertArrayEquals(Arrays.copyOfRange(content, at, at + some.length), some);
    }
  }

  private static void vectored(FSDataInputStream in) throws Exception {
    List<FileRange> ranges = new ArrayList<>();
    for (int at : new int[] {1_000_000, 0, 5_000, 1_500_000}) {
      ranges.add(FileRange.createFileRange(at, 2_000));
    }
    in.readVectored(ranges, ByteBuffer::allocate);
    for (FileRange range : ranges) {
      assertThat(range.getData().get(DEADLINE_SECONDS, TimeUnit.SECONDS).remaining())
          .isEqualTo(2_000);
    }
  }

  /** Two connections that break before the first answer: auto tries again unseen by the reader. */
  @Test
  void whatTheClientSendsAgainByItselfIsCounted() throws Exception {
    server.next(Fault.resetAtOnce(), Fault.resetAtOnce());
    Counted counted = count(Reader.AUTO, "random", in -> in.readFully(5, new byte[100]));
    long sent = counted.ofFileSystem("store_io_request");
    // The CRT may have used up one of the faults by a retry of its own.
    assertThat(sent).isBetween(2L, 3L);
    assertThat(counted.ofFileSystem("audit_request_execution")).isEqualTo(sent);
    assertThat(counted.ofStream("action_http_get_request")).isEqualTo(sent);
    assertThat(counted.ofStream("stream_read_opened")).isEqualTo(sent);
    assertThat(counted.ofStream("s3e_gets")).isEqualTo(sent);
    assertThat(counted.ofFileSystem("s3e_client_fallback")).isZero();
  }

  @ParameterizedTest
  @EnumSource(Reader.class)
  void everyGetIsInEachCounterOfRequests(Reader reader) throws Exception {
    for (Map.Entry<String, Reads> pattern :
        Map.<String, Reads>of(
                "sequential", this::scan,
                "random", this::jump,
                "vector", CountedRequestsTest::vectored)
            .entrySet()) {
      server.forgetRequests();
      Counted counted = count(reader, pattern.getKey(), pattern.getValue());
      String what = reader + ", " + pattern.getKey();
      long sent = server.gets().size();
      assertThat(counted.ofFileSystem("store_io_request")).as(what).isEqualTo(sent);
      assertThat(counted.ofFileSystem("audit_request_execution")).as(what).isEqualTo(sent);
      assertThat(counted.ofStream("action_http_get_request")).as(what).isEqualTo(sent);
      assertThat(counted.ofFileSystem("action_http_get_request")).as(what).isEqualTo(sent);
      if (reader != Reader.CLASSIC) {
        assertThat(counted.ofStream("stream_read_opened")).as(what).isEqualTo(sent);
        assertThat(counted.ofStream("s3e_gets")).as(what).isEqualTo(sent);
        assertThat(counted.ofFileSystem("s3e_gets")).as(what).isEqualTo(sent);
        assertThat(counted.ofFileSystem("s3e_fetched_bytes")).as(what).isEqualTo(asked());
        assertThat(counted.ofStream("s3e_fetched_bytes")).as(what).isEqualTo(asked());
      }
      assertThat(counted.ofFileSystem("store_io_throttled")).as(what).isZero();
      assertThat(counted.ofFileSystem("store_io_retry")).as(what).isZero();
    }
  }

  private static void calls(FSDataInputStream in) throws Exception {
    in.readFully(5, new byte[100]);
    in.readFully(2_000_000, new byte[100]);
    assertThat(in.read(1_000_000, new byte[100], 0, 100)).isEqualTo(100);
    assertThat(in.read()).isNotNegative();
    in.seek(SIZE - 100);
    in.readFully(new byte[100]);
    assertThat(in.read(new byte[100])).isEqualTo(-1);
  }

  /** Reads so short that S3A's stream takes one for each. */
  @Test
  void readsAreCountedAsByS3a() throws Exception {
    Counted classic = count(Reader.CLASSIC, "random", CountedRequestsTest::calls);
    Counted counted = count(Reader.CRT, "random", CountedRequestsTest::calls);
    for (String name :
        List.of(
            "stream_read_operations",
            "stream_read_operations_incomplete",
            "stream_read_fully_operations",
            "stream_read_bytes")) {
      assertThat(counted.ofStream(name)).as(name).isEqualTo(classic.ofStream(name));
      assertThat(counted.ofFileSystem(name)).as(name).isEqualTo(classic.ofFileSystem(name));
    }
    assertThat(counted.ofStream("stream_read_operations")).isEqualTo(4);
    assertThat(counted.ofStream("stream_read_seek_operations")).as("the seek alone").isEqualTo(1);
  }

  private long asked() {
    return server.gets().stream().mapToLong(CountedRequestsTest::length).sum();
  }

  private static long length(HostileS3Server.Request get) {
    String[] range = get.header("Range").substring("bytes=".length()).split("-");
    return Long.parseLong(range[1]) - Long.parseLong(range[0]) + 1;
  }

  /**
   * Not by S3A's client: it pauses inside after a refusal for longer than a GET takes as a rule,
   * and S3E may have a second GET overtake it, or not.
   */
  @ParameterizedTest
  @EnumSource(value = Reader.class, names = "S3A_CLIENT", mode = EnumSource.Mode.EXCLUDE)
  void everySlowDownIsCounted(Reader reader) throws Exception {
    // As far away as a store is: the CRT sends again what was refused until it is told not to, for
    // which it has to have returned from its sending.
    server.shape(FIRST_BYTE, 0);
    server.next(Fault.none(), slowDown(), Fault.none(), slowDown());
    Counted counted = count(reader, "random", this::jump);
    long sent = server.gets().size();
    long requests = counted.ofFileSystem("store_io_request");
    if (reader == Reader.CRT || reader == Reader.AUTO) {
      long throttled = counted.ofFileSystem("store_io_throttled");
      // The CRT may have begun a retry of its own before it could be told not to.
      assertThat(throttled).isBetween(1L, 2L);
      assertThat(counted.ofFileSystem("s3e_gets_throttled")).isEqualTo(throttled);
      assertThat(counted.ofStream("s3e_gets_throttled")).isEqualTo(throttled);
      assertThat(counted.ofStream("s3e_get_retries")).isEqualTo(throttled);
      assertThat(counted.ofFileSystem("store_io_retry")).isZero();
      assertThat(counted.ofFileSystem("audit_request_execution")).isEqualTo(requests);
      assertThat(counted.ofStream("stream_read_opened")).isEqualTo(requests);
    } else {
      // S3A's client sends again inside, and says so.
      assertThat(counted.ofFileSystem("store_io_retry")).isEqualTo(2);
      assertThat(counted.ofFileSystem("audit_request_execution")).isEqualTo(requests - 2);
    }
    assertThat(sent).isEqualTo(requests);
  }

  private static Fault slowDown() {
    return Fault.status(503, "SlowDown");
  }

  @Test
  void aRetryThatIsNotThrottlingIsARetry() throws Exception {
    Fault error = Fault.status(500, "InternalError");
    server.next(Fault.none(), error, error, error);
    Counted counted = count(Reader.CRT, "random", this::jump);
    long retries = counted.ofFileSystem("store_io_retry");
    // The CRT may have begun a retry of its own before it could be told not to, once a GET.
    assertThat(retries).isBetween(1L, 3L);
    assertThat(counted.ofFileSystem("ignored_errors")).isEqualTo(retries);
    assertThat(counted.ofFileSystem("store_io_throttled")).isZero();
    assertThat(counted.ofStream("stream_read_exceptions")).isEqualTo(retries);
  }

  @Test
  void withoutAuditingNothingIsAudited() throws Exception {
    Configuration conf = S3AReads.small(S3AServer.s3e(server.endpoint()));
    conf.set("fs.s3a.s3e.client", "crt");
    conf.setBoolean("fs.s3a.audit.enabled", false);
    try (FileSystem fs = S3AReads.open(conf);
        FSDataInputStream in = open(fs, "random")) {
      jump(in);
      IOStatistics counted = ((S3AFileSystem) fs).getIOStatistics();
      assertThat(counted.counters())
          .containsEntry("audit_request_execution", 0L)
          .containsEntry("store_io_request", (long) server.gets().size());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4, 20, 48})
  void whatIsPrefetchedAddsUp(int blocks) throws Exception {
    Counted counted;
    try (FileSystem fs = Reader.S3A_CLIENT.open(server)) {
      S3AFileSystem s3a = (S3AFileSystem) fs;
      FSDataInputStream in = open(fs, "sequential");
      in.readFully(new byte[blocks << 16]);
      in.close();
      counted = new Counted(IOStatisticsSupport.retrieveIOStatistics(in), s3a.getIOStatistics());
      awaitQuiet(counted);
      Map<String, Long> now = counted.fileSystem().counters();
      assertThat(now.get("s3e_fetched_bytes"))
          .isBetween(now.get("s3e_prefetched_bytes") + now.get("s3e_discarded_bytes"), asked());
      assertThat(counted.stream().gauges())
          .containsEntry("stream_read_active_prefetch_operations", 0L);
      assertThat(counted.ofStream("stream_read_prefetch_operations"))
          .isGreaterThanOrEqualTo(counted.ofStream("s3e_prefetch_gets"));
      assertThat(counted.ended()).isEqualTo(counted.ofStream("stream_read_opened"));
    }
    // What was given up has left memory with the file system.
    Map<String, Long> ofStream = counted.stream().counters();
    assertThat(ofStream.get("s3e_prefetch_used_bytes") + ofStream.get("s3e_prefetch_wasted_bytes"))
        .isEqualTo(ofStream.get("s3e_prefetched_bytes"));
    assertThat(ofStream.get("s3e_used_bytes") + ofStream.get("s3e_wasted_bytes"))
        .isEqualTo(ofStream.get("s3e_fetched_bytes"));
    assertThat(counted.fileSystem().gauges())
        .containsEntry("s3e_held_bytes", 0L)
        .containsEntry("s3e_prefetch_held_bytes", 0L);
    assertThat(ofStream.get("stream_read_bytes_discarded_in_close"))
        .isEqualTo(ofStream.get("s3e_wasted_bytes"));
  }

  /** A GET may end after the close that gave it up. */
  private static void awaitQuiet(Counted counted) throws InterruptedException {
    awaitTrue(
        "nothing is under way and the figures add up",
        Duration.ofSeconds(DEADLINE_SECONDS),
        () -> {
          Map<String, Long> now = counted.fileSystem().counters();
          Map<String, Long> held = counted.fileSystem().gauges();
          // The gauge falls behind the counters of a GET's end.
          return counted.ended() >= counted.ofStream("stream_read_opened")
              && counted.stream().gauges().get("stream_read_active_prefetch_operations") == 0
              && now.get("s3e_used_bytes")
                      + now.get("s3e_wasted_bytes")
                      + held.get("s3e_held_bytes")
                  == now.get("s3e_fetched_bytes")
              && now.get("s3e_prefetch_used_bytes")
                      + now.get("s3e_prefetch_wasted_bytes")
                      + held.get("s3e_prefetch_held_bytes")
                  == now.get("s3e_prefetched_bytes");
        });
  }

  @Test
  void rangesInTheSameOrAdjacentBlocksAreOneRead() throws Exception {
    Counted counted = count(Reader.CRT, "vector", CountedRequestsTest::vectored);
    assertThat(counted.ofStream("stream_read_vectored_operations")).isEqualTo(1);
    assertThat(counted.ofStream("stream_read_vectored_incoming_ranges")).isEqualTo(4);
    assertThat(counted.ofStream("stream_read_vectored_combined_ranges")).isEqualTo(3);
    assertThat(server.gets()).hasSize(3);
  }

  @Test
  void theEnginesMemoryIsAGauge() throws Exception {
    S3AFileSystem closed;
    try (FileSystem fs = Reader.S3A_CLIENT.open(server)) {
      closed = (S3AFileSystem) fs;
      try (FSDataInputStream in = open(fs, "random")) {
        assertThat(closed.getIOStatistics().gauges().get("stream_read_active_memory_in_use"))
            .isZero();
        in.readFully(0, new byte[100]);
        assertThat(closed.getIOStatistics().gauges().get("stream_read_active_memory_in_use"))
            .isGreaterThanOrEqualTo(64 << 10);
      }
    }
    assertThat(closed.getIOStatistics().gauges().get("stream_read_active_memory_in_use")).isZero();
  }
}
