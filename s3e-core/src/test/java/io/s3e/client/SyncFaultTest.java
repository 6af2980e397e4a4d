package io.s3e.client;

import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.client.aws.ClientKind;

/** The contract on faults for one client. */
class SyncFaultTest extends ObjectClientFaultContract {
  @Override
  protected ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
    return AwsClients.provider(ClientKind.SDK_SYNC, settings).create(memory);
  }
}
