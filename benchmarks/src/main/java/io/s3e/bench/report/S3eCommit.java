// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.report;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Which S3E is measured: its version, and the commit where it runs out of a working copy. */
final class S3eCommit {

  private static final long PATIENCE_SECONDS = 5;

  private S3eCommit() {}

  /** For example {@code 0.1.0-SNAPSHOT (4f0c1d2-dirty)}; null when nothing is known. */
  static @Nullable String find() {
    String version = S3eCommit.class.getPackage().getImplementationVersion();
    String commit = commit();
    if (commit == null) {
      return version;
    }
    return version == null ? commit : version + " (" + commit + ")";
  }

  private static @Nullable String commit() {
    CodeSource source = S3eCommit.class.getProtectionDomain().getCodeSource();
    if (source == null) {
      return null;
    }
    Path classes = Path.of(source.getLocation().getPath()).toAbsolutePath();
    Path directory = classes.getParent();
    return directory == null ? null : describe(directory);
  }

  /** The answer of git about a directory; null where there is no git, or no working copy. */
  private static @Nullable String describe(Path directory) {
    try {
      Process git =
          new ProcessBuilder("git", "-C", directory.toString(), "describe", "--always", "--dirty")
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      if (!git.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        git.destroyForcibly();
        return null;
      }
      String text = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
      return git.exitValue() == 0 && !text.isEmpty() ? text : null;
    } catch (IOException noGit) {
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }
}
