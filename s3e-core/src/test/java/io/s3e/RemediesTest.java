// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.ForwardingClient;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.Remedy;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Effort.End;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHandler;
import io.s3e.client.StoreAnswer;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Slow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** HEADs are sent again as GETs are, and clients are asked for what a refusal needs first. */
@Timeout(60)
class RemediesTest {
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");
  private static final int SIZE = 3 << 20;

  private static final OpenOptions WITHOUT_GUESSES =
      OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM);

  private final Failing client = new Failing(new MemoryObjectClient(limits()));
  private final MemoryBudget budget = new MemoryBudget(16L << 20);
  private final byte[] content = MemoryObjectClient.bytes(SIZE, 3);
  private final S3E engine =
      S3E.create(
          S3EConfig.DEFAULTS.toBuilder()
              .retryBase(Duration.ofMillis(20))
              .readTimeout(Duration.ofSeconds(1))
              .build(),
          budget,
          granted -> client);

  private static ClientLimits limits() {
    return ClientLimits.copying(1 << 20, 8, 0);
  }

  @AfterEach
  void close() {
    engine.close();
    assertThat(budget.reserved()).isZero();
  }

  private static RequestFailure refusal(int status, String code) {
    return RequestFailure.refused(
        "GET s3://bucket/key", new StoreAnswer(status, code, null, Map.of(), null), null);
  }

  private static RequestFailure failure(Kind kind) {
    return new RequestFailure(kind, "GET s3://bucket/key", "scripted " + kind, null);
  }

  private void assertReadable() throws IOException {
    try (S3EInputStream in = engine.open(OBJECT)) {
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Kind.class,
      names = {"THROTTLED", "SERVER", "NETWORK", "TLS"})
  void aHeadIsSentAgain(Kind kind) throws Exception {
    client.put(content);
    client.heads.add(failure(kind));
    assertReadable();
    assertThat(client.headsSent).hasValue(2);
  }

  @Test
  void aHeadIsSentAgainAndAgain() throws Exception {
    client.put(content);
    client.heads.addAll(
        List.of(failure(Kind.SERVER), failure(Kind.NETWORK), failure(Kind.THROTTLED)));
    assertReadable();
    assertThat(client.headsSent).hasValue(4);
  }

  @Test
  void aHeadThatFoundNothingIsNot() {
    assertThatThrownBy(() -> engine.open(OBJECT)).isInstanceOf(FileNotFoundException.class);
    assertThat(client.headsSent).hasValue(1);
  }

  @Test
  void aClientThatThrowsFailsTheOpening() {
    client.broken = new IllegalStateException("no connections");
    assertThatThrownBy(() -> engine.open(OBJECT))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no connections");
  }

  @Slow
  @Test
  void aHeadThatFailsToTheEndTellsOfItsAttempts() {
    client.heads.addAll(Collections.nCopies(1000, failure(Kind.SERVER)));
    assertThatThrownBy(() -> engine.open(OBJECT))
        .hasMessageContaining("attempts")
        .satisfies(
            thrown -> {
              RequestFailure last = (RequestFailure) thrown.getCause();
              assertThat(last.kind()).isEqualTo(Kind.SERVER);
              assertThat(last.effort().end()).isEqualTo(End.DEADLINE);
              assertThat(last.effort().attempts()).isBetween(3, 20);
            });
  }

  @ParameterizedTest
  @CsvSource({
    "400, ExpiredToken, CREDENTIALS",
    "403, InvalidAccessKeyId, CREDENTIALS",
    "403, RequestTimeTooSkewed, CLOCK",
  })
  void aClientIsAskedForTheRemedyOnce(int status, String code, Remedy remedy) throws Exception {
    client.put(content);
    client.heads.add(refusal(status, code));
    client.gets.add(refusal(status, code));
    assertReadable();
    // One for the HEAD, one for the GET.
    assertThat(client.remedies).containsExactly(remedy, remedy);
    assertThat(client.answers).allMatch(answer -> code.equals(answer.code()));
  }

  @Test
  void aRemedyThatDoesNotHelpEndsTheRead() throws Exception {
    client.put(content);
    try (S3EInputStream in = engine.open(OBJECT, WITHOUT_GUESSES)) {
      RequestFailure expired = refusal(400, "ExpiredToken");
      client.gets.addAll(List.of(expired, expired));
      assertThatThrownBy(in::read).hasMessageContaining("ExpiredToken");
      assertThat(client.remedies).containsExactly(Remedy.CREDENTIALS);
      assertThat(client.gets).isEmpty();
    }
  }

  @Test
  void aRemedyThatThrowsEndsTheOpeningWithWhatTheStoreSaid() {
    client.put(content);
    client.heads.add(refusal(400, "ExpiredToken"));
    client.brokenRemedy = new IllegalStateException("no provider");
    assertThatThrownBy(() -> engine.open(OBJECT))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("ExpiredToken")
        .satisfies(
            thrown ->
                assertThat(thrown.getCause().getSuppressed()).containsExactly(client.brokenRemedy));
    assertThat(client.headsSent).hasValue(1);
  }

  @Test
  void aStoreThatCannotDoItIsAskedOnce() throws Exception {
    client.put(content);
    try (S3EInputStream in = engine.open(OBJECT, WITHOUT_GUESSES)) {
      client.gets.addAll(List.of(refusal(501, "NotImplemented"), failure(Kind.FORBIDDEN)));
      assertThatThrownBy(in::read).hasMessageContaining("501 NotImplemented");
      assertThat(client.gets).hasSize(1);
    }
  }

  /** Fails what the script says, and then does as the client behind. */
  private static final class Failing implements ForwardingClient {
    final Queue<RequestFailure> heads = new ConcurrentLinkedQueue<>();
    final Queue<RequestFailure> gets = new ConcurrentLinkedQueue<>();
    final AtomicInteger headsSent = new AtomicInteger();
    final List<Remedy> remedies = new CopyOnWriteArrayList<>();
    final List<StoreAnswer> answers = new CopyOnWriteArrayList<>();
    private final MemoryObjectClient behind;
    volatile RuntimeException broken;
    volatile RuntimeException brokenRemedy;

    Failing(MemoryObjectClient behind) {
      this.behind = behind;
    }

    void put(byte[] content) {
      behind.put(OBJECT, content, "\"v1\"");
    }

    @Override
    public ObjectClient client() {
      return behind;
    }

    @Override
    public ObjectHead head(HeadRequest request) throws IOException {
      headsSent.incrementAndGet();
      RequestFailure failure = heads.poll();
      if (failure != null) {
        throw failure;
      }
      if (broken != null) {
        throw broken;
      }
      return behind.head(request);
    }

    @Override
    public Exchange get(GetRequest request, ResponseHandler handler) {
      RequestFailure failure = gets.poll();
      if (failure == null) {
        return behind.get(request, handler);
      }
      handler.onSent();
      handler.onFailure(failure);
      return () -> {};
    }

    /** Takes its time, on another thread. */
    @Override
    public void remedy(Remedy remedy, StoreAnswer answer, Runnable then) {
      remedies.add(remedy);
      answers.add(answer);
      if (brokenRemedy != null) {
        throw brokenRemedy;
      }
      new Thread(then).start();
    }
  }
}
