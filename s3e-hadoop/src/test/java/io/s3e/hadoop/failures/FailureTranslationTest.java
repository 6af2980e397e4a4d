// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.failures;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.client.RequestFailure;
import io.s3e.hadoop.client.FailedRead;
import io.s3e.hadoop.client.FailureTranslation;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.Test;

/** What is told of a read that ends while its requests fail. */
class FailureTranslationTest {
  private static final FailedRead READ = new FailedRead("read", "s3a://bucket/key", 0, 10, 100);
  private static final RequestFailure REQUEST =
      new RequestFailure(
          RequestFailure.Kind.NETWORK, "GET s3://bucket/key", "it was cancelled", null);

  @Test
  void anInterruptIsNoFailureOfTheStore() {
    IOException interrupted =
        (IOException) new InterruptedIOException("interrupted while waiting").initCause(REQUEST);
    assertThat(FailureTranslation.translate(READ, interrupted)).isSameAs(interrupted);
  }

  @Test
  void aTimeOutIsToldAsTheStoresFailure() {
    IOException late = (IOException) new SocketTimeoutException("stalled").initCause(REQUEST);
    assertThat(FailureTranslation.translate(READ, late))
        .isNotSameAs(late)
        .hasMessageContaining("s3a://bucket/key")
        .hasMessageContaining("it was cancelled");
  }
}
