// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import java.io.IOException;

/**
 * An answer has a Content-Encoding. That is either the object's own metadata, in which case its
 * bytes are what is stored, or something between here and the store has changed the body. Only a
 * HEAD can tell, and none has been asked yet.
 */
public final class EncodedBodyException extends IOException {
  private static final long serialVersionUID = 1L;

  public EncodedBodyException(String message) {
    super(message);
  }
}
