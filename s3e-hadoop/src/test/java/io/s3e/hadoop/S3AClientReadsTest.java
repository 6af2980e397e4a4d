// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import io.s3e.testing.Slow;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;

/** S3EFileSystem over S3A's own client. */
@Slow
class S3AClientReadsTest extends S3AReads {
  @Override
  Configuration configuration(URI endpoint) {
    Configuration conf = S3AServer.s3e(endpoint);
    conf.set("fs.s3a.s3e.client", "s3a");
    return conf;
  }
}
