// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.given;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHead;
import io.s3e.testing.RecordingHandler;
import io.s3e.testing.Slow;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

class SyncExchangeTest {
  private static final GetRequest REQUEST =
      new GetRequest(
          new ObjectRef("bucket", "key"), new ByteRange(0, 3), null, null, false, Map.of(), null);

  private static final ResponseHead HEAD = new ResponseHead(206, null, 1, null, null, null);

  /** Answers with three bytes, one at a time. */
  private static final BlockingStore STORE =
      new BlockingStore() {
        @Override
        public ResponseInputStream<GetObjectResponse> get(GetRequest request) {
          GetObjectResponse head =
              (GetObjectResponse)
                  GetObjectResponse.builder()
                      .contentLength(3L)
                      .contentRange("bytes 0-2/3")
                      .eTag("\"v1\"")
                      .sdkHttpResponse(SdkHttpResponse.builder().statusCode(206).build())
                      .build();
          InputStream body =
              new ByteArrayInputStream(new byte[3]) {
                @Override
                public synchronized int read(byte[] target, int offset, int length) {
                  return super.read(target, offset, 1);
                }
              };
          return new ResponseInputStream<>(head, AbortableInputStream.create(body, () -> {}));
        }

        @Override
        public ObjectHead head(HeadRequest request) {
          throw new UnsupportedOperationException();
        }
      };

  private final AtomicInteger endings = new AtomicInteger();

  private SyncExchange exchange(RecordingHandler handler) {
    return new SyncExchange(STORE, REQUEST, handler, it -> endings.incrementAndGet());
  }

  @Test
  void theFirstEndCounts() throws Exception {
    RecordingHandler handler = new RecordingHandler();
    SyncExchange exchange = exchange(handler);
    exchange.end(null);
    exchange.end(failure());
    assertThat(handler.awaitEnd()).isNull();
    assertThat(exchange.call(h -> h.onHead(HEAD))).isFalse();
    assertThat(handler.violations()).isEmpty();
    assertThat(endings).hasValue(1);
  }

  @Test
  void anEndDuringACallWaitsForIt() throws Exception {
    RecordingHandler handler = new RecordingHandler();
    SyncExchange exchange = exchange(handler);
    handler.duringHead(
        () -> {
          exchange.end(failure());
          assertThat(handler.hasEnded()).isFalse();
        });
    assertThat(exchange.call(h -> h.onHead(HEAD))).isFalse();
    assertThat(handler.awaitFailure().kind()).isEqualTo(Kind.CANCELLED);
  }

  @Test
  void whatTheHandlerThrowsComesBack() throws Exception {
    RecordingHandler handler =
        new RecordingHandler()
            .duringHead(
                () -> {
                  throw new IOException("no");
                });
    SyncExchange exchange = exchange(handler);
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> exchange.call(h -> h.onHead(HEAD)));
    assertThat(handler.hasEnded()).isFalse();
    exchange.end(failure());
    handler.awaitFailure();
  }

  @Test
  @Slow
  void callsAndEndsRaceWithoutBreakingPromises() throws Exception {
    CyclicBarrier together = new CyclicBarrier(3);
    for (int round = 0; round < 2000; round++) {
      RecordingHandler handler = new RecordingHandler();
      SyncExchange exchange = exchange(handler);
      Thread caller =
          new Thread(
              () -> {
                try {
                  together.await();
                  exchange.run();
                } catch (Exception e) {
                  throw new AssertionError(e);
                }
              });
      Thread canceller =
          new Thread(
              () -> {
                try {
                  together.await();
                } catch (Exception e) {
                  throw new AssertionError(e);
                }
                exchange.end(failure());
              });
      caller.start();
      canceller.start();
      together.await();
      caller.join();
      canceller.join();
      handler.awaitEnd();
      assertThat(handler.violations()).isEmpty();
    }
    assertThat(endings).hasValue(2000);
  }

  private static RequestFailure failure() {
    return new RequestFailure(Kind.CANCELLED, "GET", "cancelled", null);
  }
}
