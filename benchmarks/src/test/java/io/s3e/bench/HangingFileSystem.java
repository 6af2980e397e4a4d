// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import java.io.IOException;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.S3AFileSystem;

/** A bad peer: it never gets a file open, and does not listen to interrupts. */
public final class HangingFileSystem extends S3AFileSystem {

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    while (true) {
      LockSupport.park(this);
    }
  }
}
