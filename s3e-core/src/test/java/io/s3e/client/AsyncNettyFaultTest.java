package io.s3e.client;

import io.s3e.client.aws.AwsClientSettings;

/** The contract on faults over the SDK's asynchronous client with Netty. */
class AsyncNettyFaultTest extends ObjectClientFaultContract {
  @Override
  protected ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
    return UserClients.netty(settings, memory);
  }
}
