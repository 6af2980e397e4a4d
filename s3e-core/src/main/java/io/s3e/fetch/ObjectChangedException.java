// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The object is no longer the version that the stream was opened on. Never retried. */
public final class ObjectChangedException extends IOException {
  private static final long serialVersionUID = 1L;

  public ObjectChangedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
