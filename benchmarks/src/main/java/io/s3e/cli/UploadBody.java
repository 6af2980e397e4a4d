// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;

/**
 * The bytes of one request of an upload. Says how many were read, and fails once the upload has
 * ended, so that the request ends with it.
 */
final class UploadBody extends FilterInputStream {
  private final BooleanSupplier hasEnded;
  private final LongConsumer counts;

  UploadBody(InputStream in, BooleanSupplier hasEnded, LongConsumer counts) {
    super(in);
    this.hasEnded = hasEnded;
    this.counts = counts;
  }

  @Override
  public int read() throws IOException {
    requireUnderWay();
    int value = super.read();
    if (value >= 0) {
      counts.accept(1);
    }
    return value;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    requireUnderWay();
    int count = super.read(target, offset, length);
    if (count > 0) {
      counts.accept(count);
    }
    return count;
  }

  @Override
  public boolean markSupported() {
    return false;
  }

  private void requireUnderWay() throws InterruptedIOException {
    if (hasEnded.getAsBoolean()) {
      throw new InterruptedIOException("the upload has ended");
    }
  }
}
