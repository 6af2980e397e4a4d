// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stats;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AReads;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random programs that give up much of what is under way for them, by several threads; then each
 * GET of the server's log is in each counter that claims to count GETs, and each byte that came was
 * used, wasted, or is held.
 */
@Timeout(300)
@Slow
@Tag("any-hadoop")
class RandomCountsTest {
  private static final int THREADS = 3;
  private static final int STREAMS = 12;
  private static final int[] SIZES = {700_000, 3 << 20, 12 << 20};
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  private final Map<Path, byte[]> contents = new LinkedHashMap<>();
  private final ConcurrentLinkedQueue<IOStatistics> streams = new ConcurrentLinkedQueue<>();
  private HostileS3Server server;

  @BeforeEach
  void startServer() throws Exception {
    server = HostileS3Server.start();
    server.shape(Duration.ofMillis(4), 20_000_000);
    for (int size : SIZES) {
      byte[] content = new byte[size];
      new Random(size).nextBytes(content);
      server.put(new ObjectRef(S3AServer.BUCKET, "counted-" + size), content);
      contents.put(new Path("/counted-" + size), content);
    }
  }

  @AfterEach
  void stopServer() throws Exception {
    server.close();
  }

  /** The SDK's clients tell of a GET before it is written: {@code CountsOverServerTest}. */
  @ParameterizedTest
  @ValueSource(strings = {"crt", "auto"})
  void everyGetAndEveryByteIsCounted(String client) throws Exception {
    long seed = Seed.draw();
    Configuration conf = S3AServer.s3e(server.endpoint());
    conf.set("fs.s3a.s3e.client", client);
    // Few connections: much waits for one, and is cancelled there.
    conf.set("fs.s3a.connection.maximum", "6");
    S3AFileSystem fileSystem;
    try (FileSystem fs = S3AReads.open(S3AReads.small(conf))) {
      fileSystem = (S3AFileSystem) fs;
      ExecutorService threads = Executors.newFixedThreadPool(THREADS);
      try {
        List<Callable<Void>> readers = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
          Random random = new Random(seed + thread);
          readers.add(() -> read(fs, random));
        }
        for (Future<Void> reader : threads.invokeAll(readers, 120, TimeUnit.SECONDS)) {
          reader.get();
        }
      } finally {
        threads.shutdownNow();
      }
      awaitSum(fileSystem, seed);
    }
    assertThat(fileSystem.getIOStatistics().gauges()).containsEntry("s3e_held_bytes", 0L);
  }

  private Void read(FileSystem fs, Random random) throws Exception {
    List<Path> files = List.copyOf(contents.keySet());
    for (int number = 0; number < STREAMS; number++) {
      Path file = files.get(random.nextInt(files.size()));
      byte[] content = contents.get(file);
      String policy =
          List.of("sequential", "adaptive", "random", "whole-file").get(random.nextInt(4));
      FSDataInputStream in =
          fs.openFile(file)
              .opt("fs.option.openfile.length", Integer.toString(content.length))
              .opt("fs.option.openfile.read.policy", policy)
              .build()
              .get();
      streams.add(IOStatisticsSupport.retrieveIOStatistics(in));
      int steps = random.nextInt(12);
      for (int step = 0; step < steps; step++) {
        step(in, content, random);
      }
      in.close();
    }
    return null;
  }

  private static void step(FSDataInputStream in, byte[] content, Random random) throws Exception {
    switch (random.nextInt(6)) {
      case 0 -> in.seek(random.nextInt(content.length));
      case 1 -> in.unbuffer();
      case 2 -> vectored(in, content, random);
      case 3 -> {
        int at = random.nextInt(content.length);
        byte[] some = new byte[Math.min(content.length - at, random.nextInt(1, 300_000))];
        in.readFully(at, some);
        assertArrayEquals(Arrays.copyOfRange(content, at, at + some.length), some);
      }
      case 4 -> interrupted(in, content, random);
      default -> {
        int at = Math.toIntExact(in.getPos());
        byte[] some = in.readNBytes(random.nextInt(1, 500_000));
        assertArrayEquals(Arrays.copyOfRange(content, at, at + some.length), some);
      }
    }
  }

  private static void vectored(FSDataInputStream in, byte[] content, Random random)
      throws Exception {
    List<FileRange> ranges = new ArrayList<>();
    int at = random.nextInt(content.length);
    while (ranges.size() < 5 && at + 100_000 < content.length) {
      ranges.add(FileRange.createFileRange(at, random.nextInt(1, 100_000)));
      at += 100_000 + random.nextInt(1_000_000);
    }
    in.readVectored(ranges, ByteBuffer::allocate);
    if (random.nextBoolean()) {
      // Nobody waits for them; the close ends what is under way.
      return;
    }
    for (FileRange range : ranges) {
      ByteBuffer got = range.getData().get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
      byte[] bytes = new byte[range.getLength()];
      got.get(bytes);
      int from = Math.toIntExact(range.getOffset());
      assertArrayEquals(Arrays.copyOfRange(content, from, from + bytes.length), bytes);
    }
  }

  /** A read whose thread is interrupted before, so that its GET is given up as it waits. */
  private static void interrupted(FSDataInputStream in, byte[] content, Random random) {
    byte[] some = new byte[1000];
    Thread.currentThread().interrupt();
    try {
      in.readFully(random.nextInt(content.length - some.length), some);
    } catch (InterruptedIOException e) {
      // As it should be; what was in memory is read without a wait.
      assertThat(Thread.currentThread().isInterrupted()).isTrue();
    } catch (IOException e) {
      throw new AssertionError("an interrupted read", e);
    } finally {
      boolean unused = Thread.interrupted();
    }
  }

  /** What was given up may end a moment later. */
  private void awaitSum(S3AFileSystem fs, long seed) throws InterruptedException {
    try {
      awaitTrue(
          "what is told is the log, and bytes add up",
          DEADLINE,
          () -> {
            try {
              check(fs, seed);
              return true;
            } catch (AssertionError e) {
              return false;
            }
          });
    } catch (AssertionError e) {
      check(fs, seed);
      throw e;
    }
  }

  private void check(S3AFileSystem fs, long seed) {
    Map<String, Long> now = fs.getIOStatistics().counters();
    Map<String, Long> gauges = fs.getIOStatistics().gauges();
    long sent = server.gets().size();
    String what = "seed " + seed + ", " + sent + " GETs, " + now;
    long heads = server.requests().size() - sent;
    assertThat(now.get("s3e_gets")).as(what).isEqualTo(sent);
    assertThat(now.get("action_http_get_request")).as(what).isEqualTo(sent);
    assertThat(now.get("stream_read_opened")).as(what).isEqualTo(sent);
    assertThat(now.get("stream_read_closed") + now.get("stream_aborted")).as(what).isEqualTo(sent);
    assertThat(now.get("store_io_request")).as(what).isEqualTo(sent + heads);
    assertThat(now.get("audit_request_execution")).as(what).isEqualTo(sent + heads);
    assertThat(now.get("action_http_get_request.failures")).as(what).isZero();
    for (String each : List.of("s3e_gets", "action_http_get_request", "stream_read_opened")) {
      assertThat(ofStreams(each)).as(each + " of streams, " + what).isEqualTo(sent);
    }
    assertThat(
            now.get("s3e_used_bytes") + now.get("s3e_wasted_bytes") + gauges.get("s3e_held_bytes"))
        .as("used, wasted and held, " + gauges + what)
        .isEqualTo(now.get("s3e_fetched_bytes"));
    assertThat(
            now.get("s3e_prefetch_used_bytes")
                + now.get("s3e_prefetch_wasted_bytes")
                + gauges.get("s3e_prefetch_held_bytes"))
        .as("prefetched, " + gauges + what)
        .isEqualTo(now.get("s3e_prefetched_bytes"));
    for (String each : List.of("s3e_fetched_bytes", "s3e_used_bytes", "s3e_wasted_bytes")) {
      assertThat(ofStreams(each)).as(each + " of streams, " + what).isEqualTo(now.get(each));
    }
    assertThat(ofStreams("stream_read_bytes"))
        .as("read, " + what)
        .isEqualTo(now.get("stream_read_bytes"));
    assertThat(ofStreams("stream_read_total_bytes"))
        .as("read and wasted, " + what)
        .isEqualTo(ofStreams("stream_read_bytes") + now.get("s3e_wasted_bytes"))
        .isEqualTo(now.get("stream_read_total_bytes"));
  }

  private long ofStreams(String name) {
    return streams.stream().mapToLong(each -> each.counters().getOrDefault(name, 0L)).sum();
  }
}
