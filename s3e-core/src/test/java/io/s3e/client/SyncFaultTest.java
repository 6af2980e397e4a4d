// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import io.s3e.client.aws.AwsClientSettings;
import org.junit.jupiter.api.Tag;

/** The contract on faults for one client. */
@Tag("waits")
class SyncFaultTest extends ObjectClientFaultContract {
  @Override
  protected ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
    return UserClients.apache(settings).create(memory);
  }
}
