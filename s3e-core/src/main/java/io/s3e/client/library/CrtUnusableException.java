// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.library;

import org.jspecify.annotations.Nullable;

/** The AWS CRT is of no use in this JVM; the message says which one was found and what it lacks. */
public class CrtUnusableException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  public CrtUnusableException(String reason, @Nullable Throwable cause) {
    super("the AWS CRT cannot be used: " + reason, cause);
  }
}
