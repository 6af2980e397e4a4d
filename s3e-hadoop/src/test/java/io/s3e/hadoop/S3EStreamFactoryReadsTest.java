// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import io.s3e.testing.Slow;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Tag;

/** S3A's own file system with S3E's stream factory. */
@Tag("stream-spi")
@Slow
class S3EStreamFactoryReadsTest extends S3AReads {
  @Override
  Configuration configuration(URI endpoint) {
    return S3AServer.factoryAlone(endpoint);
  }

  @Override
  boolean opensByOpenFileOnTheCallersContext() {
    return false;
  }
}
