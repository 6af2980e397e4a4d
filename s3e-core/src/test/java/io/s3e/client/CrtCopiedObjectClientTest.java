package io.s3e.client;

import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;

/** The contract over the CRT with byte arrays, as with versions of aws-crt before 0.50. */
class CrtCopiedObjectClientTest extends ObjectClientContract {
  @Override
  protected ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
    return AwsClients.crtWithoutLending(settings).create(memory);
  }
}
