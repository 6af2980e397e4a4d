// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.fallback;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.ClientMemory;
import io.s3e.client.ForwardingClient;
import io.s3e.client.ForwardingHandler;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHandler;
import io.s3e.client.StoreAnswer;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.Pause;
import io.s3e.testing.RecordingHandler;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import io.s3e.testing.Threads;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("waits")
class FallbackClientTest {
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");
  private static final byte[] CONTENT = MemoryObjectClient.bytes(1 << 20, 7);
  private static final Answer UNREACHABLE = Answer.GOOD.failingAfter(-1, Kind.NETWORK);
  private static final Answer WITHOUT_ETAG = Answer.GOOD.failingAfter(-1, Kind.NO_ETAG);
  private static final Answer THROTTLED =
      new Answer(
          1,
          -1,
          RequestFailure.refused("GET", StoreAnswer.of(503, Map.of(), ""), null),
          null,
          0,
          false,
          false);
  private static final Answer UNLINKED =
      new Answer(
          1,
          -1,
          new RequestFailure(
              Kind.OTHER,
              "GET",
              "no such method",
              new IllegalStateException("unusable", new NoSuchMethodError("withX"))),
          null,
          0,
          false,
          false);
  private static final Duration PAUSE = Duration.ofMillis(200);
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private final MemoryObjectClient fast =
      new MemoryObjectClient(new ClientLimits(64 << 10, 16, 0, 256 << 10, 8, 4 << 20));
  private final MemoryObjectClient substitute =
      new MemoryObjectClient(ClientLimits.copying(256 << 10, 24, 0));
  private final AtomicInteger substituted = new AtomicInteger();
  private final AtomicInteger returned = new AtomicInteger();
  private FallbackClient client;

  @BeforeEach
  void open() {
    fast.put(OBJECT, CONTENT, "\"v1\"");
    substitute.put(OBJECT, CONTENT, "\"v1\"");
    client = over(fast);
  }

  @AfterEach
  void close() {
    client.close();
  }

  /** As where a firewall swallows what the CRT sends, and not what the JVM does. */
  @Test
  void aReaderWaitsForTheWayBackAndDoesNotBeginAnew() throws Exception {
    ObjectRef small = new ObjectRef("bucket", "small");
    byte[] bytes = MemoryObjectClient.bytes(60_000, 3);
    fast.put(small, bytes, "\"v1\"");
    substitute.put(small, bytes, "\"v1\"");
    fast.hold();
    FallbackClient silent =
        new FallbackClient(fast, substitute, PAUSE, Duration.ofSeconds(1), listener());
    S3EConfig config = S3EConfig.DEFAULTS.toBuilder().stallTimeout(Duration.ofSeconds(3)).build();
    try (S3E engine = S3E.create(config, new MemoryBudget(16 << 20), memory -> silent);
        S3EInputStream in = engine.open(small, OpenOptions.DEFAULTS.withSize(bytes.length))) {
      assertThat(in.readAllBytes()).isEqualTo(bytes);
      assertThat(engine.gets().latest(null, 10))
          .noneMatch(get -> get.json().contains("\"attempt\":2"));
    }
    assertThat(substituted).hasValue(1);
  }

  /** As where the SDK that it would read by is another version. */
  @Test
  void theFastClientIsClosedWhereTheSubstituteDoesNotLink() {
    AtomicBoolean closed = new AtomicBoolean();
    record Counted(ObjectClient client, AtomicBoolean closed) implements ForwardingClient {
      @Override
      public void close() {
        closed.set(true);
      }
    }
    assertThatThrownBy(
            () ->
                FallbackClient.open(
                    memory -> new Counted(fast, closed),
                    requests -> {
                      throw new NoSuchMethodError("as if");
                    },
                    new ClientMemory(4 << 20, 256 << 10, 64 << 10),
                    listener()))
        .isInstanceOf(NoSuchMethodError.class);
    assertThat(closed).isTrue();
  }

  private FallbackClient over(ObjectClient preferred) {
    return new FallbackClient(preferred, substitute, PAUSE, PATIENCE, listener());
  }

  private FallbackClient.Listener listener() {
    return new FallbackClient.Listener() {
      @Override
      public void onUnmade(Throwable cause) {}

      @Override
      public void onSubstituted(RequestFailure cause) {
        substituted.incrementAndGet();
      }

      @Override
      public void onReturned() {
        returned.incrementAndGet();
      }
    };
  }

  private static GetRequest request(boolean lend) {
    return new GetRequest(
        OBJECT, ByteRange.ofLength(1000, 60_000), "\"v1\"", null, lend, Map.of(), null);
  }

  private static byte[] wanted() {
    return Arrays.copyOfRange(CONTENT, 1000, 61_000);
  }

  private RecordingHandler get(boolean lend) {
    RecordingHandler handler = new RecordingHandler();
    client.get(request(lend), handler);
    return handler;
  }

  private void read() throws Exception {
    RecordingHandler handler = get(false);
    assertThat(handler.awaitDone()).isEqualTo(wanted());
    assertThat(handler.violations()).isEmpty();
  }

  @Test
  void theFastClientReadsAsLongAsItAnswers() throws Exception {
    read();
    assertThat(get(true).awaitDone()).isEqualTo(wanted());
    assertThat(client.name()).isEqualTo(fast.name());
    assertThat(substitute.gets()).isEmpty();
    assertThat(substituted).hasValue(0);
  }

  @Test
  void theSubstituteReadsWhatOnlyItReaches() throws Exception {
    fast.faults((request, number) -> UNREACHABLE);
    read();
    assertThat(fast.gets()).as("three in a row, and one more").hasSize(4);
    assertThat(substitute.gets()).as("the probe, then the request").hasSize(2);
    read();
    assertThat(fast.gets()).as("the fast client is left alone").hasSize(4);
    assertThat(substituted).hasValue(1);
    assertThat(client.state()).isEqualTo(FallbackClient.State.SUBSTITUTE);
    assertThat(get(true).awaitFailure().kind()).isEqualTo(Kind.NOT_LENT);
  }

  @Test
  void whatIsSentAgainIsToldToTheHandler() throws Exception {
    fast.faults((request, number) -> number < 2 ? UNREACHABLE : Answer.GOOD);
    RecordingHandler handler = new RecordingHandler();
    AtomicInteger resent = new AtomicInteger();
    client.get(
        request(false),
        new ForwardingHandler() {
          @Override
          public ResponseHandler handler() {
            return handler;
          }

          @Override
          public void onResent(RequestFailure failure) {
            resent.incrementAndGet();
          }
        });
    assertThat(handler.awaitDone()).isEqualTo(wanted());
    assertThat(resent).hasValue(2);
    assertThat(fast.gets()).hasSize(3);
  }

  @Test
  void anAnswerThatRefusesIsAnAnswer() throws Exception {
    fast.faults((request, number) -> number < 5 ? THROTTLED : UNREACHABLE);
    for (int i = 0; i < 5; i++) {
      assertThat(get(false).awaitFailure().kind()).isEqualTo(Kind.THROTTLED);
    }
    for (int i = 0; i < 10; i++) {
      assertThat(get(false).awaitFailure().kind()).isEqualTo(Kind.NETWORK);
    }
    assertThat(substitute.gets()).isEmpty();
    assertThat(client.state()).isEqualTo(FallbackClient.State.FAST);
  }

  @Test
  void aStoreThatNobodyReachesIsNoReasonToChange() throws Exception {
    fast.faults((request, number) -> number < 3 ? UNREACHABLE : Answer.GOOD);
    RequestFailure refused =
        new RequestFailure(Kind.NETWORK, "GET", "refused, by the substitute", null);
    substitute.faults((request, number) -> new Answer(1, -1, refused, null, 0, false, false));
    RequestFailure failure = get(false).awaitFailure();
    assertThat(failure.kind()).isEqualTo(Kind.NETWORK);
    assertThat(failure).as("the substitute's word").hasMessageContaining("by the substitute");
    assertThat(client.state()).isEqualTo(FallbackClient.State.TRYING);
    read();
    assertThat(client.state()).isEqualTo(FallbackClient.State.FAST);
    assertThat(substituted).hasValue(0);
  }

  @Test
  void theFastClientIsTriedAgainAndReadsWhenItReaches() throws Exception {
    AtomicInteger reachableFrom = new AtomicInteger(Integer.MAX_VALUE);
    fast.faults((request, number) -> number < reachableFrom.get() ? UNREACHABLE : Answer.GOOD);
    read();
    Pause.of(PAUSE.plusMillis(10), "before the fast client is tried again");
    read();
    assertThat(fast.gets()).as("one retrial").hasSize(5);
    assertThat(returned).hasValue(0);
    reachableFrom.set(5);
    awaitTrue(
        "the fast client reads",
        () -> {
          read();
          return returned.get() > 0;
        });
    read();
    assertThat(client.state()).isEqualTo(FallbackClient.State.FAST);
    assertThat(returned).hasValue(1);
    assertThat(get(true).awaitDone()).as("lent again").isEqualTo(wanted());
  }

  @Test
  void whatTheFastClientDoesNotReadForItsLackOfAnEtagTheSubstituteReads() throws Exception {
    fast.faults((request, number) -> WITHOUT_ETAG);
    RecordingHandler handler = get(false);
    assertThat(handler.awaitDone()).isEqualTo(wanted());
    assertThat(handler.violations()).isEmpty();
    read();
    assertThat(fast.gets()).as("it is asked once").hasSize(1);
    assertThat(substitute.gets()).as("no probe").hasSize(2);
    assertThat(substituted).hasValue(1);
    assertThat(client.state()).isEqualTo(FallbackClient.State.SUBSTITUTE);
  }

  @Test
  void anAnswerWithoutAnEtagLeavesAFastClientThatHasAnswered() throws Exception {
    read();
    fast.faults((request, number) -> WITHOUT_ETAG);
    read();
    assertThat(client.state()).isEqualTo(FallbackClient.State.SUBSTITUTE);
    assertThat(substituted).hasValue(1);
    fast.faults((request, number) -> Answer.GOOD);
    awaitTrue(
        "a retrial is answered",
        () -> {
          read();
          return returned.get() > 0;
        });
    read();
    assertThat(client.state()).isEqualTo(FallbackClient.State.FAST);
  }

  /** Else each object without an ETag would be asked for twice, and told of. */
  @Test
  void whatItStillAnswersDoesNotBringBackAClientThatWasLeftForWhatItDoesNotRead() throws Exception {
    read();
    fast.faults((request, number) -> number == 1 ? Answer.GOOD.after(100) : WITHOUT_ETAG);
    RecordingHandler underWay = get(false);
    awaitTrue("it is sent", () -> fast.gets().size() == 2);
    read();
    assertThat(client.state()).isEqualTo(FallbackClient.State.SUBSTITUTE);
    assertThat(underWay.awaitDone()).isEqualTo(wanted());
    assertThat(client.state()).isEqualTo(FallbackClient.State.SUBSTITUTE);
    assertThat(returned).hasValue(0);
  }

  @Test
  void aLentAnswerWithoutAnEtagIsAskedForCopied() throws Exception {
    read();
    fast.faults((request, number) -> WITHOUT_ETAG);
    assertThat(get(true).awaitFailure().kind()).isEqualTo(Kind.NOT_LENT);
    read();
    assertThat(substituted).hasValue(1);
  }

  @Test
  void aCancelReachesTheSubstitute() throws Exception {
    Silent silent = new Silent();
    FallbackClient over = new FallbackClient(fast, silent, PAUSE, PATIENCE, new Unheard());
    RecordingHandler first = new RecordingHandler();
    over.get(request(false), first);
    assertThat(first.awaitDone()).isEqualTo(wanted());
    fast.faults((request, number) -> WITHOUT_ETAG);
    RecordingHandler handler = new RecordingHandler();
    ObjectClient.Exchange exchange = over.get(request(false), handler);
    assertThat(silent.asked.await(20, TimeUnit.SECONDS)).isTrue();
    awaitTrue(
        "the cancel reaches the GET that the substitute was just given",
        () -> {
          exchange.cancel();
          return handler.hasEnded();
        });
    assertThat(handler.awaitFailure().kind()).isEqualTo(Kind.CANCELLED);
    assertThat(handler.violations()).isEmpty();
  }

  /** Objects with an ETag and without, by many threads: each GET is answered once. */
  @Test
  void aStoreThatNamesSomeEtags() throws Exception {
    long seed = Seed.draw();
    SplittableRandom random = new SplittableRandom(seed);
    int share = 1 + random.nextInt(7);
    fast.faults((request, number) -> number % 8 < share ? WITHOUT_ETAG : Answer.GOOD);
    Threads.run(
        16,
        seed,
        (thread, unused) -> {
          for (int i = 0; i < 50; i++) {
            RecordingHandler handler = get(false);
            assertThat(handler.awaitDone()).isEqualTo(wanted());
            assertThat(handler.violations()).isEmpty();
          }
        });
  }

  @Test
  void aLibraryThatDoesNotLinkIsLeftAtOnce() throws Exception {
    fast.faults((request, number) -> UNLINKED);
    read();
    assertThat(fast.gets()).hasSize(1);
    assertThat(substituted).hasValue(1);
  }

  private record Unlinked(ObjectClient client) implements ForwardingClient {
    @Override
    public Exchange get(GetRequest request, ResponseHandler handler) {
      throw new NoClassDefFoundError("away");
    }
  }

  @Test
  void aClientThatThrowsAnErrorIsLeftAtOnce() throws Exception {
    client = over(new Unlinked(fast));
    read();
    assertThat(substituted).hasValue(1);
  }

  /** What reports a refusal is looked for when the store refuses for the first time. */
  @Test
  void aLibraryThatLacksWhatAFailureTakesIsLeftAfterItHasRead() throws Exception {
    read();
    assertThat(client.state()).isEqualTo(FallbackClient.State.FAST);
    fast.faults((request, number) -> UNLINKED);
    read();
    assertThat(substituted).hasValue(1);
    assertThat(client.state()).isEqualTo(FallbackClient.State.SUBSTITUTE);
  }

  @Test
  void aCancelledRequestEndsOnce() throws Exception {
    fast.hold();
    RecordingHandler handler = new RecordingHandler();
    ObjectClient.Exchange exchange = client.get(request(false), handler);
    exchange.cancel();
    exchange.cancel();
    assertThat(handler.awaitFailure().kind()).isEqualTo(Kind.CANCELLED);
    fast.open();
    read();
    assertThat(handler.violations()).isEmpty();
    assertThat(substitute.gets()).isEmpty();
  }

  /** The substitute may take minutes to find out that it does not reach the store either. */
  @Test
  void aCancelReachesTheProbe() throws Exception {
    fast.faults((request, number) -> UNREACHABLE);
    Silent silent = new Silent();
    FallbackClient over = new FallbackClient(fast, silent, PAUSE, PATIENCE, new Unheard());
    RecordingHandler handler = new RecordingHandler();
    ObjectClient.Exchange exchange = over.get(request(false), handler);
    assertThat(silent.asked.await(20, TimeUnit.SECONDS)).isTrue();
    exchange.cancel();
    assertThat(handler.awaitFailure().kind()).isEqualTo(Kind.CANCELLED);
    assertThat(handler.violations()).isEmpty();
    assertThat(over.state()).isEqualTo(FallbackClient.State.TRYING);
  }

  /** Answers no GET before it is cancelled. */
  private static final class Silent implements ObjectClient {
    final CountDownLatch asked = new CountDownLatch(1);

    @Override
    public String name() {
      return "silent";
    }

    @Override
    public ClientLimits limits() {
      return ClientLimits.copying(256 << 10, 24, 0);
    }

    @Override
    public ObjectHead head(HeadRequest request) throws RequestFailure {
      throw new RequestFailure(Kind.NETWORK, "HEAD", "silent", null);
    }

    @Override
    public Exchange get(GetRequest request, ResponseHandler handler) {
      AtomicBoolean ended = new AtomicBoolean();
      asked.countDown();
      return () -> {
        if (ended.compareAndSet(false, true)) {
          handler.onFailure(new RequestFailure(Kind.CANCELLED, "GET", "cancelled", null));
        }
      };
    }

    @Override
    public void close() {}
  }

  private static final class Unheard implements FallbackClient.Listener {
    @Override
    public void onUnmade(Throwable cause) {}

    @Override
    public void onSubstituted(RequestFailure cause) {}

    @Override
    public void onReturned() {}
  }

  /** A handshake that takes the fast client half a minute, and the substitute no time. */
  @Test
  @Slow
  void aClientThatStaysSilentIsLeftAfterThreeConnections() throws Exception {
    fast.hold();
    long started = System.nanoTime();
    read();
    Duration took = Duration.ofNanos(System.nanoTime() - started);
    assertThat(took).isGreaterThanOrEqualTo(PATIENCE.multipliedBy(3));
    assertThat(fast.gets()).hasSize(3);
    assertThat(client.state()).isEqualTo(FallbackClient.State.SUBSTITUTE);
    fast.open();
  }

  @Test
  void headsFollow() throws Exception {
    HeadRequest head = new HeadRequest(OBJECT, null, Map.of(), null);
    assertThat(client.head(head).size()).isEqualTo(CONTENT.length);
    client = over(fast);
    fast.faults((request, number) -> UNREACHABLE);
    read();
    assertThat(client.head(head).size()).isEqualTo(CONTENT.length);
    assertThat(fast.heads()).isEqualTo(1);
    assertThat(substitute.heads()).isEqualTo(1);
    assertThatThrownBy(
            () -> client.head(new HeadRequest(new ObjectRef("b", "none"), null, Map.of(), null)))
        .isInstanceOf(RequestFailure.class);
  }

  /** Every first request of many threads is answered once, by whichever client. */
  @Test
  void manyFirstRequestsAtOnce() throws Exception {
    long seed = Seed.draw();
    for (int round = 0; round < 20; round++) {
      client = over(fast);
      SplittableRandom random = new SplittableRandom(seed + round);
      int reachable = random.nextInt(8);
      fast.faults((request, number) -> number % 8 < reachable ? Answer.GOOD : UNREACHABLE);
      Threads.run(
          16,
          seed,
          (thread, unused) -> {
            RecordingHandler handler = get(false);
            RequestFailure failure = handler.awaitEnd();
            if (failure == null) {
              assertThat(handler.bytes()).isEqualTo(wanted());
            } else {
              assertThat(failure.kind()).isEqualTo(Kind.NETWORK);
            }
            assertThat(handler.violations()).isEmpty();
          });
    }
  }

  /** One connection in ten fails: no start of a hundred is misled (expected: one in 10,000). */
  @Test
  void failingConnectionsDoNotChangeClients() throws Exception {
    SplittableRandom random = new SplittableRandom(20261122);
    fast.faults((request, number) -> random.nextInt(10) == 0 ? UNREACHABLE : Answer.GOOD);
    for (int start = 0; start < 100; start++) {
      client = over(fast);
      for (int i = 0; i < 5; i++) {
        RequestFailure failure = get(false).awaitEnd();
        assertThat(failure == null || failure.kind() == Kind.NETWORK).isTrue();
      }
    }
    assertThat(substituted).hasValue(0);
  }
}
