// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.library;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class CrtLookTest {
  /** As at a directory for the native library that is on a dead file server. */
  @Test
  void aLookThatHangsIsGivenUp() {
    CountDownLatch dead = new CountDownLatch(1);
    CrtFinding found =
        CrtLibrary.within(
            50,
            () -> {
              try {
                dead.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              return CrtFinding.unusable("late", "late");
            });
    dead.countDown();
    assertThat(found.problem()).contains("not loaded within 50 ms");
    assertThat(found.clients()).isNull();
  }

  /** Whoever looks may be interrupted, and others still want what is found: it stays. */
  @Test
  void anInterruptDoesNotEndALook() {
    CrtFinding looked = CrtFinding.unusable("looked", "looked");
    Thread.currentThread().interrupt();
    assertThat(CrtLibrary.within(20_000, () -> looked)).isSameAs(looked);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void whereNoThreadStartsTheNextLooksAgain() {
    CrtFinding looked = CrtFinding.unusable("looked", "looked");
    AtomicInteger looks = new AtomicInteger();
    CrtLibrary.Look look =
        new CrtLibrary.Look(
            () -> {
              if (looks.incrementAndGet() == 1) {
                throw new OutOfMemoryError("unable to create native thread");
              }
              return looked;
            });
    CrtFinding none = look.found();
    assertThat(none.problem()).contains("unable to create native thread");
    assertThat(none.clients()).isNull();
    assertThat(look.found()).isSameAs(looked);
    assertThat(look.found()).isSameAs(looked);
    assertThat(looks).hasValue(2);
  }
}
