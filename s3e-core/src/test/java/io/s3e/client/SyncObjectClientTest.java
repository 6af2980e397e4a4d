// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import io.s3e.client.aws.AwsClientSettings;
import io.s3e.testing.Slow;

/** The contract over the SDK's synchronous client with Apache HttpClient. */
@Slow
class SyncObjectClientTest extends ObjectClientContract {
  @Override
  protected ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
    return UserClients.apache(settings).create(memory);
  }
}
