// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import org.junit.jupiter.api.Test;

/** The contract over the CRT with borrowed buffers. */
class CrtBorrowedObjectClientTest extends ObjectClientContract {
  @Override
  protected ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
    return AwsClients.crt(settings).create(memory);
  }

  @Test
  void lends() {
    try (ObjectClient client = open(settings().build(), MEMORY)) {
      assertThat(client.name()).isEqualTo("crt-borrowed");
      assertThat(client.limits().lends()).isTrue();
    }
  }
}
