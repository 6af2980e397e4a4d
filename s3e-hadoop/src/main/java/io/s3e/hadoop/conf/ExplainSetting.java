// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of GETs.
 *
 * @param level of which GETs
 * @param directory the place of their files, absolute; null where there are none
 */
public record ExplainSetting(Level level, @Nullable Path directory) {
  /** Of which GETs something is kept. */
  public enum Level {
    /** None. */
    OFF,
    /** The latest, in memory. */
    RECENT,
    /** The latest in memory, and each in a line of a file. */
    ALL,
    /** The latest in memory, and each as a span of OpenTelemetry. */
    SPANS
  }

  /** Temporary files of this JVM, which are a container's own where there is one. */
  private static final Path USUAL_DIRECTORY =
      Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath();

  /** A level, or the directory that all are written to. */
  static ExplainSetting parse(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "off" -> new ExplainSetting(Level.OFF, null);
      case "recent" -> new ExplainSetting(Level.RECENT, null);
      case "all" -> new ExplainSetting(Level.ALL, USUAL_DIRECTORY);
      case "spans" -> new ExplainSetting(Level.SPANS, null);
      default -> new ExplainSetting(Level.ALL, Path.of(text));
    };
  }

  boolean isPossible() {
    return directory == null || directory.isAbsolute();
  }
}
