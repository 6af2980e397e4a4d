// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.contract;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractBondedFSContract;
import org.apache.hadoop.fs.s3a.S3AFileSystem;

/** S3A's promises to Hadoop's contract suites, by contract/s3e.xml. */
final class S3EContract extends AbstractBondedFSContract {
  S3EContract(Configuration conf) {
    super(conf);
    S3AFileSystem.initializeClass();
    addConfResource("contract/s3e.xml");
  }

  @Override
  public String getScheme() {
    return "s3a";
  }
}
