// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import java.nio.file.FileSystemException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A directory must not hold the cache: others may have a hand in it, or it lacks space. */
final class RefusedDirectoryException extends FileSystemException {
  private static final long serialVersionUID = 1;

  RefusedDirectoryException(Path path, String found, String expected) {
    this(path, found, expected, null);
  }

  /** {@code found} is what it is, in words that follow "it". */
  RefusedDirectoryException(Path path, String found, String expected, @Nullable Exception cause) {
    super(
        path.toString(),
        null,
        "refused as a cache directory: it " + found + "; expected " + expected);
    Throwable unused = initCause(cause);
  }
}
