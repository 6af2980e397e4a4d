// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A range lies behind the end of the object, which is shorter than its opener said. */
public final class ObjectTruncatedException extends IOException {
  private static final long serialVersionUID = 1L;

  public ObjectTruncatedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
