// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import java.nio.file.Path;

/** What the build tells the harness. */
public final class Harness {
  /** The module's directory. */
  public static final Path MODULE = Path.of(property("engines.directory"));

  /** The jar that a user puts on the class path. */
  public static final Path BUNDLE = Path.of(property("engines.bundle"));

  /** Where logs, jobs and the table of all rows go. */
  public static final Path OUTPUT = MODULE.resolve("target").resolve("engines");

  /** Whether figures are held to what a quiet machine shows. */
  static final boolean STRICT = Boolean.getBoolean("s3e.engines.strict");

  private Harness() {}

  public static String property(String name) {
    String value = System.getProperty(name);
    if (value == null) {
      throw new IllegalStateException(name + " is not set: these tests run in Maven");
    }
    return value;
  }
}
