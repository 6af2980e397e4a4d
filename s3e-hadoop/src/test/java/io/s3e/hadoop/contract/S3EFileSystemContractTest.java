// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.contract;

import io.s3e.hadoop.S3AServer;
import org.apache.hadoop.conf.Configuration;

/** Hadoop's contract of {@code fs.s3a.impl=io.s3e.hadoop.S3EFileSystem}. */
class S3EFileSystemContractTest extends ContractSuites {
  @Override
  Configuration configuration() {
    return S3AServer.s3e(S3AServer.endpoint());
  }
}
