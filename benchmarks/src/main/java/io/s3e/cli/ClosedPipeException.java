// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import java.io.IOException;

/** The reader of standard output has closed it. */
final class ClosedPipeException extends IOException {
  private static final long serialVersionUID = 1L;

  ClosedPipeException(IOException cause) {
    super("Standard output is closed", cause);
  }

  /** Whether a failure comes of that. */
  static boolean isBehind(Throwable failure) {
    return failure instanceof ClosedPipeException
        || (failure instanceof TransferException
            && failure.getCause() instanceof ClosedPipeException);
  }
}
