// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class FenceTest {
  private final Fence fence = new Fence();
  private final AtomicInteger followed = new AtomicInteger();

  @Test
  void oneCallIsInsideAtATime() {
    assertThat(fence.enter()).isTrue();
    assertThat(fence.enter()).as("another call, against the contract").isFalse();
    fence.exit();
    assertThat(fence.enter()).isTrue();
    fence.exit();
    assertThat(fence.isClosed()).isFalse();
  }

  @Test
  void closingAnIdleFenceIsFollowedAtOnce() {
    assertThat(fence.close(followed::incrementAndGet)).isTrue();
    assertThat(followed).hasValue(1);
    assertThat(fence.isClosed()).isTrue();
    assertThat(fence.enter()).as("a late call").isFalse();
  }

  @Test
  void theCallInsideEndsAFenceThatWasClosedMeanwhile() {
    assertThat(fence.enter()).isTrue();
    assertThat(fence.close(followed::incrementAndGet)).isTrue();
    assertThat(fence.isClosed()).isTrue();
    assertThat(fence.enter()).isFalse();
    assertThat(followed).as("the call is still inside").hasValue(0);
    fence.exit();
    assertThat(followed).hasValue(1);
    assertThat(fence.enter()).isFalse();
  }

  @Test
  void theFirstToCloseCounts() {
    assertThat(fence.enter()).isTrue();
    assertThat(fence.close(followed::incrementAndGet)).isTrue();
    assertThat(fence.close(() -> followed.addAndGet(10))).isFalse();
    fence.exit();
    assertThat(fence.close(() -> followed.addAndGet(100))).isFalse();
    assertThat(followed).hasValue(1);
  }

  @Test
  void whatFollowsFindsTheFenceClosed() {
    assertThat(fence.enter()).isTrue();
    fence.close(
        () -> {
          assertThat(fence.isClosed()).isTrue();
          assertThat(fence.enter()).isFalse();
          assertThat(fence.close(() -> followed.addAndGet(10))).isFalse();
          followed.incrementAndGet();
        });
    fence.exit();
    assertThat(followed).hasValue(1);
  }

  @Test
  void toLeaveWithoutHavingEnteredIsAnError() {
    assertThatIllegalStateException().isThrownBy(fence::exit).withMessageContaining("IDLE");
    fence.close(followed::incrementAndGet);
    assertThatIllegalStateException().isThrownBy(fence::exit).withMessageContaining("CLOSED");
    assertThat(followed).hasValue(1);
  }
}
