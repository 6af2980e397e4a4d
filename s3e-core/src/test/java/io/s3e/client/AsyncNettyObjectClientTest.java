package io.s3e.client;

import io.s3e.client.aws.AwsClientSettings;

/** The contract over the SDK's asynchronous client with Netty. */
class AsyncNettyObjectClientTest extends ObjectClientContract {
  @Override
  protected ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
    return UserClients.netty(settings, memory);
  }
}
