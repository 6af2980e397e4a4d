// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/** Another user of the host, who is neither root nor the user that runs the tests. */
public final class Stranger {
  private static final int UID = 65_534;

  private Stranger() {}

  /** Gives files to the stranger. Only root can: elsewhere the test is skipped, and says so. */
  public static void give(Path... paths) throws IOException {
    for (Path path : paths) {
      try {
        Files.setAttribute(path, "unix:uid", UID, LinkOption.NOFOLLOW_LINKS);
      } catch (FileSystemException e) {
        String reason = "skipped: only root can give " + path + " to another user";
        System.out.println(reason);
        assumeTrue(false, reason);
      }
    }
  }
}
