// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.testing.Slow;

/** The contract over the CRT with byte arrays, as with versions of aws-crt before 0.50. */
@Slow
class CrtCopiedObjectClientTest extends ObjectClientContract {
  @Override
  protected ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
    return AwsClients.crtWithoutLending(settings).create(memory);
  }
}
