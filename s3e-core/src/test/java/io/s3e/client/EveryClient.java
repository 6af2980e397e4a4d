package io.s3e.client;

import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.client.aws.ClientKind;

/** The clients that tests go through: S3E's own, and SDK clients as users make them. */
enum EveryClient {
  CRT_BORROWED {
    @Override
    ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
      return AwsClients.provider(ClientKind.CRT, settings).create(memory);
    }
  },
  CRT_COPIED {
    @Override
    ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
      return AwsClients.crtWithoutLending(settings).create(memory);
    }
  },
  SDK_SYNC {
    @Override
    ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
      return AwsClients.provider(ClientKind.SDK_SYNC, settings).create(memory);
    }
  },
  SDK_ASYNC {
    @Override
    ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
      return AwsClients.provider(ClientKind.SDK_ASYNC, settings).create(memory);
    }
  },
  NETTY {
    @Override
    ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
      return UserClients.netty(settings, memory);
    }
  },
  URL_CONNECTION {
    @Override
    ObjectClient open(AwsClientSettings settings, ClientMemory memory) {
      return UserClients.urlConnection(settings, memory);
    }
  };

  abstract ObjectClient open(AwsClientSettings settings, ClientMemory memory);

  /** Whether it is S3E's own. */
  boolean isCrt() {
    return this == CRT_BORROWED || this == CRT_COPIED;
  }
}
