// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Parts of an upload that has failed may stay in the store, and cost. */
final class UnabortedUploadException extends IOException {
  private static final long serialVersionUID = 1L;

  UnabortedUploadException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
