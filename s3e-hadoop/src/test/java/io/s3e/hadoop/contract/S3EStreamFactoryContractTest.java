// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.contract;

import io.s3e.hadoop.S3AServer;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Tag;

/** Hadoop's contract of S3A's own file system with S3E's stream factory. */
@Tag("stream-spi")
class S3EStreamFactoryContractTest extends ContractSuites {
  @Override
  Configuration configuration() {
    return S3AServer.factoryAlone(S3AServer.endpoint());
  }
}
