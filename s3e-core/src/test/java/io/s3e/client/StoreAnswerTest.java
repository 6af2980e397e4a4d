// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.client.ResponseHead.LengthSource;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A store's words, which messages, records of GETs and logs are made of. */
class StoreAnswerTest {
  private static final String LONG = "a long story ".repeat(80_000);

  @Test
  void wordsWithoutEndAreCut() {
    StoreAnswer answer =
        StoreAnswer.of(
            403,
            Map.of("x-amz-request-id", LONG, "x-amz-id-2", LONG),
            "<Error><Code>" + LONG + "</Code><Message>" + LONG + "</Message></Error>");
    RequestFailure failure = RequestFailure.refused("GET s3://bucket/key", answer, null);

    assertThat(failure.reason()).startsWith("403 a long story").hasSizeLessThan(5_000);
    assertThat(failure.getMessage()).contains("... (request id a long story").doesNotContain("\n");
    assertThat(answer.requestId()).hasSizeLessThan(1_100).endsWith("...");
    assertThat(answer.extendedRequestId()).hasSizeLessThan(1_100).endsWith("...");
    assertThat(answer.message()).hasSizeLessThan(1_100).endsWith("...");
  }

  @Test
  void theNameOfARequestThatWentWellIsCutToo() {
    ResponseHead head =
        new ResponseHead(206, null, 1, null, null, null, null, LengthSource.STORE, LONG);
    assertThat(head.requestId()).hasSizeLessThan(1_100).endsWith("...");
  }

  @Test
  void usualWordsAreToldOnOneLine() {
    String body =
        """
        <Error><Code>AccessDenied</Code><Message>Access
          Denied</Message><RequestId>7Y</RequestId><HostId>h+/=</HostId></Error>\
        """;
    StoreAnswer answer = StoreAnswer.of(403, Map.of(), body);
    assertThat(answer.words() + answer.ids())
        .isEqualTo("403 AccessDenied, Access Denied (request id 7Y, extended h+/=)");
  }
}
