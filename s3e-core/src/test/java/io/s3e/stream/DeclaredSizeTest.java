// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.stream.EngineFixture.BLOCK;
import static io.s3e.stream.EngineFixture.ETAG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ForwardingClient;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHead;
import io.s3e.fetch.ObjectChangedException;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.metrics.StreamListener;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.MemoryObjectClient.Answer;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A length that the opener declares may be wrong; an answer may not shorten any other stream. */
@Timeout(60)
class DeclaredSizeTest {
  private static final OpenOptions RANDOM = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM);

  @RegisterExtension final EngineFixture copying = EngineFixture.copying();
  @RegisterExtension final EngineFixture lending = EngineFixture.lending();

  private List<EngineFixture> engines() {
    return List.of(copying, lending);
  }

  private static byte[] readAt(S3EInputStream in, long at, int length) throws IOException {
    byte[] target = new byte[length];
    int count = in.readAt(at, target, 0, length);
    return count < 0 ? null : Arrays.copyOf(target, count);
  }

  @ParameterizedTest
  @ValueSource(ints = {16, BLOCK, BLOCK + 1, 3 * BLOCK, 5 * BLOCK + 100})
  void oneGetIsEnoughWhereTheObjectEndsInItsRange(int size) throws Exception {
    for (EngineFixture s3e : engines()) {
      byte[] content = s3e.putBytes(size);
      for (long tooMuch : new long[] {10, BLOCK, 2 * BLOCK + 10}) {
        int before = s3e.client.gets().size();
        try (S3EInputStream in = s3e.open(RANDOM.withSize(size + tooMuch))) {
          assertThat(readAt(in, 0, size + (int) tooMuch)).isEqualTo(content);
          assertThat(in.size()).isEqualTo(size);
          assertThat(readAt(in, 0, size)).isEqualTo(content);
          assertThat(readAt(in, size, 10)).isNull();
          assertThatThrownBy(() -> in.readFullyAt(size - 5, new byte[10], 0, 10))
              .isInstanceOf(EOFException.class);
        }
        assertThat(s3e.client.gets()).hasSize(before + 1);
      }
      assertThat(s3e.client.heads()).isZero();
    }
  }

  @Test
  void theTotalCountsWhereTheRangeIsToldAsItWasAsked() throws Exception {
    byte[] content = copying.putBytes(BLOCK + 16);
    copying.client.faults(
        (request, number) ->
            Answer.GOOD.withHead(
                new ResponseHead(
                    206,
                    "bytes 0-" + (request.range().end() - 1) + "/" + content.length,
                    content.length,
                    ETAG,
                    null,
                    null)));
    try (S3EInputStream in = copying.open(RANDOM.withSize(2L * BLOCK))) {
      assertThat(readAt(in, 0, 2 * BLOCK)).isEqualTo(content);
    }
    assertThat(copying.client.gets()).hasSize(1);
  }

  @Test
  void aRetryOfAShorterAnswerAsksForNoMoreThanThereIs() throws Exception {
    byte[] content = copying.putBytes(2 * BLOCK + 100);
    copying.client.faults(
        (request, number) ->
            number == 0
                ? Answer.GOOD.failingAfter(BLOCK + 10, RequestFailure.Kind.NETWORK)
                : Answer.GOOD);
    try (S3EInputStream in = copying.open(RANDOM.withSize(4L * BLOCK))) {
      assertThat(readAt(in, 0, 4 * BLOCK)).isEqualTo(content);
    }
    GetRequest retry = copying.client.gets().get(1);
    assertThat(retry.range()).isEqualTo(new ByteRange(BLOCK + 10, content.length));
  }

  @Test
  void aSeekBetweenTheRealAndTheDeclaredEndReadsTheEnd() throws Exception {
    for (EngineFixture s3e : engines()) {
      s3e.putBytes(16);
      try (S3EInputStream in = s3e.open(OpenOptions.DEFAULTS.withSize(26))) {
        in.seek(20);
        assertThat(in.read()).isEqualTo(-1);
        assertThat(in.read(new byte[4])).isEqualTo(-1);
        assertThat(in.skip(5)).isZero();
        assertThat(in.available()).isZero();
        assertThat(in.size()).isEqualTo(16);
      }
    }
  }

  /** There is no offset at which the last block of such a grid would end. */
  @Test
  void aLengthNearTheLongestLongIsOneThatIsTooLong() throws Exception {
    for (EngineFixture s3e : engines()) {
      byte[] content = s3e.putBytes(16);
      for (OpenOptions options : List.of(RANDOM, OpenOptions.DEFAULTS)) {
        try (S3EInputStream in = s3e.open(options.withSize(Long.MAX_VALUE))) {
          assertThat(readAt(in, Long.MAX_VALUE - 50, 10)).isNull();
          assertThat(readAt(in, 0, 100)).isEqualTo(content);
          assertThat(in.size()).isEqualTo(16);
        }
      }
    }
  }

  @Test
  void readersThatMeetTheEndTogetherAllSeeIt() throws Exception {
    byte[] content = copying.putBytes(9 * BLOCK + 5);
    for (int round = 0; round < 20; round++) {
      try (S3EInputStream in = copying.open(RANDOM.withSize(60L * BLOCK))) {
        List<CompletableFuture<byte[]>> reads = new ArrayList<>();
        for (int at : new int[] {0, 8, 9, 10, 20, 40, 59}) {
          reads.add(
              CompletableFuture.supplyAsync(
                  () -> {
                    try {
                      return readAt(in, (long) at * BLOCK, 3 * BLOCK);
                    } catch (IOException e) {
                      throw new UncheckedIOException(e);
                    }
                  }));
        }
        assertThat(in.readAllBytes()).isEqualTo(content);
        assertThat(reads.get(0).get(20, TimeUnit.SECONDS))
            .isEqualTo(Arrays.copyOf(content, 3 * BLOCK));
        assertThat(reads.get(1).get(20, TimeUnit.SECONDS)).hasSize(BLOCK + 5);
        assertThat(reads.get(2).get(20, TimeUnit.SECONDS)).hasSize(5);
        for (CompletableFuture<byte[]> behind : reads.subList(3, reads.size())) {
          assertThat(behind.get(20, TimeUnit.SECONDS)).isNull();
        }
      }
    }
  }

  /** Says that the object ends where the body does, whatever the range. */
  private static Answer endingAfter(GetRequest request, int bytes, String etag) {
    long start = request.range().start();
    return Answer.GOOD
        .shortAfter(bytes)
        .withHead(
            new ResponseHead(
                206,
                "bytes " + start + "-" + (start + bytes - 1) + "/" + (start + bytes),
                bytes,
                etag,
                null,
                null));
  }

  @Test
  void anAnswerDoesNotShortenAnObjectWhoseSizeTheStoreHasTold() throws Exception {
    copying.put(20);
    copying.client.faults((request, number) -> endingAfter(request, 100, ETAG));
    for (OpenOptions options :
        List.of(RANDOM, RANDOM.withSize(20L * BLOCK).withVersion(ETAG, null))) {
      try (S3EInputStream in = copying.open(options)) {
        assertThatThrownBy(() -> readAt(in, 0, BLOCK)).hasStackTraceContaining("another size");
        assertThat(in.size()).isEqualTo(20L * BLOCK);
      }
    }
  }

  @Test
  void theFirstAnswersTotalHoldsForTheNext() throws Exception {
    byte[] content = copying.put(20);
    for (String etag : new String[] {ETAG, null}) {
      copying.client.faults(
          (request, number) ->
              Answer.GOOD.withHead(
                  new ResponseHead(
                      206,
                      "bytes "
                          + request.range().start()
                          + "-"
                          + (request.range().end() - 1)
                          + "/"
                          + content.length,
                      request.range().length(),
                      etag,
                      null,
                      null)));
      try (S3EInputStream in = copying.open(RANDOM.withSize(content.length))) {
        assertThat(readAt(in, 0, BLOCK)).isEqualTo(Arrays.copyOf(content, BLOCK));
        copying.client.faults((request, number) -> endingAfter(request, 100, etag));
        assertThatThrownBy(() -> readAt(in, 5L * BLOCK, BLOCK))
            .isInstanceOf(etag == null ? ObjectChangedException.class : IOException.class);
        assertThat(in.size()).isEqualTo(content.length);
      }
    }
  }

  @Test
  void aRefusedRangeInsideTheObjectIsNotItsEnd() throws Exception {
    byte[] content = copying.put(20);
    try (S3EInputStream in = copying.open(RANDOM.withSize(content.length))) {
      assertThat(readAt(in, 0, BLOCK)).isEqualTo(Arrays.copyOf(content, BLOCK));
      copying.client.faults(
          (request, number) -> Answer.GOOD.failingAfter(-1, RequestFailure.Kind.OUT_OF_RANGE));
      assertThatThrownBy(() -> readAt(in, 5L * BLOCK, BLOCK)).hasMessageContaining("inside");
    }
  }

  @Test
  void theSizeOfAnotherVersionIsNotTheEnd() throws Exception {
    copying.put(20);
    try (S3EInputStream in =
        copying.open(RANDOM.withSize(40L * BLOCK).withVersion("\"v0\"", null))) {
      copying.client.faults(
          (request, number) -> Answer.GOOD.failingAfter(-1, RequestFailure.Kind.OUT_OF_RANGE));
      assertThatThrownBy(() -> readAt(in, 30L * BLOCK, BLOCK)).isInstanceOf(IOException.class);
      assertThat(in.size()).isEqualTo(40L * BLOCK);
    }
  }

  @Test
  void aReadBehindTheEndAsksTheStoreOnce() throws Exception {
    byte[] content = copying.putBytes(16);
    try (S3EInputStream in = copying.open(RANDOM.withSize(10L * BLOCK))) {
      assertThat(readAt(in, 5L * BLOCK, 10)).isNull();
      assertThat(readAt(in, 7L * BLOCK, 10)).isNull();
      assertThat(readAt(in, 0, 100)).isEqualTo(content);
    }
    assertThat(copying.client.heads()).isEqualTo(1);
    assertThat(copying.client.gets()).hasSize(2);
  }

  @Test
  void aReadEndsShortAndNotInTheMiddleOfItsBytesWhenTheStreamIsClosed() throws Exception {
    byte[] content = copying.put(4);
    S3EInputStream[] opened = new S3EInputStream[1];
    boolean[] closes = {false};
    OpenOptions options =
        RANDOM.withListener(
            new StreamListener() {
              @Override
              public void onCount(Counter counter, long amount) {
                if (closes[0] && counter == Counter.MEMORY_HITS) {
                  opened[0].close();
                }
              }
            });
    try (S3EInputStream in = copying.open(options)) {
      opened[0] = in;
      assertThat(readAt(in, 0, content.length)).isEqualTo(content);
      closes[0] = true;
      byte[] target = new byte[content.length];
      int count = in.read(target, 0, target.length);
      assertThat(Arrays.copyOf(target, count)).isEqualTo(Arrays.copyOf(content, count));
      assertThat(in.position()).isEqualTo(count);
    }
  }

  /** A policy may allow to read objects, and not versions of them. */
  @Test
  void aVersionThatAHeadToldIsReadByItsEtagAlone() throws Exception {
    byte[] content = copying.putBytes(3 * BLOCK);
    ForwardingClient versioned =
        new ForwardingClient() {
          @Override
          public ObjectClient client() {
            return copying.client;
          }

          @Override
          public ObjectHead head(HeadRequest request) throws IOException {
            ObjectHead head = copying.client.head(request);
            return new ObjectHead(head.size(), head.etag(), "v7", null);
          }

          @Override
          public void close() {
            // The fixture's.
          }
        };
    S3EConfig config = S3EConfig.DEFAULTS.toBuilder().memoryBytes(64L * BLOCK).build();
    try (S3E s3e = S3E.create(config, new MemoryBudget(64L * BLOCK), memory -> versioned);
        S3EInputStream in = s3e.open(EngineFixture.OBJECT)) {
      assertThat(readAt(in, 0, content.length)).isEqualTo(content);
    }
    assertThat(copying.client.gets())
        .isNotEmpty()
        .allMatch(get -> get.versionId() == null && ETAG.equals(get.etag()));
  }
}
