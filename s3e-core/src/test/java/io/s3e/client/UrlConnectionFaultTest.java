// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import io.s3e.client.aws.AwsClientSettings;
import org.junit.jupiter.api.Tag;

/** The contract on faults over the SDK's synchronous client with the JDK's HTTP. */
@Tag("waits")
class UrlConnectionFaultTest extends ObjectClientFaultContract {
  @Override
  protected ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
    return UserClients.urlConnection(settings).create(memory);
  }

  /** The JDK sends a GET again when a connection that it reuses breaks. */
  @Override
  protected int requestsPerFailure() {
    return 2;
  }
}
