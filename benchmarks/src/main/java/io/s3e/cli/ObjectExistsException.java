// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import java.io.IOException;

/** An upload would have replaced an object. */
final class ObjectExistsException extends IOException {
  private static final long serialVersionUID = 1L;

  ObjectExistsException() {
    super("exists; --force replaces it");
  }
}
