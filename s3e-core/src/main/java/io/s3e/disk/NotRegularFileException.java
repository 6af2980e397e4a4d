package io.s3e.disk;

import java.nio.file.FileSystemException;
import java.nio.file.Path;

/** Where a file should be is a directory, a link, a pipe or a device. It was not opened. */
final class NotRegularFileException extends FileSystemException {
  private static final long serialVersionUID = 1;

  NotRegularFileException(Path file) {
    super(file.toString(), null, "not a regular file");
  }
}
