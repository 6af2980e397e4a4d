package io.s3e.disk;

import java.io.IOException;
import java.nio.file.Path;

/**
 * What stands where a disk block should is not, or not certainly, that block. Nothing of it was
 * served; it was deleted if it could be.
 */
final class InvalidBlockException extends IOException {
  private static final long serialVersionUID = 1;

  private final String reason;

  InvalidBlockException(Path file, String reason) {
    super(file + ": " + reason);
    this.reason = reason;
  }

  /** What is wrong with it, without its path. */
  String reason() {
    return reason;
  }
}
