// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.stream.EngineFixture.BLOCK;
import static io.s3e.stream.EngineFixture.ETAG;
import static io.s3e.stream.EngineFixture.OBJECT;
import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.OpenOptions;
import io.s3e.block.ByteRange;
import io.s3e.client.GetRequest;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHead;
import io.s3e.fetch.GetRecord;
import io.s3e.fetch.ObjectChangedException;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.Pause;
import io.s3e.testing.Slow;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What a reader sees when GETs go wrong: the right bytes, or an error that says what happened. */
@Timeout(60)
@Tag("waits")
class ReadFaultsTest {
  private static final OpenOptions RANDOM = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM);

  @RegisterExtension
  final EngineFixture s3e =
      EngineFixture.copying(
          config ->
              config.stallTimeout(Duration.ofMillis(300)).readTimeout(Duration.ofSeconds(20)));

  @RegisterExtension
  final EngineFixture impatient =
      EngineFixture.copying(config -> config.readTimeout(Duration.ofMillis(200)));

  @RegisterExtension
  final EngineFixture patient =
      EngineFixture.copying(config -> config.readTimeout(Duration.ofSeconds(2)));

  @RegisterExtension final EngineFixture lending = EngineFixture.lending();

  /** Fails the first GET in every eight blocks, in the middle of its body. */
  private static Answer onceEach(Set<Long> seen, GetRequest request, RequestFailure.Kind kind) {
    boolean first;
    synchronized (seen) {
      first = seen.add(request.range().start() / EngineFixture.REQUEST);
    }
    int half = (int) request.range().length() / 2;
    return first ? Answer.GOOD.failingAfter(half, kind) : Answer.GOOD;
  }

  @ParameterizedTest
  @EnumSource(
      value = RequestFailure.Kind.class,
      names = {"THROTTLED", "SERVER", "NETWORK"})
  void aScanSurvivesFailuresInEveryBody(RequestFailure.Kind kind) throws Exception {
    for (EngineFixture engine : new EngineFixture[] {s3e, lending}) {
      byte[] content = engine.put(150);
      Set<Long> seen = new HashSet<>();
      engine.client.faults((request, number) -> onceEach(seen, request, kind));

      try (S3EInputStream in = engine.open()) {
        assertThat(in.readAllBytes()).isEqualTo(content);
      }
    }
  }

  @Test
  void aRetryContinuesWhereTheBodyBroke() throws Exception {
    byte[] content = s3e.put(4);
    int broken = BLOCK + 1000;
    s3e.client.faults(
        (request, number) ->
            number == 0
                ? Answer.GOOD.failingAfter(broken, RequestFailure.Kind.NETWORK)
                : Answer.GOOD);

    try (S3EInputStream in = s3e.open(RANDOM)) {
      byte[] target = new byte[4 * BLOCK];
      in.readFullyAt(0, target, 0, target.length);
      assertThat(target).isEqualTo(content);
    }

    assertThat(s3e.client.gets().get(1).range()).isEqualTo(new ByteRange(broken, 4L * BLOCK));
    assertThat(s3e.engine.metrics().get(Counter.FETCHED_BYTES)).isEqualTo(4L * BLOCK);
    List<GetRecord> records = s3e.engine.gets().latest(OBJECT, 3);
    awaitTrue("both have ended", () -> records.stream().allMatch(GetRecord::hasEnded));
    assertThat(records)
        .extracting(GetRecord::used)
        .containsExactly(4L * BLOCK - broken, (long) broken);
    assertThat(records.get(1).toString())
        .contains("GET [0, " + 4 * BLOCK + ") of s3://bucket/key for DEMAND: FAILED after ")
        .contains(broken + " bytes came, " + broken + " used, 0 wasted; ");
  }

  @Test
  void aWellFormedButShortBodyIsNotTheEndOfTheObject() throws Exception {
    byte[] content = s3e.put(20);
    s3e.client.faults(
        (request, number) -> number % 2 == 0 ? Answer.GOOD.shortAfter(777) : Answer.GOOD);

    try (S3EInputStream in = s3e.open()) {
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
    ByteRange first = s3e.client.gets().get(0).range();
    assertThat(s3e.client.gets())
        .as("nothing is kept of it")
        .filteredOn(get -> get.range().equals(first))
        .hasSizeGreaterThan(1);
  }

  @Test
  void aFailedPrefetchIsNobodysError() throws Exception {
    byte[] content = s3e.put(120);
    s3e.client.faults(
        (request, number) ->
            number > 0 && number < 40
                ? Answer.GOOD.failingAfter(-1, RequestFailure.Kind.FORBIDDEN)
                : Answer.GOOD);

    try (S3EInputStream in = s3e.open(OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL))) {
      assertThat(in.readNBytes(BLOCK)).isEqualTo(Arrays.copyOf(content, BLOCK));
      awaitTrue("a second GET", () -> s3e.client.gets().size() >= 2);
      s3e.client.faults((request, number) -> Answer.GOOD);
      assertThat(in.readAllBytes()).isEqualTo(Arrays.copyOfRange(content, BLOCK, content.length));
    }
  }

  @Test
  void aReaderThatJoinsAFailingPrefetchAsksForItself() throws Exception {
    byte[] content = s3e.put(40);
    s3e.client.faults(
        (request, number) ->
            number > 0
                ? Answer.GOOD.after(100).failingAfter(10, RequestFailure.Kind.FORBIDDEN)
                : Answer.GOOD);

    try (S3EInputStream in = s3e.open(OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL))) {
      in.readNBytes(BLOCK);
      awaitTrue("a second GET", () -> s3e.client.gets().size() >= 2);
      s3e.client.faults((request, number) -> Answer.GOOD);
      assertThat(in.readAllBytes()).isEqualTo(Arrays.copyOfRange(content, BLOCK, content.length));
    }
  }

  @Slow
  @Test
  void aStalledBodyIsGivenUpAndFetchedAgain() throws Exception {
    byte[] content = s3e.put(30);
    s3e.client.faults(
        (request, number) -> number % 3 == 0 ? Answer.GOOD.silentAfter(BLOCK / 2) : Answer.GOOD);

    try (S3EInputStream in = s3e.open()) {
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
    assertThat(s3e.engine.metrics().get(Counter.RETRIES)).isPositive();
  }

  @Test
  void aClientThatCallsAfterItsCancelWritesNothing() throws Exception {
    byte[] content = s3e.put(100);
    Random random = new Random(11);
    s3e.client.faults(
        (request, number) ->
            number % 2 == 0 ? Answer.GOOD.inChunksOf(5000).after(1).deaf() : Answer.GOOD);

    for (int round = 0; round < 20; round++) {
      try (S3EInputStream in = s3e.open(OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL))) {
        int at = random.nextInt(content.length - BLOCK);
        in.seek(at);
        assertThat(in.readNBytes(1000)).isEqualTo(Arrays.copyOfRange(content, at, at + 1000));
      }
    }
  }

  static Stream<Arguments> wrongHeads() {
    Function<GetRequest, String> right =
        request ->
            "bytes " + request.range().start() + "-" + (request.range().end() - 1) + "/6553600";
    return Stream.of(
        Arguments.of("200 for 206", head(200, right, ETAG)),
        Arguments.of("no range", head(206, request -> null, ETAG)),
        Arguments.of("nonsense", head(206, request -> "bytes */100", ETAG)),
        Arguments.of("unknown total", head(206, request -> "bytes 0-65535/*", ETAG)),
        Arguments.of("another start", head(206, request -> "bytes 1-65536/6553600", ETAG)),
        Arguments.of("past the end", head(206, request -> "bytes 0-99999999/6553600000", ETAG)));
  }

  private static Function<GetRequest, ResponseHead> head(
      int status, Function<GetRequest, String> range, String etag) {
    return request ->
        new ResponseHead(status, range.apply(request), request.range().length(), etag, null, null);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("wrongHeads")
  void anAnswerToAnotherQuestionIsNeverData(String what, Function<GetRequest, ResponseHead> head)
      throws Exception {
    byte[] content = s3e.put(100);
    s3e.client.faults(
        (request, number) -> number == 0 ? Answer.GOOD.withHead(head.apply(request)) : Answer.GOOD);

    try (S3EInputStream in = s3e.open(RANDOM)) {
      assertThat(in.readNBytes(BLOCK)).isEqualTo(Arrays.copyOf(content, BLOCK));
    }
    assertThat(s3e.client.gets()).as("asked again").hasSize(2);

    impatient.put(100);
    impatient.client.faults((request, number) -> Answer.GOOD.withHead(head.apply(request)));
    try (S3EInputStream in = impatient.open(RANDOM)) {
      in.seek(50L * BLOCK);
      assertThatThrownBy(in::read)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("s3://bucket/key")
          .hasMessageContaining("offset " + 50L * BLOCK);
    }
  }

  @Test
  void anotherVersionIsAnErrorAtOnce() throws Exception {
    s3e.put(100);
    try (S3EInputStream in = s3e.open(RANDOM)) {
      in.read();
      s3e.client.put(OBJECT, new byte[100 * BLOCK], "\"v2\"");
      int gets = s3e.client.gets().size();

      in.seek(50L * BLOCK);
      assertThatThrownBy(in::read)
          .isInstanceOf(ObjectChangedException.class)
          .hasMessageContaining("s3://bucket/key");
      assertThat(s3e.client.gets()).as("not retried").hasSize(gets + 1);
    }
  }

  @Test
  void aStoreThatIgnoresIfMatchIsFoundOutByTheEtag() throws Exception {
    s3e.put(100);
    OpenOptions unknownVersion = RANDOM.withSize(100L * BLOCK);
    try (S3EInputStream in = s3e.open(unknownVersion)) {
      in.read();
      assertThat(in.etag()).isEqualTo(ETAG);
      s3e.client.faults(
          (request, number) ->
              Answer.GOOD.withHead(
                  new ResponseHead(
                      206,
                      "bytes "
                          + request.range().start()
                          + "-"
                          + (request.range().end() - 1)
                          + "/"
                          + 100 * BLOCK,
                      request.range().length(),
                      "\"v2\"",
                      null,
                      null)));

      in.seek(50L * BLOCK);
      assertThatThrownBy(in::read).isInstanceOf(ObjectChangedException.class);
    }
  }

  @Test
  void aLengthThatIsTooLongEndsWhereTheObjectEnds() throws Exception {
    byte[] content = s3e.putBytes(5 * BLOCK + 100);
    for (long claimed : new long[] {content.length + 50L, content.length + 10L * BLOCK}) {
      try (S3EInputStream in = s3e.open(OpenOptions.DEFAULTS.withSize(claimed))) {
        assertThat(in.readAllBytes()).isEqualTo(content);
        assertThat(in.read()).isEqualTo(-1);
        assertThat(in.size()).isEqualTo(content.length);
        assertThatThrownBy(() -> in.readFullyAt(content.length - 5, new byte[10], 0, 10))
            .isInstanceOf(EOFException.class);
      }
      try (S3EInputStream in = s3e.open(RANDOM.withSize(claimed))) {
        assertThat(in.readAt(content.length + 20, new byte[10], 0, 10)).isEqualTo(-1);
      }
    }
  }

  @Test
  void aLengthThatIsTooShortEndsThere() throws Exception {
    byte[] content = s3e.putBytes(5 * BLOCK + 100);
    try (S3EInputStream in = s3e.open(OpenOptions.DEFAULTS.withSize(BLOCK + 1))) {
      assertThat(in.readAllBytes()).isEqualTo(Arrays.copyOf(content, BLOCK + 1));
    }
  }

  @Test
  void anEncodingIsAcceptedIfTheObjectIsStoredWithIt() throws Exception {
    byte[] content = s3e.put(10);
    s3e.client.faults((request, number) -> s3e.encoded(request, "gzip"));

    try (S3EInputStream in = s3e.open()) {
      assertThatThrownBy(in::read)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("Content-Encoding");
    }
    s3e.client.storedEncoding("gzip");
    try (S3EInputStream in = s3e.open()) {
      int heads = s3e.client.heads();
      List<ByteRange> ranges =
          List.of(
              new ByteRange(0, 5),
              ByteRange.ofLength(9L * BLOCK, 5),
              ByteRange.ofLength(4L * BLOCK, 5));
      for (CompletableFuture<ByteBuffer> each :
          in.readVectored(ranges, ByteBuffer::allocate, buffer -> {})) {
        assertThat(each.get(20, TimeUnit.SECONDS).remaining()).isEqualTo(5);
      }
      assertThat(in.readAllBytes()).isEqualTo(content);
      assertThat(s3e.client.heads()).as("HEADs of a stream").isEqualTo(heads + 1);
    }
  }

  @Test
  void oneAnswerWithAForeignEncodingIsAskedForAgain() throws Exception {
    byte[] content = s3e.put(10);
    s3e.client.faults(
        (request, number) ->
            number % 3 == 1 ? s3e.encoded(request, number == 1 ? "gzip" : "br") : Answer.GOOD);
    try (S3EInputStream in = s3e.open(RANDOM)) {
      int heads = s3e.client.heads();
      for (int at = 0; at < content.length; at += BLOCK) {
        byte[] read = new byte[BLOCK];
        in.readFullyAt(at, read, 0, BLOCK);
        assertThat(read).isEqualTo(Arrays.copyOfRange(content, at, at + BLOCK));
      }
      assertThat(s3e.client.heads()).as("HEADs of a stream").isEqualTo(heads + 1);
    }
  }

  @Test
  void aReadHasADeadline() throws Exception {
    impatient.put(2);
    impatient.client.faults((request, number) -> Answer.GOOD.silentAfter(10));
    try (S3EInputStream in = impatient.open(RANDOM)) {
      assertThatThrownBy(in::read)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("deadline")
          .hasMessageContaining("s3://bucket/key");
    }
  }

  /** Of which the GETs have taken a part before a HEAD has to tell the encoding. */
  @Test
  void aReadThatNeedsAHeadHasOneDeadline() throws Exception {
    patient.put(2);
    patient.client.faults((request, number) -> patient.encoded(request, "gzip"));
    patient.client.hold();
    try (S3EInputStream in = patient.open(RANDOM)) {
      int heads = patient.client.heads();
      patient.client.headsFail(
          new RequestFailure(RequestFailure.Kind.SERVER, "HEAD", "injected", null));
      long from = System.nanoTime();
      CompletableFuture<Throwable> seen = CompletableFuture.supplyAsync(() -> failure(in));
      Pause.millis(1_500, "the store answers after most of the time that a read may take");
      patient.client.open();

      assertThat(seen.get(20, TimeUnit.SECONDS)).hasMessageContaining("injected");

      Duration took = Duration.ofNanos(System.nanoTime() - from);
      assertThat(patient.client.heads()).isGreaterThan(heads);
      assertThat(took).isBetween(Duration.ofMillis(1_900), Duration.ofMillis(3_000));
    }
  }

  private static Throwable failure(S3EInputStream in) {
    try {
      return new AssertionError("read " + in.read());
    } catch (IOException e) {
      return e;
    }
  }

  @Test
  void anInterruptEndsAWait() throws Exception {
    s3e.put(2);
    s3e.client.hold();
    try (S3EInputStream in = s3e.open(RANDOM)) {
      AtomicReference<Throwable> seen = new AtomicReference<>();
      Thread reader =
          new Thread(
              () -> {
                try {
                  in.read();
                } catch (IOException e) {
                  seen.set(e);
                }
              });
      reader.start();
      awaitTrue("a GET", () -> !s3e.client.gets().isEmpty());
      reader.interrupt();
      reader.join(10_000);
      assertThat(seen.get()).isInstanceOf(InterruptedIOException.class);
    }
    s3e.client.open();
  }

  @Test
  void closingFailsAReadThatWaits() throws Exception {
    s3e.put(2);
    s3e.client.hold();
    S3EInputStream in = s3e.open(RANDOM);
    CompletableFuture<Throwable> seen = new CompletableFuture<>();
    Thread reader =
        new Thread(
            () -> {
              try {
                seen.complete(new AssertionError("read " + in.read()));
              } catch (IOException e) {
                seen.complete(e);
              }
            });
    reader.start();
    awaitTrue("a GET", () -> !s3e.client.gets().isEmpty());

    in.close();
    in.close();

    assertThat(seen.get(10, TimeUnit.SECONDS))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("Stream is closed");
    assertThatThrownBy(in::read).hasMessageContaining("Stream is closed");
    assertThatThrownBy(() -> in.seek(0)).hasMessageContaining("Stream is closed");
    s3e.client.open();
  }

  @Test
  void closingTheEngineFailsAReadThatWaits() throws Exception {
    s3e.put(2);
    s3e.client.hold();
    S3EInputStream in = s3e.open(RANDOM);
    CompletableFuture<Throwable> seen = new CompletableFuture<>();
    new Thread(
            () -> {
              try {
                seen.complete(new AssertionError("read " + in.read()));
              } catch (IOException e) {
                seen.complete(e);
              }
            })
        .start();
    awaitTrue("a GET", () -> !s3e.client.gets().isEmpty());

    s3e.engine.close();

    assertThat(seen.get(10, TimeUnit.SECONDS)).hasMessageContaining("closed");
    assertThatThrownBy(() -> s3e.open()).hasMessageContaining("closed");
  }
}
