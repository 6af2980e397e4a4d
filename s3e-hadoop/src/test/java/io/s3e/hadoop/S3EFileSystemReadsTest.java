// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import java.net.URI;
import org.apache.hadoop.conf.Configuration;

/** {@code fs.s3a.impl} alone: the client that S3E chooses. */
class S3EFileSystemReadsTest extends S3AReads {
  @Override
  Configuration configuration(URI endpoint) {
    return S3AServer.s3e(endpoint);
  }
}
