// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import org.junit.jupiter.api.Tag;

/** The contract on faults for one client. */
@Tag("waits")
class CrtCopiedFaultTest extends ObjectClientFaultContract {
  @Override
  protected ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
    return AwsClients.crtWithoutLending(settings).create(memory);
  }

  /** The CRT begins a second attempt before it can be stopped. */
  @Override
  protected int requestsPerFailure() {
    return 2;
  }
}
