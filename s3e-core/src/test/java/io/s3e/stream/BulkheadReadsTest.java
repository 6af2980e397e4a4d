// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Slow;
import io.s3e.testing.StoredContent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Readers of objects that hang, beside readers of one that does not, in one file system. */
@Timeout(120)
@Slow
@Tag("waits")
class BulkheadReadsTest {
  private static final int HANGING = 40;
  private static final int HEALTHY = 8;
  private static final int READS = 25;
  private static final int PART = 64 << 10;
  private static final int SIZE = 4 << 20;

  /** Longer than the tests: nothing that hangs ends by itself. */
  private static final Duration STALL = Duration.ofMinutes(5);

  private static final ObjectRef WELL = new ObjectRef("bucket", "well");
  private static final OpenOptions RANDOM = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM);

  private final byte[] content = MemoryObjectClient.bytes(SIZE, 3);
  private final StoredContent stored = StoredContent.of(content);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<S3EInputStream> streams = new ArrayList<>();
  private HostileS3Server server;
  private S3E engine;

  @BeforeEach
  void open() throws IOException {
    server = HostileS3Server.start();
    server.put(WELL, stored);
    for (int i = 0; i < HANGING; i++) {
      server.put(hanging(i), stored);
    }
    server.decide(
        request -> request.target().contains("hanging") ? Fault.stallAtOnce() : Fault.none());
    AwsClientSettings settings =
        AwsClientSettings.builder()
            .endpoint(server.endpoint())
            .region("us-east-1")
            .pathStyle(true)
            .anonymous(true)
            .build();
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder()
            .blockBytes(PART)
            .stallTimeout(STALL)
            .readTimeout(Duration.ofSeconds(100))
            .build();
    engine = S3E.create(config, new MemoryBudget(128L << 20), AwsClients.crt(settings));
    // The store has answered once.
    readPart(open(WELL), 0);
  }

  @AfterEach
  void close() throws IOException {
    threads.shutdownNow();
    for (S3EInputStream stream : streams) {
      stream.close();
    }
    engine.close();
    server.close();
  }

  private static ObjectRef hanging(int number) {
    return new ObjectRef("bucket", "hanging-" + number);
  }

  private S3EInputStream open(ObjectRef object) throws IOException {
    S3EInputStream stream = engine.open(object, RANDOM);
    streams.add(stream);
    return stream;
  }

  private static List<ByteRange> ranges() {
    List<ByteRange> ranges = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      ranges.add(ByteRange.ofLength(i * (SIZE / 8L), 1000));
    }
    return ranges;
  }

  @Test
  void preadsGoOnBesidePreadsThatHang() throws Exception {
    for (int i = 0; i < HANGING; i++) {
      S3EInputStream in = open(hanging(i));
      Future<?> unused = threads.submit(() -> in.readAt(0, new byte[100], 0, 100));
    }
    hangsFor();
    List<Future<?>> healthy = new ArrayList<>();
    for (int i = 0; i < HEALTHY; i++) {
      int reader = i;
      healthy.add(
          threads.submit(
              () -> {
                for (int read = 0; read < READS; read++) {
                  readPart(open(WELL), (reader * 7 + read) % (SIZE / PART));
                }
                return null;
              }));
    }
    for (Future<?> one : healthy) {
      one.get(60, TimeUnit.SECONDS);
    }
  }

  private void readPart(S3EInputStream in, int part) throws IOException {
    byte[] read = new byte[PART];
    in.readFullyAt((long) part * PART, read, 0, PART);
    assertThat(read).isEqualTo(Arrays.copyOfRange(content, part * PART, (part + 1) * PART));
  }

  /**
   * Every read opens an object that nobody has read: nothing tells it from those that hang but that
   * it is answered.
   */
  @Test
  void preadsOfNewObjectsGoOnBesideReadsOfEveryKindThatHang() throws Exception {
    for (int i = 0; i < HANGING; i++) {
      S3EInputStream in = i % 3 == 1 ? scan(hanging(i)) : open(hanging(i));
      if (i % 3 == 2) {
        in.readVectored(ranges(), ByteBuffer::allocate, buffer -> {});
      } else {
        Future<?> unused = threads.submit(() -> in.read(new byte[SIZE / 2], 0, SIZE / 2));
      }
    }
    hangsFor();
    List<Future<?>> healthy = new ArrayList<>();
    for (int i = 0; i < HEALTHY; i++) {
      int reader = i;
      healthy.add(
          threads.submit(
              () -> {
                for (int read = 0; read < READS; read++) {
                  ObjectRef object = new ObjectRef("bucket", "well-" + reader + "-" + read);
                  server.put(object, stored);
                  readPart(open(object), read % (SIZE / PART));
                }
                return null;
              }));
    }
    for (Future<?> one : healthy) {
      one.get(60, TimeUnit.SECONDS);
    }
    assertThat(engine.metrics().get(Counter.FAILURES)).isZero();
  }

  /** Where all GETs have become slow, to give them up for each other would let none come. */
  @Test
  void readsGoOnWhereAllHaveBecomeSlow() throws Exception {
    S3EInputStream in = open(WELL);
    for (int part = 0; part < SIZE / PART; part++) {
      readPart(in, part);
    }
    server.decide(request -> Fault.delay(Duration.ofMillis(1_500)));
    int before = server.gets().size();
    List<Future<?>> slow = new ArrayList<>();
    for (int i = 0; i < HANGING; i++) {
      int reader = i;
      slow.add(
          threads.submit(
              () -> {
                readPart(open(hanging(reader)), reader % (SIZE / PART));
                return null;
              }));
    }
    for (Future<?> one : slow) {
      one.get(60, TimeUnit.SECONDS);
    }
    assertThat(server.gets().size() - before).as("GETs").isLessThan(5 * HANGING);
  }

  private S3EInputStream scan(ObjectRef object) throws IOException {
    S3EInputStream stream =
        engine.open(object, OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL));
    streams.add(stream);
    return stream;
  }

  @Test
  void vectoredReadsGoOnBesideVectoredReadsThatHang() throws Exception {
    for (int i = 0; i < HANGING; i++) {
      open(hanging(i)).readVectored(ranges(), ByteBuffer::allocate, buffer -> {});
    }
    hangsFor();
    S3EInputStream in = open(WELL);
    for (int read = 0; read < READS; read++) {
      List<ByteRange> ranges = ranges();
      var results = in.readVectored(ranges, ByteBuffer::allocate, buffer -> {});
      for (int i = 0; i < ranges.size(); i++) {
        long start = ranges.get(i).start();
        assertThat(results.get(i).get(60, TimeUnit.SECONDS).array())
            .isEqualTo(Arrays.copyOfRange(content, (int) start, (int) start + 1000));
      }
    }
  }

  /** Until most of them have come to the store. */
  private void hangsFor() throws Exception {
    awaitTrue(() -> server.gets().size() >= 16);
  }
}
