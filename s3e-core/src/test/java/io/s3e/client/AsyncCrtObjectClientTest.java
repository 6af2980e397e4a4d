package io.s3e.client;

import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.client.aws.ClientKind;

/** The contract over the SDK's asynchronous client on top of the CRT. */
class AsyncCrtObjectClientTest extends ObjectClientContract {
  @Override
  protected ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
    return AwsClients.provider(ClientKind.SDK_ASYNC, settings).create(memory);
  }
}
