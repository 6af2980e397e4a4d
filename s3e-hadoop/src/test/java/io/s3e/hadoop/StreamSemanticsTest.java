// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ObjectRef;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Pause;
import io.s3e.testing.Slow;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.auth.NoAuthWithAWSException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;

/** Where a stream ends and how waits end, beside S3A's classic stream. */
@Timeout(120)
class StreamSemanticsTest {
  private static final Path FILE = new Path("s3a://" + S3AServer.BUCKET + "/file");
  private static final int SIZE = 16;
  private static final int DECLARED = 26;
  private static final String LENGTH = "fs.option.openfile.length";

  private HostileS3Server server;
  private byte[] content;

  @BeforeEach
  void start() throws IOException {
    server = HostileS3Server.start();
    put(SIZE);
    Credentials.action.set(() -> {});
    Credentials.asked.set(0);
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  private void put(int size) {
    content = S3AReads.random(size);
    server.put(new ObjectRef(S3AServer.BUCKET, "file"), content);
  }

  private FileSystem s3e() throws IOException {
    return S3AReads.open(withCredentials(S3AServer.s3e(server.endpoint())));
  }

  private FileSystem classic() throws IOException {
    Configuration conf = withCredentials(S3AServer.s3a(server.endpoint()));
    conf.set("fs.s3a.input.stream.type", "classic");
    return S3AReads.open(conf);
  }

  private static Configuration withCredentials(Configuration conf) {
    conf.set("fs.s3a.aws.credentials.provider", Credentials.class.getName());
    return conf;
  }

  private static FSDataInputStream open(FileSystem fs, long length) throws Exception {
    return fs.openFile(FILE)
        .opt(LENGTH, Long.toString(length))
        .opt("fs.option.openfile.read.policy", "random")
        .build()
        .get();
  }

  /** Credentials that treat their callers as a test wants. */
  public static final class Credentials implements AwsCredentialsProvider {
    static final AtomicReference<Runnable> action = new AtomicReference<>(() -> {});
    static final AtomicInteger asked = new AtomicInteger();

    @Override
    public AwsCredentials resolveCredentials() {
      asked.incrementAndGet();
      action.get().run();
      return AwsBasicCredentials.create("access", "secret");
    }
  }

  @Test
  void availableIsAllThatIsLeft() throws Exception {
    put(150_000);
    try (FileSystem s3e = s3e();
        FileSystem classic = classic();
        FSDataInputStream ours = s3e.open(FILE);
        FSDataInputStream theirs = classic.open(FILE)) {
      for (int position : new int[] {0, 100, 65_536, 65_535, 149_900}) {
        ours.seek(position);
        // S3A's own moves with the next read.
        assertThat(ours.available()).isEqualTo(150_000 - position);
        theirs.seek(position);
        for (FSDataInputStream in : List.of(ours, theirs)) {
          in.readFully(new byte[36]);
          assertThat(in.available()).isEqualTo(150_000 - position - 36);
        }
      }
      for (int behind : new int[] {150_000, 150_001}) {
        ours.seek(behind);
        assertThat(ours.available()).isZero();
      }
    }
  }

  /** As programs do that take 0 for the end. */
  @Test
  void allLinesAreReadWhileTheReaderIsReady() throws Exception {
    StringBuilder text = new StringBuilder();
    for (int line = 0; line < 20_000; line++) {
      text.append("line ").append(line).append('\n');
    }
    server.put(
        new ObjectRef(S3AServer.BUCKET, "file"), text.toString().getBytes(StandardCharsets.UTF_8));
    try (FileSystem fs = s3e();
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(fs.open(FILE), StandardCharsets.UTF_8))) {
      int read = 0;
      while (lines.ready()) {
        assertThat(lines.readLine()).isEqualTo("line " + read++);
      }
      assertThat(read).isEqualTo(20_000);
    }
  }

  private interface Call {
    Object call(FSDataInputStream in) throws Exception;
  }

  /** The results of calls around the real end of a file whose length was declared too long. */
  private static List<String> outcomes(FileSystem fs) throws Exception {
    List<Call> calls =
        List.of(
            in -> in.read(new byte[DECLARED]),
            in -> in.read(),
            in -> seekAndRead(in, SIZE),
            in -> seekAndRead(in, SIZE + 4),
            in -> seekAndRead(in, DECLARED - 1),
            in -> seekAndRead(in, DECLARED + 3),
            in -> seekAndRead(in, SIZE - 1),
            in -> in.read(SIZE + 2, new byte[4], 0, 4),
            in -> in.read(SIZE - 2, new byte[4], 0, 2),
            in -> fully(in, 0, DECLARED),
            in -> fully(in, SIZE + 2, 3),
            in -> fully(in, 0, SIZE));
    List<String> outcomes = new ArrayList<>();
    for (boolean fresh : new boolean[] {false, true}) {
      FSDataInputStream in = open(fs, DECLARED);
      for (int i = 0; i < calls.size(); i++) {
        if (fresh) {
          in.close();
          in = open(fs, DECLARED);
        }
        String outcome;
        try {
          outcome = String.valueOf(calls.get(i).call(in));
        } catch (IOException e) {
          outcome = e.getClass().getName();
        }
        outcomes.add((fresh ? "fresh stream" : "one stream") + ", call " + i + ": " + outcome);
      }
      in.close();
    }
    return outcomes;
  }

  private static int seekAndRead(FSDataInputStream in, long to) throws IOException {
    in.seek(to);
    return in.read();
  }

  private static int fully(FSDataInputStream in, long from, int length) throws IOException {
    byte[] target = new byte[length];
    in.readFully(from, target);
    return target[0];
  }

  @Test
  void aDeclaredLengthThatIsTooLongEndsAsInS3A() throws Exception {
    List<String> expected;
    try (FileSystem fs = classic()) {
      expected = outcomes(fs);
    }
    try (FileSystem fs = s3e()) {
      assertThat(outcomes(fs)).isEqualTo(expected);
    }
  }

  @Test
  void oneGetTellsWhereTheFileEnds() throws Exception {
    try (FileSystem fs = s3e();
        FSDataInputStream in = open(fs, DECLARED)) {
      byte[] target = new byte[DECLARED];
      assertThat(in.read(0, target, 0, DECLARED)).isEqualTo(SIZE);
      assertThat(target).startsWith(content);
      in.seek(SIZE + 4);
      assertThat(in.read()).isEqualTo(-1);
      assertThat(in.read(0, target, 0, DECLARED)).isEqualTo(SIZE);
    }
    assertThat(server.requests()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void pendingVectoredRangesEndAsInS3A(boolean close) throws Exception {
    put(4 << 20);
    try (FileSystem fs = s3e()) {
      FSDataInputStream in = open(fs, content.length);
      server.always(Fault.stallAfter(10));
      List<FileRange> ranges =
          List.of(FileRange.createFileRange(0, 1000), FileRange.createFileRange(3 << 20, 1000));
      in.readVectored(ranges, ByteBuffer::allocate);
      if (close) {
        in.close();
      } else {
        in.unbuffer();
      }
      for (FileRange range : ranges) {
        assertThatThrownBy(() -> range.getData().get(5, TimeUnit.SECONDS))
            .isInstanceOf(ExecutionException.class)
            .hasCauseInstanceOf(InterruptedIOException.class);
      }
      in.close();
    }
  }

  /** They are read by one GET, and copied by one thread; S3A reads each by a task of its own. */
  @Test
  void codeThatRunsWhenARangeIsThereMayWaitForAnother() throws Exception {
    put(1 << 20);
    CountDownLatch attached = new CountDownLatch(1);
    server.decide(
        request -> {
          awaitLatch(attached);
          return Fault.none();
        });
    try (FileSystem fs = s3e();
        FSDataInputStream in = open(fs, content.length)) {
      FileRange first = FileRange.createFileRange(0, 1000);
      FileRange second = FileRange.createFileRange(64 << 10, 1000);
      in.readVectored(List.of(first, second), ByteBuffer::allocate);
      CompletableFuture<ByteBuffer> both =
          first.getData().thenApply(bytes -> awaited(second.getData()));
      attached.countDown();
      assertThat(both.get(10, TimeUnit.SECONDS))
          .isEqualTo(ByteBuffer.wrap(content, 64 << 10, 1000));
    }
    assertThat(server.gets()).hasSize(1);
  }

  /** Not for good: a test that fails ends. */
  private static <T> T awaited(CompletableFuture<T> future) {
    return future.orTimeout(20, TimeUnit.SECONDS).join();
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Whoever waits for a range with such code hears of the end too. */
  @Test
  void closingFailsRangesWhoseCodeWaitsForOthers() throws Exception {
    put(1 << 20);
    try (FileSystem fs = s3e()) {
      FSDataInputStream in = open(fs, content.length);
      server.always(Fault.stallAfter(10));
      FileRange first = FileRange.createFileRange(0, 1000);
      FileRange second = FileRange.createFileRange(64 << 10, 1000);
      in.readVectored(List.of(first, second), ByteBuffer::allocate);
      CompletableFuture<Throwable> told =
          first
              .getData()
              .handle((bytes, failure) -> awaited(second.getData().handle((none, e) -> e)));
      awaitTrue(() -> !server.gets().isEmpty());
      in.close();
      assertThat(told.get(10, TimeUnit.SECONDS)).isInstanceOf(InterruptedIOException.class);
    }
  }

  /** It needs no engine: without credentials there is none. */
  @Test
  void aVectoredReadOfNoRangesAsksForNothing() throws Exception {
    Credentials.action.set(
        () -> {
          throw new NoAuthWithAWSException("none today");
        });
    try (FileSystem fs = s3e();
        FSDataInputStream in = open(fs, SIZE)) {
      in.readVectored(List.of(), ByteBuffer::allocate);
      assertThat(failureOf(in)).isInstanceOf(AccessDeniedException.class);
    }
    assertThat(server.requests()).isEmpty();
  }

  /** Hadoop 3.4.1 has no readVectored that releases. */
  @Tag("stream-spi")
  @Test
  void aCancelledRangeGivesItsBufferBack() throws Exception {
    put(4 << 20);
    ConcurrentLinkedQueue<ByteBuffer> released = new ConcurrentLinkedQueue<>();
    CountDownLatch allocated = new CountDownLatch(2);
    try (FileSystem fs = s3e();
        FSDataInputStream in = open(fs, content.length)) {
      server.always(Fault.stallAfter(10));
      FileRange cancelled = FileRange.createFileRange(0, 1000);
      FileRange other = FileRange.createFileRange(3 << 20, 2000);
      in.readVectored(
          List.of(cancelled, other),
          length -> {
            allocated.countDown();
            return ByteBuffer.allocate(length);
          },
          released::add);
      assertThat(allocated.await(20, TimeUnit.SECONDS)).isTrue();
      cancelled.getData().cancel(true);
      awaitTrue(() -> released.size() == 1);
      assertThat(released.peek().capacity()).isEqualTo(1000);
      assertThat(other.getData()).isNotDone();
    }
  }

  /** A first read on a thread of its own, in the middle of waiting for credentials. */
  private static final class FirstRead {
    final CompletableFuture<Throwable> failure = new CompletableFuture<>();
    final Thread thread;

    FirstRead(FSDataInputStream in) {
      thread =
          new Thread(
              () -> {
                try {
                  failure.complete(new AssertionError("read " + in.read()));
                } catch (IOException e) {
                  failure.complete(e);
                }
              });
      thread.setDaemon(true);
      thread.start();
    }
  }

  /** Deaf to interrupts, as a provider in native code or a careless one is. */
  private static void slowCredentials() {
    Credentials.action.set(
        () -> {
          long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(8);
          while (System.nanoTime() < end) {
            try {
              Pause.millis(10, "deaf to interrupts");
            } catch (InterruptedException e) {
              // Goes on: see above.
            }
          }
        });
  }

  private static Duration timeOf(Closeable closing) throws IOException {
    long start = System.nanoTime();
    closing.close();
    return Duration.ofNanos(System.nanoTime() - start);
  }

  @Test
  @Slow
  void noCloseWaitsForTheCredentialsOfAFirstRead() throws Exception {
    slowCredentials();
    FileSystem fs = s3e();
    FSDataInputStream first = open(fs, SIZE);
    FSDataInputStream second = open(fs, SIZE);
    FSDataInputStream third = open(fs, SIZE);
    FirstRead byClose = new FirstRead(first);
    FirstRead byInterrupt = new FirstRead(second);
    FirstRead byFileSystem = new FirstRead(third);
    awaitTrue(() -> Credentials.asked.get() > 0);

    assertThat(timeOf(first)).isLessThan(Duration.ofSeconds(3));
    assertThat(byClose.failure.get(3, TimeUnit.SECONDS)).hasMessageContaining("Stream is closed");
    byInterrupt.thread.interrupt();
    assertThat(byInterrupt.failure.get(3, TimeUnit.SECONDS))
        .isInstanceOf(InterruptedIOException.class);
    assertThat(timeOf(fs)).isLessThan(Duration.ofSeconds(4));
    assertThat(byFileSystem.failure.get(3, TimeUnit.SECONDS)).hasMessageContaining("closed");
    assertThat(Credentials.asked).as("one making for all").hasValue(1);
  }

  @Test
  void missingCredentialsAreToldAsByS3AAndAskedForAgain() throws Exception {
    Credentials.action.set(
        () -> {
          throw new NoAuthWithAWSException("none today");
        });
    Throwable expected;
    try (FileSystem fs = classic();
        FSDataInputStream in = open(fs, SIZE)) {
      expected = failureOf(in);
    }
    try (FileSystem fs = s3e();
        FSDataInputStream in = open(fs, SIZE)) {
      AccessDeniedException told = (AccessDeniedException) failureOf(in);
      assertThat(told.getFile()).isEqualTo(((AccessDeniedException) expected).getFile());
      assertThat(told)
          .hasSameClassAs(expected)
          .hasMessageContaining("read of 1 bytes at 0 of " + FILE + " (16 bytes)")
          .hasMessageContaining("none today");
      Credentials.action.set(() -> {});
      assertThat(in.read()).isEqualTo(content[0] & 0xFF);
    }
  }

  private static Throwable failureOf(FSDataInputStream in) {
    try {
      return new AssertionError("read " + in.read());
    } catch (IOException e) {
      return e;
    }
  }
}
