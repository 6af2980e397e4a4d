// SPDX-License-Identifier: Apache-2.0
package io.s3e.version;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/**
 * S3E's version, for log lines, the user agent and the command line. The build writes it into a
 * file beside this class, so that it is known in the jars, in the bundle and in a directory of
 * classes alike.
 */
public final class Version {
  private static final String TEXT = read();

  private Version() {}

  /** For example {@code 0.1.0}. */
  public static String text() {
    return TEXT;
  }

  private static String read() {
    try (InputStream in = Version.class.getResourceAsStream("version.properties")) {
      Properties properties = new Properties();
      if (in != null) {
        properties.load(in);
      }
      return properties.getProperty("version", "unknown");
    } catch (IOException e) {
      // No reason not to read S3.
      return "unknown";
    }
  }
}
