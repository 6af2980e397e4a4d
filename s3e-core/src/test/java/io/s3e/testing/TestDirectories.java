// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Directories of fuzz targets, which have nobody to clean up behind them: one for each name. */
public final class TestDirectories {
  private TestDirectories() {}

  /** An empty directory of this process's, the same for the same name. */
  public static Path empty(String name) throws IOException {
    Path directory =
        Path.of(System.getProperty("java.io.tmpdir"), name + "-" + ProcessHandle.current().pid())
            .toAbsolutePath();
    if (Files.exists(directory)) {
      try (Stream<Path> entries = Files.walk(directory)) {
        for (Path entry : entries.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(entry);
        }
      }
    }
    return Files.createDirectories(directory);
  }
}
