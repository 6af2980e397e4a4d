// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.given;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHead;
import io.s3e.testing.RecordingHandler;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class HandlerGateTest {
  private static final ResponseHead HEAD = new ResponseHead(206, null, 1, null, null, null);

  private final AtomicInteger endings = new AtomicInteger();

  @Test
  void theFirstEndCounts() throws Exception {
    RecordingHandler handler = new RecordingHandler();
    HandlerGate gate = new HandlerGate(handler, endings::incrementAndGet);
    gate.end(null);
    gate.end(failure());
    assertThat(handler.awaitEnd()).isNull();
    assertThat(gate.call(h -> h.onHead(HEAD))).isFalse();
    assertThat(handler.violations()).isEmpty();
    assertThat(endings).hasValue(1);
  }

  @Test
  void anEndDuringACallWaitsForIt() throws Exception {
    RecordingHandler handler = new RecordingHandler();
    HandlerGate gate = new HandlerGate(handler, endings::incrementAndGet);
    handler.duringHead(
        () -> {
          gate.end(failure());
          assertThat(handler.hasEnded()).isFalse();
        });
    assertThat(gate.call(h -> h.onHead(HEAD))).isFalse();
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
    HandlerGate gate = new HandlerGate(handler, endings::incrementAndGet);
    assertThatExceptionOfType(IOException.class).isThrownBy(() -> gate.call(h -> h.onHead(HEAD)));
    assertThat(handler.hasEnded()).isFalse();
    gate.end(failure());
    handler.awaitFailure();
  }

  @Test
  @Slow
  void callsAndEndsRaceWithoutBreakingPromises() throws Exception {
    CyclicBarrier together = new CyclicBarrier(3);
    for (int round = 0; round < 2000; round++) {
      RecordingHandler handler = new RecordingHandler();
      HandlerGate gate = new HandlerGate(handler, endings::incrementAndGet);
      Thread caller =
          new Thread(
              () -> {
                try {
                  together.await();
                  if (gate.call(h -> h.onHead(HEAD))) {
                    for (int i = 0; i < 3; i++) {
                      gate.call(h -> h.onData(ByteBuffer.wrap(new byte[1])));
                    }
                  }
                  gate.end(null);
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
                gate.end(failure());
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
