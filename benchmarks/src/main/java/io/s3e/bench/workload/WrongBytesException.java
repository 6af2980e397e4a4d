// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import java.io.IOException;

/** A file system returned bytes that the object does not hold. */
public final class WrongBytesException extends IOException {
  private static final long serialVersionUID = 1L;

  WrongBytesException(String message) {
    super(message);
  }
}
