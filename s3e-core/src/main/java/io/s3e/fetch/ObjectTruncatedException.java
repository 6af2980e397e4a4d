package io.s3e.fetch;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The object is shorter than its opener said. Only where the size came from the opener; the stream
 * then ends at the real size.
 */
public final class ObjectTruncatedException extends IOException {
  private static final long serialVersionUID = 1L;
  private final long actualSize;

  /**
   * @param actualSize the object's length in bytes, or -1 if the store did not say
   */
  public ObjectTruncatedException(String message, long actualSize, @Nullable Throwable cause) {
    super(message, cause);
    this.actualSize = actualSize;
  }

  /** The object's length in bytes, or -1 if the store did not say. */
  public long actualSize() {
    return actualSize;
  }
}
