package io.s3e.client;

import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.client.aws.ClientKind;

/** The contract on faults for one client. */
class AsyncCrtFaultTest extends ObjectClientFaultContract {
  @Override
  protected ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
    return AwsClients.provider(ClientKind.SDK_ASYNC, settings).create(memory);
  }

  /** The SDK's wrapper of the CRT takes no less than one retry. */
  @Override
  protected int requestsPerFailure() {
    return 2;
  }

  /** An error of the CRT reaches us as a sentence only. */
  @Override
  protected boolean isOurOwn() {
    return false;
  }
}
