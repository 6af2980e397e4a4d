// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Pause;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Readers of blocks in memory never stop for each other: a flight recording with all thresholds at
 * zero holds not one blocked monitor, park, wait or sleep of theirs, while eight of them read the
 * same blocks. (It would hold every wait for a monitor or for a lock of java.util.concurrent; a
 * lock that is taken without waiting leaves no event.)
 */
class MemoryReadRecordingTest {
  private static final int BLOCK = 64 << 10;
  private static final int BLOCKS = 48;
  private static final int READERS = 8;
  private static final int WARM_ROUNDS = 20;
  private static final int ROUNDS = 60;
  private static final String CONTROL = "recording-control";
  private static final String READER = "recorded-reader-";
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");
  private static final List<String> EVENTS =
      List.of("jdk.JavaMonitorEnter", "jdk.JavaMonitorWait", "jdk.ThreadPark", "jdk.ThreadSleep");

  @TempDir private Path directory;

  private final byte[] content = MemoryObjectClient.bytes(BLOCKS * BLOCK, 1);
  private final MemoryObjectClient client =
      new MemoryObjectClient(ClientLimits.copying(4 * BLOCK, 16, 0));
  private S3E engine;

  /** One pass of a reader over the object. */
  private interface Pass {
    void run(int reader, byte[] scratch) throws IOException;
  }

  @BeforeEach
  void bringTheObjectIntoMemory() throws IOException {
    client.put(OBJECT, content, "\"v1\"");
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder().blockBytes(BLOCK).requestBytes(4 * BLOCK).build();
    engine = S3E.create(config, new MemoryBudget(4L * BLOCKS * BLOCK), granted -> client);
    try (S3EInputStream in = engine.open(OBJECT)) {
      byte[] all = new byte[content.length];
      in.readFully(all, 0, all.length);
      assertThat(all).isEqualTo(content);
    }
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  @Slow
  void eightStreamsReadTheSameBlocksWithoutStopping() throws Exception {
    List<S3EInputStream> streams = new ArrayList<>();
    for (int i = 0; i < READERS; i++) {
      streams.add(engine.open(OBJECT, OpenOptions.DEFAULTS));
    }
    requireNoStops(
        (reader, scratch) -> {
          S3EInputStream in = streams.get(reader);
          in.seek(0);
          int at = 0;
          while (at < content.length) {
            int count = in.read(scratch, 0, at % 3 == 0 ? 100 : scratch.length);
            requireRight(scratch, at, count);
            at += count;
            if (at < content.length) {
              requireRight(in.read(), at++);
            }
          }
        });
    for (S3EInputStream stream : streams) {
      stream.close();
    }
  }

  @Test
  @Slow
  void eightThreadsReadOneStreamAtTheirOwnPositionsWithoutStopping() throws Exception {
    try (S3EInputStream in = engine.open(OBJECT)) {
      requireNoStops(
          (reader, scratch) -> {
            for (int i = 0; i < BLOCKS; i++) {
              int at = (i * 7 + reader * 5) % BLOCKS * BLOCK + i;
              requireRight(scratch, at, in.readAt(at, scratch, 0, scratch.length));
            }
          });
    }
  }

  private void requireNoStops(Pass pass) throws Exception {
    int gets = client.gets().size();
    Path file = directory.resolve("reads.jfr");
    Gate gate = new Gate();
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    for (int i = 0; i < READERS; i++) {
      start(i, pass, gate, failures);
    }
    gate.awaitWarm();
    try (Recording recording = new Recording()) {
      for (String event : EVENTS) {
        recording.enable(event).withThreshold(Duration.ZERO).withStackTrace();
      }
      recording.start();
      gate.open = true;
      assertThat(gate.done.await(100, TimeUnit.SECONDS)).as("readers done").isTrue();
      parkOnPurpose();
      recording.stop();
      recording.dump(file);
    } finally {
      gate.leave = true;
    }
    assertThat(failures).isEmpty();
    assertThat(client.gets()).as("reads went to memory alone").hasSize(gets);
    List<RecordedEvent> events = RecordingFile.readAllEvents(file);
    assertThat(events)
        .as("the recording works")
        .anyMatch(event -> isOf(event, CONTROL) && event.getEventType().getName().endsWith("Park"));
    assertThat(events.stream().filter(event -> isOf(event, READER))).as("stops").isEmpty();
  }

  private static void start(int reader, Pass pass, Gate gate, Queue<Throwable> failures) {
    Thread thread =
        new Thread(
            () -> {
              byte[] scratch = new byte[5_000];
              try {
                repeat(pass, reader, scratch, WARM_ROUNDS);
              } catch (Throwable e) {
                failures.add(e);
              }
              gate.enter();
              try {
                repeat(pass, reader, scratch, ROUNDS);
              } catch (Throwable e) {
                failures.add(e);
              }
              gate.exit();
            },
            READER + reader);
    thread.setDaemon(true);
    thread.start();
  }

  private static void repeat(Pass pass, int reader, byte[] scratch, int times) throws IOException {
    for (int i = 0; i < times; i++) {
      pass.run(reader, scratch);
    }
  }

  /** Shows that the recording sees what it is to see. */
  private static void parkOnPurpose() throws InterruptedException {
    Thread thread = new Thread(() -> Pause.nanos(1_000_000, "what is to be seen"), CONTROL);
    thread.start();
    thread.join(10_000);
  }

  private static boolean isOf(RecordedEvent event, String threadName) {
    return event.getThread() != null
        && event.getThread().getJavaName() != null
        && event.getThread().getJavaName().startsWith(threadName);
  }

  private void requireRight(byte[] got, int at, int count) {
    int there = Math.min(got.length, content.length - at);
    if (count < 1 || count > there || !Arrays.equals(got, 0, count, content, at, at + count)) {
      throw new AssertionError(count + " bytes read at " + at + " are not the object's");
    }
  }

  private void requireRight(int got, int at) {
    if (got != (content[at] & 0xFF)) {
      throw new AssertionError("read " + got + " at " + at + " instead of " + content[at]);
    }
  }

  /** Readers yield here: waiting in a better way, and ending, would be in the recording. */
  private static final class Gate {
    private final AtomicInteger warm = new AtomicInteger();
    private final CountDownLatch done = new CountDownLatch(READERS);
    private volatile boolean open;
    private volatile boolean leave;

    void enter() {
      warm.incrementAndGet();
      while (!open) {
        Thread.yield();
      }
    }

    void exit() {
      done.countDown();
      while (!leave) {
        Thread.yield();
      }
    }

    void awaitWarm() throws InterruptedException {
      awaitTrue("all readers are warm", Duration.ofSeconds(100), () -> warm.get() >= READERS);
    }
  }
}
