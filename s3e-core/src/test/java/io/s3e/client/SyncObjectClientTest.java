package io.s3e.client;

import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.client.aws.ClientKind;

/** The contract over the SDK's synchronous client with Apache HttpClient. */
class SyncObjectClientTest extends ObjectClientContract {
  @Override
  protected ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
    return AwsClients.provider(ClientKind.SDK_SYNC, settings).create(memory);
  }
}
