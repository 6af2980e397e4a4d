package io.s3e.fetch;

import java.io.IOException;

/**
 * An answer has a Content-Encoding. That is either the object's own metadata, in which case its
 * bytes are what is stored, or something between here and the store has changed the body. Only a
 * HEAD can tell.
 */
public final class EncodedBodyException extends IOException {
  private static final long serialVersionUID = 1L;
  private final String encoding;

  public EncodedBodyException(String message, String encoding) {
    super(message);
    this.encoding = encoding;
  }

  /** The Content-Encoding as the answer has it. */
  public String encoding() {
    return encoding;
  }
}
