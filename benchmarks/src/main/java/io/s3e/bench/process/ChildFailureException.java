// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.process;

import java.io.IOException;

/** A child JVM refused a command, ended, or fell silent; the message says which and why. */
public final class ChildFailureException extends IOException {
  private static final long serialVersionUID = 1L;

  public ChildFailureException(String message) {
    super(message);
  }

  ChildFailureException(String message, Throwable cause) {
    super(message, cause);
  }
}
