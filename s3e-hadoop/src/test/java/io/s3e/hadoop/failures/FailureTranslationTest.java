// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.failures;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.client.RequestFailure;
import io.s3e.client.StoreAnswer;
import io.s3e.fetch.ObjectChangedException;
import io.s3e.hadoop.client.FailedRead;
import io.s3e.hadoop.client.FailureTranslation;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.s3a.AWSClientIOException;
import org.apache.hadoop.fs.s3a.RemoteFileChangedException;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.s3.model.S3Exception;

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

  private static IOException told(IOException failure) {
    return FailureTranslation.translate(READ, failure);
  }

  private static RequestFailure outOfRange() {
    StoreAnswer answer = new StoreAnswer(416, "InvalidRange", "no such range", Map.of(), null);
    return RequestFailure.refused("GET s3://bucket/key", answer, null);
  }

  /** Applications take such an exception for the end of the file, and S3A's table has it. */
  @Test
  void noFailureOfTheStoreIsAnEndOfTheFile() {
    assertThat(told(new IOException("a range inside the object", outOfRange())))
        .isExactlyInstanceOf(IOException.class)
        .hasCauseInstanceOf(S3Exception.class)
        .hasMessageContaining("no such range")
        .hasMessageContaining("s3a://bucket/key");
    EOFException ended = new EOFException("the vault hung up");
    SdkClientException provider =
        SdkClientException.builder().message("no credentials").cause(ended).build();
    assertThat(FailureTranslation.translate("read", "s3a://bucket", provider))
        .isInstanceOf(SocketException.class)
        .hasMessageContaining("s3a://bucket")
        .hasCause(provider);
  }

  /** As of a client that could not be made, with or without an exception of the SDK. */
  @Test
  void whatFailsWithoutARequestNamesTheRead() {
    SdkClientException provider = SdkClientException.builder().message("the vault").build();
    for (IOException failure :
        List.of(
            new IOException("no client", provider),
            new IOException("no client"),
            new SocketTimeoutException("no client"))) {
      assertThat(told(failure))
          .hasMessage(READ + ": no client")
          .satisfies(e -> assertThat(e).hasStackTraceContaining(failure.toString()));
    }
    assertThat(told(new IOException("no client", provider)))
        .isInstanceOf(AWSClientIOException.class);
    assertThat(told(new SocketTimeoutException("no client")))
        .isInstanceOf(SocketTimeoutException.class);
    EOFException end = new EOFException("the end");
    assertThat(told(end)).isSameAs(end);
  }

  /** As where the opener alone has told the length, so that a 416 makes the store be asked. */
  @Test
  void aChangeIsToldAlsoWhereTheStoreHasRefusedTheRange() {
    assertThat(told(new ObjectChangedException("it now has ETag \"2\"", outOfRange())))
        .isInstanceOf(RemoteFileChangedException.class)
        .hasMessageContaining("it now has ETag \"2\"");
  }
}
