// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import java.io.InterruptedIOException;

/** The work that a read was for has been given up; the message is its own word for it. */
public final class ReadCancelledException extends InterruptedIOException {
  private static final long serialVersionUID = 1;

  ReadCancelledException(String message) {
    super(message);
  }
}
